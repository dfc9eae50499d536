//! What processes of this host do.
//!
//! * [`event`]: what happens to them; [`signal`], [`ending`]: parts of it
//! * [`process`]: what `/proc` says of one
//! * [`connector`]: what happens to all of them
//! * [`monitor`]: a program and all that it starts, traced
//! * [`processes`]: which one is which; [`job`]: a program and all that it started
//! * [`program`]: a program of this host that runs in a machine
//! * [`core_dump`]: what is kept of one that crashed
//! * [`mod@stack`]: the calls of a stopped thread
//! * [`mod@waits`]: what threads wait for, and deadlocks
//! * [`error`]: what cannot be observed

pub mod connector;
pub mod core_dump;
pub mod ending;
pub mod error;
pub mod event;
pub mod job;
pub mod monitor;
pub mod process;
pub mod processes;
pub mod program;
pub mod signal;
pub mod stack;
pub mod waits;

pub use connector::Connector;
pub use core_dump::write_core;
pub use ending::Ending;
pub use error::Error;
pub use event::{Event, Kind, What};
pub use job::{Job, Life};
pub use monitor::{Crash, Fate, Listener, Observed, Usage, observe};
pub use process::Description;
pub use processes::Processes;
pub use program::{Program, Thread};
pub use signal::{Cause, Signal};
pub use stack::{Frame, Names, ThreadStack, Unwinding, stacks};
pub use unwind::Registers;
pub use waits::{Deadlock, FileLock, Wait, deadlocks, file_locks, waits};
