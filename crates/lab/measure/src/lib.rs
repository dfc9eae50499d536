//! What operations cost on a Kernel: exact and timed figures, profiles.
//!
//! * [`measurement`]: the figures of one Kernel, from several boots
//! * [`procedure`](mod@procedure): what makes figures comparable
//! * [`Job`]: what is measured
//! * [`count`](mod@count): counts instructions on several boots of several Kernels; `exact` on one; `context`: what all boots have
//!   in common; `table`: the symbols of a Kernel
//! * [`record`](mod@record): records what a kernel does on one boot, the same each time; [`recording`]: what exactly
//! * [`time`](mod@time): times them on one boot after the other
//! * `take`: what one machine says; [`samples`]: what single repetitions cost; `figures`: from those to figures; `gathered`: from all boots to a measurement;
//!   [`quantile`]: medians and other quantiles
//! * [`profile`]: what exactly was executed, function by function; `watched` asks for it; [`code`]: whether the functions
//!   of two Kernels are the same
//! * [`event`]: what is told meanwhile

pub mod code;
mod context;
pub mod count;
mod error;
pub mod event;
mod exact;
mod figures;
mod gathered;
mod job;
pub mod measurement;
mod procedure;
pub mod profile;
pub mod quantile;
pub mod record;
pub mod recording;
pub mod samples;
mod table;
mod take;
pub mod time;
mod watched;

pub use code::Code;
pub use count::{Candidate, Counting, count};
pub use error::Failure;
pub use event::Progress;
pub use job::Job;
pub use measurement::{
    BOOT, Boot, Detail, Function, Kind, Measurement, Metric, NotMeasured, OwnUnit, Ran, Subject, Unit,
};
pub use procedure::procedure;
pub use profile::Profiling;
pub use record::{Recorded, record};
pub use samples::{BootSamples, Value};
pub use time::time;
