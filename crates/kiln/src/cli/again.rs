//! What is done with a Run that was kept.

use std::path::PathBuf;

use clap::Args;

use crate::units;

/// Which Run.
#[derive(Debug, Args)]
pub(crate) struct Kept {
    /// SESSION/CASE, last/CASE or the JSON file of a case; SESSION may be abbreviated, and is enough if only one case failed or it has only one
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Where the folders with results are [default: $XDG_STATE_HOME/kiln/runs]
    #[arg(long, value_name = "DIR", value_parser = units::folder())]
    pub(crate) results: Option<PathBuf>,
}

/// `kiln replay`.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    #[command(flatten)]
    pub(crate) kept: Kept,
    /// Open a shell in the machine of the case; kiln-case runs the case there
    #[arg(long)]
    pub(crate) shell: bool,
}

/// `kiln bundle`.
#[derive(Debug, Args)]
pub(crate) struct Bundle {
    #[command(flatten)]
    pub(crate) kept: Kept,
    /// The archive to write; a name that ends in .tar is not compressed
    #[arg(short, long, value_name = "FILE", value_parser = units::archive)]
    pub(crate) output: PathBuf,
}
