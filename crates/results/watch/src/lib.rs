//! New kernels are tested as they arrive, and what changed is told.
//!
//! * [`source`]: where kernels come from; [`arrival`]: one that has come
//! * [`seen`](mod@seen): those that were tested and told, on the disk
//! * [`difference`](mod@difference): what a kernel does that the one before it did not
//! * [`watch`](mod@watch): from one to the other
//! * [`error`]: why nobody watches

pub mod arrival;
pub mod difference;
pub mod error;
pub mod seen;
pub mod source;
pub mod watch;

pub use arrival::Arrival;
pub use difference::{CaseChange, Change, Difference, against_the_one_before, difference, newest};
pub use error::Error;
pub use source::Source;
pub use watch::{Tell, Tested, Watch, WatchRequest};
