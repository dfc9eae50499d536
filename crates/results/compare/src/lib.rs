//! From a request to figures, and what they conclude.
//!
//! * [`request`]: what is asked; [`words`]: the call of kiln that asks the same
//! * [`measuring`]: what a Kernel costs; [`calibrating`]: how precise that is if it is timed
//! * [`comparing`]: Kernels beside each other; [`conclusion`]: what that comes to
//! * `earlier`: figures that were measured earlier; `in_boots`: in how many boots instructions are counted
//! * `turns`: which Kernel is booted next, where each boot is a sample; `experiments`: what an experiment records in it
//! * [`trends`]: figures that were kept, over the history of kernels; [`branch`]: or of commits
//! * [`environment`]: where all of this happens, and what is reported meanwhile
//! * [`error`]: why there are no figures

pub mod branch;
pub mod calibrating;
pub mod comparing;
pub mod conclusion;
mod earlier;
pub mod environment;
pub mod error;
mod experiments;
mod in_boots;
pub mod measuring;
pub mod request;
pub mod trends;
mod turns;
pub mod words;

pub use branch::Branch;
pub use calibrating::{Calibrated, calibrate};
pub use comparing::{Compared, compare};
pub use conclusion::Conclusion;
pub use environment::{Environment, Progress};
pub use error::Error;
pub use measuring::{Measured, measure};
pub use request::{CalibrateRequest, CompareRequest, SideRequest, SidesRequest};
pub use trends::TrendsRequest;
