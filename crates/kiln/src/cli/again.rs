//! What is done with a Run that was kept.

use std::path::PathBuf;

use clap::Args;

use crate::units;

/// Which Run.
#[derive(Debug, Args)]
pub(crate) struct Kept {
    /// SESSION/CASE, last/CASE or the JSON file of a case; SESSION may be cut short, and is enough where one case failed
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Where the folders with results are [default: $XDG_STATE_HOME/kiln/runs]
    #[arg(long, value_name = "DIR")]
    pub(crate) results: Option<PathBuf>,
}

/// `kiln replay`.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    #[command(flatten)]
    pub(crate) kept: Kept,
    /// A shell in the machine that the case would run in; kiln-case runs it there
    #[arg(long)]
    pub(crate) shell: bool,
}

/// `kiln bundle`.
#[derive(Debug, Args)]
pub(crate) struct Bundle {
    #[command(flatten)]
    pub(crate) kept: Kept,
    /// The archive to write; with .tar at its end it is not compressed
    #[arg(short, long, value_name = "FILE", value_parser = units::archive)]
    pub(crate) output: PathBuf,
}
