//! What can be asked of earlier Runs.

use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;
use judge::Outcome;

use super::Kept;
use crate::units;

/// `kiln results`.
#[derive(Debug, Args)]
pub(crate) struct Results {
    /// Only Runs on kernels with this release or locator, such as 'deb:6.1.*'
    #[arg(long, value_name = "GLOB")]
    pub(crate) kernel: Option<String>,
    /// Only Runs of these cases, such as 'fs/*'
    #[arg(long, value_name = "GLOB")]
    pub(crate) case: Option<String>,
    /// Only Runs of this suite or program
    #[arg(long, value_name = "GLOB")]
    pub(crate) suite: Option<String>,
    /// Only Runs with these Outcomes, separated by commas: pass, fail, crash, hang, skip, broken
    #[arg(long, value_name = "OUTCOME,...", value_delimiter = ',', value_parser = outcome)]
    pub(crate) outcome: Vec<Outcome>,
    /// Only sessions that began since then: 30m, 12h, 7d, 2w, or a date such as 2026-11-01
    #[arg(long, value_name = "TIME", value_parser = units::since)]
    pub(crate) since: Option<Timestamp>,
    /// Show at most this many Runs, the newest first; 0 shows all
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    pub(crate) limit: usize,
    /// The folder with the sessions [default: $XDG_STATE_HOME/kiln/runs]
    #[arg(long, value_name = "DIR", value_parser = units::folder())]
    pub(crate) results: Option<PathBuf>,
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kiln show`.
#[derive(Debug, Args)]
pub(crate) struct ShowRun {
    #[command(flatten)]
    pub(crate) kept: Kept,
    /// Print the Run and its session as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn outcome(text: &str) -> Result<Outcome, String> {
    Outcome::named(text)
        .ok_or_else(|| format!("{text:?} is none of {}", Outcome::ALL.map(Outcome::name).join(", ")))
}
