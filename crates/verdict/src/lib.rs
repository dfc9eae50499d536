//! What several Runs say together, and how sure one may be of it.
//!
//! * [`rate`]: how often something fails, with its interval
//! * [`flaky`]: whether a case fails each time, now and then, or never

pub mod flaky;
pub mod rate;

pub use flaky::Consistency;
pub use rate::{Interval, Rate};
