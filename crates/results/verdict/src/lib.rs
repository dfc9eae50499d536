//! What several Runs say together, and how sure one may be of it.
//!
//! * [`comparison`]: what a comparison of measurements concludes
//! * [`nested`]: runs that are nested in boots: how often something fails, and how much of it is decided at boot
//! * [`exact`]: from counted figures to a comparison
//! * [`timed`]: from timed figures to a comparison, and how many boots it takes
//! * [`recorded`]: from the runs of an experiment to a comparison
//! * [`noise`]: what comparisons of a kernel with itself say about this machine
//! * [`disturbance`]: which conditions of the host make a sample doubtful
//! * [`statistics`]: what they stand on
//! * [`why`](mod@why): the functions that make a difference
//! * [`bisection`]: which change it was, under doubt
//! * [`trend`]: a figure over the history of kernels
//! * [`problem`]: whether later kernels still have a problem
//! * [`flaky`]: whether a case fails each time, now and then, or never

pub mod bisection;
pub mod comparison;
pub mod disturbance;
pub mod exact;
pub mod flaky;
mod matching;
pub mod nested;
pub mod noise;
pub mod problem;
pub mod recorded;
pub mod statistics;
pub mod timed;
pub mod trend;
pub mod why;

pub use comparison::{
    Against, Change, Comparison, Ended, Ground, Missing, Noise, Row, Runs, Side, Steadiness, Totals, Verdict,
    Why,
};
pub use disturbance::disturbed;
pub use exact::compare_exact;
pub use flaky::Consistency;
pub use nested::{Alarms, BootRuns, Estimate, Nested, Price};
pub use recorded::compare_recorded;
pub use timed::{Design, Sequential, compare_timed};
pub use why::{explain, why};
