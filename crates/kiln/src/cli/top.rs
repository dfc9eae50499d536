//! What is shown on the terminal.

use std::path::PathBuf;

use clap::Args;

use crate::units;

/// Below its help.
pub(super) const HELP: &str = "\
Examples:
  kiln top                           the sessions of this user, as they run
  kiln top --results ./nightly       those in another folder

Enter opens what is selected: a session, then a Run with its output and the kernel's log. View 4 starts kernels with suites. ? shows \
all keys, and q leaves. The line that begins with $ is the command that says or does the same.";

/// `kiln top`.
#[derive(Debug, Args)]
pub(crate) struct Top {
    /// The folder with the sessions [default: $XDG_STATE_HOME/kiln/runs]
    #[arg(long, value_name = "DIR", value_parser = units::folder())]
    pub(crate) results: Option<PathBuf>,
    /// A penguin in the corner, dressed for the season
    #[arg(long)]
    pub(crate) mascot: bool,
}
