//! What a trace says.
//!
//! * [`mod@walk`]: its events in their order, with the names of their threads
//! * [`filter`]: which of them are of interest; [`parse`]: from text to a filter
//! * [`threads`]: what threads are called
//! * [`statistics`]: how many there are of each, how long threads run and system calls take; [`spread`]: of such times

pub mod filter;
mod parse;
pub mod spread;
pub mod statistics;
mod threads;
pub mod walk;

pub use filter::Filter;
pub use parse::WrongFilter;
pub use spread::Spread;
pub use statistics::Statistics;
pub use walk::{Seen, walk};
