//! The instrument that measures what small operations of a kernel cost.
//!
//! * [`operation`]: what an operation is; [`operations`] are all of them, one file per area
//! * [`meter`]: repeats an operation and looks at the clock; [`marks`] are what QEMU's plugin sees of that
//! * [`program`]: the instrument from its start to its last answer
//! * [`workload`]: a program of the user instead of an operation
//! * [`recording`]: what the kernel does meanwhile, if that is wanted
//! * [`prepare`]: what all operations find in the machine
//! * [`exchange`]: the memory that the machine shares with its host; [`port`] stops the machine

mod exchange;
mod marks;
mod meter;
mod operation;
mod operations;
mod port;
mod prepare;
pub mod program;
mod recording;
mod workload;

pub use meter::Meter;
pub use operation::{LIMIT, Operation};
pub use operations::{all, catalogue, find};
pub use prepare::{EXT4, SMALL_FILE};

/// The argument with which the instrument does nothing but end: operations start it as a small program.
pub const EXIT_AT_ONCE: &std::ffi::CStr = c"exit-at-once";
