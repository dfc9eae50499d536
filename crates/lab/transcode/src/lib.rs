//! What a kernel recorded becomes a trace in the Common Trace Format, page by page, as it comes.
//!
//! * [`ring`]: the memory through which a recording comes; [`follower`]: takes it while it comes
//! * [`recording`]: what comes becomes a trace; [`marks`]: what is in it besides the kernel's events
//! * [`plan`]: a kernel's format of an event becomes a class, and its records events of that class
//! * [`transcoder`]: pages of the ring buffers become streams

mod follower;
mod marks;
mod plan;
mod recording;
mod ring;
mod transcoder;

pub use follower::{FLIGHT, Failure, Follower};
pub use recording::{Recording, Summary};
pub use ring::{Ring, RingError};
pub use transcoder::{Counts, Transcoder};
