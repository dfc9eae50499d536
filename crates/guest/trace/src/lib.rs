//! Records what the kernel does: events of tracefs, as they come.
//!
//! * [`recorder`]: one instance of tracefs, whose pages go to the host
//! * [`events`]: what is switched on
//! * [`clock`](mod@clock): the time of the events and the time of day
//! * [`statedump`]: what is there already when a recording begins
//! * [`ring`]: the memory through which all of it reaches the host

mod clock;
mod events;
pub mod recorder;
pub mod ring;
mod statedump;

pub use recorder::{Recorder, record};
pub use ring::Ring;
