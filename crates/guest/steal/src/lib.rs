//! The instrument that measures how much of a CPU a workload really gets.
//!
//! * [`measure`]: from a request to its report
//! * [`session`]: passes and set-ups in their order; [`affinity`]: who runs where
//! * [`probe`]: a victim that knows what it should have done; [`calibration`]: how much that is, its [`speed`]; [`gaps`]: when it did not run
//! * [`command`]: any program as the victim
//! * [`accounting`]: what the kernel says of the victim and its CPU; [`threads`]: who else ran there
//! * [`conditions`]: what the figures depend on
//! * [`load`](mod@load): what steals
//! * [`trace`]: which interrupts, softirqs and threads took the time

mod accounting;
mod affinity;
mod calibration;
mod command;
mod conditions;
mod gaps;
mod load;
mod probe;
mod session;
mod speed;
mod threads;
mod trace;

pub use session::measure;
