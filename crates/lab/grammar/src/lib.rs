//! What is repeated in a sequence, found in one way through it.
//!
//! * [`Grammar`]: the sequence as rules, each of which is used more than once
//! * [`repeats`](repeats()): the rules that say the most about the sequence, without the same part twice
//! * [`occurrences`]: how often a part is there

mod repeats;
mod sequitur;

pub use repeats::{LENGTH_MAX, Repeat, least_rotation, occurrences, repeats};
pub use sequitur::{Grammar, Symbol};
