//! What an instrument looks at.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::units;

/// A program with all its processes, a process, or everything for a time.
#[derive(Debug, Args)]
pub(crate) struct Workload {
    /// Look at this program, in all its processes; arguments for it come after --
    #[arg(long, value_name = "PATH")]
    pub(crate) exec: Option<PathBuf>,
    /// Arguments for the program
    #[arg(last = true, requires = "exec", value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
    /// Look at this process of this host: all its threads, and what they start from now on
    #[arg(short = 'p', long, conflicts_with_all = ["exec", "everywhere"])]
    pub(crate) pid: Option<u32>,
    /// Look at all processes of this host or the machine
    #[arg(long)]
    pub(crate) everywhere: bool,
    /// For this time, after which a program is ended [default: as long as the program or the process runs]
    #[arg(long, value_name = "TIME", value_parser = units::duration, required_unless_present_any = ["exec", "pid"])]
    pub(crate) duration: Option<Duration>,
}
