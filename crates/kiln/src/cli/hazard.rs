//! What can be said of hazards.

use std::path::PathBuf;

use clap::Args;
use machine::Condition;

use super::{OUTPUT, Place};

/// Below its help.
pub(super) const HELP: &str = "\
Examples:
  kiln hazard --in deb:latest-cloud --exec ./load
  kiln hazard --in deb:latest-cloud --cpus 4 --exec ./load --when 'lock-spin>100' -- 8
  kiln hazard --in deb:latest-cloud --exec ./load --when 'lock-wait>100ms'
  kiln hazard --in deb:latest-cloud --exec ./load --when write:total_forks
  kiln hazard --in ./linux --suite smoke --case 'fs/*' --json

A loop is a hazard if a CPU passes it more often than that with nothing in between, and only waits there: for a lock, another CPU, a device. \
So is a task that sleeps for a lock of the kernel for longer than that, and a write to a variable of the kernel. The machine is stopped where that happens first, for as long as it takes to read from its memory what all CPUs do. \
Exit codes: 0 no hazard, 1 a hazard, or what ran failed, 2 wrong usage, 3 broken, 4 nothing ran.";

/// `kiln hazard`.
#[derive(Debug, Args)]
pub(crate) struct Hazard {
    /// What a hazard is: lock-spin>PASSES, lock-wait>TIME, write:SYMBOL[+OFFSET]; may be given again
    #[arg(long, value_name = "CONDITION", default_value = "lock-spin>1000")]
    pub(crate) when: Vec<Condition>,
    /// Look while this program runs; arguments for it come after --
    #[arg(long, value_name = "PATH")]
    pub(crate) exec: Option<PathBuf>,
    /// Look while each case of this suite runs, in a clone of its own
    #[arg(long, value_name = "SUITE", conflicts_with = "exec")]
    pub(crate) suite: Option<String>,
    /// Only cases whose name matches, such as 'fs/*'
    #[arg(long, value_name = "GLOB", conflicts_with = "exec")]
    pub(crate) case: Vec<String>,
    /// Arguments for the program
    #[arg(last = true, requires = "exec", value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
    /// One JSON object
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}
