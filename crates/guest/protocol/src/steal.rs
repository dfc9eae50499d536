//! The instrument `steal`: how much of a CPU a workload really gets, and what takes the rest.
//!
//! The kernel handles interrupts and softirqs in the context of the task that happens to run, and most kernels charge that
//! task for it. So neither the user and system time of a task nor `top` tells what it got.
//!
//! * [`StealRequest`]: the victim, the CPU, a load beside it
//! * [`Load`] and [`Setup`]: what steals, and how the machine is set up for it
//! * [`StealReport`]: what was measured without tracing, figure by figure
//! * [`Trace`]: what a second pass with tracing saw
//! * [`Accounting`]: how the kernel accounts for CPU time

mod accounting;
mod load;
mod report;
mod request;
mod setup;
mod thread_time;
mod trace;

pub use accounting::Accounting;
pub use load::{LOADS, Load, WrongLoad};
pub use report::{
    AGREEMENT, Budget, CLASSES, Calibration, Conditions, CpuTimes, Gaps, Pass, Side, StealReport, TEXT_MAX,
    Traced, Usage, Verdict, Work, WrongReport,
};
pub use request::{
    CPUS_MAX, DURATION_MAX_MS, DURATION_MIN_MS, PAIRS_MAX, PAIRS_MIN, StealRequest, WrongRequest,
};
pub use setup::{Setup, Xdp};
pub use thread_time::{THREADS_MAX, ThreadTime};
pub use trace::{CAUSES_MAX, Cause, Polls, Trace};
