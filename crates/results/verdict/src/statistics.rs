//! Statistics of small samples without assumptions on their distribution.
//!
//! * [`differences`]: the Hodges-Lehmann shift between two samples, and its intervals
//! * [`ranks`]: the test of Mann and Whitney
//! * [`divisive`]: where a series of values changes
//! * [`discovery`]: what several tests say together
//! * `gamma`: the gamma function
//! * [`random`]: random numbers that a seed gives again

pub mod differences;
pub mod discovery;
pub mod divisive;
mod gamma;
pub mod random;
pub mod ranks;

pub use differences::Differences;
pub use discovery::adjusted;
pub use divisive::{ChangePoint, change_points};
pub(crate) use gamma::ln_gamma;
pub use random::Random;
pub use ranks::mann_whitney;
