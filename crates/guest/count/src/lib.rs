//! The instrument that counts how often events of the kernel and the CPU happen: perf_event_open(2).
//!
//! * [`count`]: from a request to its report
//! * [`counter`]: an event, as the kernel counts it
//! * [`tasks`]: what each of them had, as the kernel reports it ([`reported`]) or from the counters of CPUs ([`switches`])
//! * [`estimate`]: how wrong a count may be that was made for a part of the time

mod counter;
mod estimate;
mod reported;
mod session;
mod switches;
mod tasks;

pub use session::count;
