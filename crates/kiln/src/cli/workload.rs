//! What an instrument looks at.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::units;

/// A program with all its processes, or everything for a time.
#[derive(Debug, Args)]
pub(crate) struct Workload {
    /// Look at this program, in all its processes; arguments for it come after --
    #[arg(long, value_name = "PATH")]
    pub(crate) exec: Option<PathBuf>,
    /// Arguments for the program
    #[arg(last = true, requires = "exec", value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
    /// Look at all processes of this host or the machine
    #[arg(long)]
    pub(crate) everywhere: bool,
    /// For this time, after which a program is ended [default: as long as the program runs]
    #[arg(long, value_name = "TIME", value_parser = units::duration, required_unless_present = "exec")]
    pub(crate) duration: Option<Duration>,
}
