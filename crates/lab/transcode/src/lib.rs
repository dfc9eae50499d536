//! What a kernel recorded becomes a trace in the Common Trace Format, page by page, as it comes.
//!
//! * [`ring`]: the memory through which a recording comes; [`follower`]: takes it while it comes
//! * [`recording`]: what comes becomes a trace; [`marks`]: what is in it besides the kernel's events
//! * [`clock`](mod@clock): where the clock of a trace stands in the time of day
//! * [`plan`]: a kernel's format of an event becomes a class, and its records events of that class
//! * [`transcoder`]: pages of the ring buffers become streams

mod clock;
mod follower;
mod marks;
mod plan;
mod recording;
mod ring;
mod transcoder;

pub use clock::Clock;
pub use follower::{FLIGHT, Failure, Follower};
pub use recording::{CLOCK_ERROR, CLOCK_OF, Recording, Summary};
pub use ring::{Ring, RingError};
pub use transcoder::{Counts, Transcoder};
