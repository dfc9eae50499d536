//! What a kernel recorded becomes a trace in the Common Trace Format, page by page, as it comes.
//!
//! * [`plan`]: a kernel's format of an event becomes a class, and its records events of that class
//! * [`transcoder`]: pages of the ring buffers become streams

mod plan;
mod transcoder;

pub use transcoder::{Counts, Transcoder};
