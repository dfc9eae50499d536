//! KUnit: from the console of a boot to a Run for each test that the kernel ran by itself.
//!
//! * `console`: what came on the console, and how the boot ended
//! * `runs`: from the results to Runs, named `SUITE/TEST` or `SUITE/TEST/PARAMETER`
//! * `judge`: the Outcome of one test
//! * `provoked`: suites that provoke reports of the kernel, as data
//! * `lines`, `stack`: what of the console belongs to which test
//! * `names`: names that stay the same from boot to boot

mod console;
mod judge;
mod lines;
mod names;
mod provoked;
mod runs;
mod stack;

pub use console::{Boot, Console};
pub use runs::{Planned, Story, story};

/// The only boot of a session.
pub const BOOT: u32 = 1;
