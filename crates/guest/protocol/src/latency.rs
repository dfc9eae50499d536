//! How late the kernel wakes a thread: what the instrument `latency` is asked, and what it reports.
//!
//! A thread sleeps until a deadline, and reads the clock as soon as it runs again. What the clock shows beyond the
//! deadline is the latency of this cycle, as `cyclictest(8)` measures it. All times are in nanoseconds unless their
//! name says otherwise.
//!
//! * [`LatencyRequest`]: what is measured, and how
//! * [`LatencyReport`]: what each thread measured, and under which conditions; [`LatencyReport::validate`] bounds what
//!   a guest sends
//! * [`Latencies`]: exact moments and a histogram; all statistics are derived from them
//! * [`Condition`]: which of them would accuse the kernel
//! * [`Power`]: what the machine takes meanwhile
//! * [`class`](mod@class): the classes of the histogram

pub mod class;
mod condition;
mod latencies;
mod power;
mod report;
mod request;

pub use condition::{Condition, Statistic};
pub use latencies::{Latencies, PERCENTILES};
pub use power::{Power, PowerSource, Watts};
pub use report::{
    Breach, Conditions, Grant, LatencyReport, Maxima, SLOTS_MAX, TRACE_LINES_MAX, ThreadReport, Usage,
    WrongReport,
};
pub use request::{
    CPUS_MAX, Clock, DURATION_MAX_MS, INTERVAL_MAX_NS, INTERVAL_MIN_NS, LatencyRequest, Method,
    POLL_INTERVAL_MAX_NS, Policy, WrongRequest,
};

/// Bytes of a text at most: a line of a trace, or a reason.
pub const TEXT_MAX: usize = 320;
