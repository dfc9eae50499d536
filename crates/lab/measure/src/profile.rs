//! What a kernel executed, function by function: from what QEMU's plugin wrote and the kernel's own table of symbols.
//!
//! * [`symbols`]: the kernel's functions and their addresses
//! * [`file`](mod@file): blocks and jobs as the plugin wrote them
//! * [`job`]: which repetition of a job stands for it
//! * [`symbolized`]: blocks by their functions; [`detail`]: what the functions of that one cost, and who called them
//! * [`events`](mod@events): what else is counted, by calls of functions; [`counted`]: where nothing else is counted
//! * `code`: the code of the functions

mod code;
pub mod counted;
mod detail;
pub mod events;
pub mod file;
pub mod job;
pub mod symbolized;
pub mod symbols;

pub use events::{EVENTS, Event};
pub use file::{BadProfile, Profile};
pub use job::{Executed, Job, Tally, Variant};
pub use symbolized::Symbolized;
pub use symbols::Symbols;

/// What lies behind a figure; each of these takes longer than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profiling {
    /// [`EVENTS`].
    Events,
    /// The same, and what functions of the kernel execute.
    Functions,
    /// The same, by the calls that led to them.
    Stacks,
}
