//! The search of a bisection: which candidate is it, how sure is that, and what is to be tested next.
//!
//! An intermittent failure misleads plain halving: one run that did not show it sends the search to the wrong half for
//! good. Here each candidate keeps a probability, the rate at which the failure shows is learnt on the way, and the next
//! test is the one that tells most of the culprit for what it costs. It does no I/O and knows no machine.
//!
//! The model and what it was seen to do: `docs/statistics.md`.

mod belief;
mod choice;
mod evidence;
mod order;
mod posterior;
mod search;
mod settings;
mod share;
mod sums;
mod testable;
mod trial;

pub use belief::Belief;
pub use order::{Order, State, Unusable};
pub use search::{Search, Standing};
pub use settings::Settings;
pub use trial::{Boot, Trial};
