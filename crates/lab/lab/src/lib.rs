//! What to run, where and when; the Outcome of every case.
//!
//! * [`outcome`]: what a Run can conclude, and whose fault it is
//! * [`run`]: one case on one Kernel on one Machine
//! * [`likeness`]: whether two Runs ended in the same way
//! * [`event`]: what is told to whoever reports or records
//! * [`suites`]: kiln's own suites, and those of others
//! * [`plan`]: what a Kernel has of what the cases need
//! * [`user_program`]: a user's own program as the only case
//! * [`userland`]: a shell and the usual programs
//! * [`kernel_report`]: WARN, BUG, oops and their like in the kernel log
//! * [`judge`]: from what was seen to an Outcome
//! * [`ktap`]: results of tests that print KTAP
//! * [`kunit`]: a Run for each test that a kernel runs while it boots
//! * [`likeness`]: whether two Runs failed in the same way
//! * [`measure`]: what operations cost on a Kernel
//! * [`source`]: where machines come from
//! * [`runner`]: boots, runs, judges
//! * [`bundle`]: a Run as files that reproduce it without kiln
//! * [`watch`]: notices a machine that stopped answering

pub mod bundle;
pub mod event;
pub mod judge;
pub mod kernel_report;
pub mod ktap;
pub mod kunit;
pub mod likeness;
pub mod measure;
mod observe;
pub mod outcome;
pub mod plan;
pub mod run;
pub mod runner;
pub mod source;
pub mod suites;
pub mod user_program;
pub mod userland;
pub mod watch;

pub use event::{Event, Listener};
pub use outcome::{Blame, Outcome};
pub use plan::Plan;
pub use run::{Run, Summary};
pub use runner::{Isolation, Options, Part, Repeats, Runner};
pub use suites::Suite;
pub use user_program::UserProgram;
