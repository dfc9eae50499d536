//! The instrument `stress`: what it is asked for, what it reports, and which stressors it has.
//!
//! * [`request`]: stressors, their workers and options, limits
//! * [`report`]: what each worker did and how it ended
//! * [`catalogue`]: what each stressor is
//! * [`coverage`]: which code of the kernel was reached
//! * [`domain`]: which values an option takes

pub mod catalogue;
pub mod coverage;
pub mod domain;
pub mod report;
pub mod request;

pub use catalogue::{Catalogue, Class, RateName, Stressor, StressorOption};
pub use coverage::Coverage;
pub use domain::Domain;
pub use report::{InstanceReport, Rate, StressReport, ThermalZone, WorkerReport};
pub use request::{Extreme, Instance, Mode, Scheduler, StressRequest};
