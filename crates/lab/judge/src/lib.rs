//! From what was seen of a Run to its Outcome. Pure: no machine, no kernel, no files.
//!
//! * [`outcome`]: what a Run can conclude, and whose fault it is
//! * [`run`]: one case on one Kernel on one Machine; [`repeats`]: several Runs of a case as one; [`json`]: how its numbers are written
//! * [`exit`]: the exit code of a session, and whose it is
//! * [`signature`]: whether two Runs failed in the same way
//! * [`kernel_report`]: WARN, BUG, oops and their like in the kernel log
//! * [`ktap`]: results of tests that print KTAP
//! * [`case`](mod@case): from what was seen of a case to an Outcome; [`boot`]: the same of a boot
//! * [`parameters`]: what the kernel says about its parameters; [`noise`]: what it says about its machine at any time
//! * [`standalone`]: judges a Run where there is nothing of kiln but this; `bin/standalone.rs` is the program
//! * [`kunit`]: from the console of a boot to a Run for each test that the kernel ran by itself

pub mod boot;
pub mod case;
pub mod exit;
pub mod json;
pub mod kernel_report;
pub mod ktap;
pub mod kunit;
pub mod noise;
pub mod outcome;
pub mod parameters;
pub mod repeats;
pub mod run;
pub mod signature;
pub mod standalone;

pub use case::{Dialect, Ending, Judgement, Seen, judge};
pub use exit::Exit;
pub use outcome::{Accused, Blame, Outcome};
pub use run::{Run, Summary};
