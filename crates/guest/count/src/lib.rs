//! The instrument that counts how often events of the kernel and the CPU happen: perf_event_open(2).
//!
//! * [`count`]: from a request to its report
//! * [`counter`]: an event, as the kernel counts it
//! * [`processes`]: what each of them had
//! * [`estimate`]: how wrong a count may be that was made for a part of the time

mod counter;
mod estimate;
mod processes;
mod session;

pub use session::count;
