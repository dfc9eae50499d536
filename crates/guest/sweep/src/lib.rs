//! The instrument that measures latencies under many settings.
//!
//! * [`run`]: from a request to a report
//! * [`cpufreq`]: the governors of CPU frequencies; [`restore`]: what puts them back, whatever happens
//! * [`order`]: which combination comes when

mod cpufreq;
mod order;
mod restore;
mod session;

pub use session::run;
