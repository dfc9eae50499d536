//! What can be said of sessions that leave this host and of those that come from others.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use crate::units;

/// `kiln export`.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Names of sessions or their beginnings, or last [default: all that the options below choose]
    #[arg(value_name = "SESSION")]
    pub(crate) sessions: Vec<String>,
    /// What to write
    #[arg(long, value_enum, default_value = "json")]
    pub(crate) format: ExportFormat,
    /// Only sessions of kernels with this release or locator, such as 'deb:6.1.*'
    #[arg(long, value_name = "GLOB")]
    pub(crate) kernel: Option<String>,
    /// Only sessions of this suite or program
    #[arg(long, value_name = "GLOB")]
    pub(crate) suite: Option<String>,
    /// Only sessions that began since then: 30m, 12h, 7d, 2w, or a date such as 2026-11-01
    #[arg(long, value_name = "TIME", value_parser = units::since)]
    pub(crate) since: Option<Timestamp>,
    /// For kcidb: the name under which KernelCI knows you
    #[arg(long, value_name = "NAME", value_parser = origin, required_if_eq("format", "kcidb"))]
    pub(crate) origin: Option<String>,
    /// Rather than Runs, write a row for each sample of measurements, as csv or parquet; SESSION then names measurements
    #[arg(long, conflicts_with_all = ["suite", "origin"])]
    pub(crate) samples: bool,
    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The folder with the sessions, or with measurements [default: $XDG_STATE_HOME/kiln/runs or measurements]
    #[arg(long, value_name = "DIR", value_parser = units::folder())]
    pub(crate) results: Option<PathBuf>,
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// All that was reported, for kiln import
    Json,
    /// For KernelCI's database
    Kcidb,
    /// JUnit XML of one session
    Junit,
    /// KTAP of one session
    Ktap,
    /// A row for each Run
    Csv,
    /// The same as Apache Parquet
    Parquet,
}

/// `kiln import`.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// What kiln export wrote as JSON; - reads standard input
    pub(crate) file: PathBuf,
    /// The folder with the sessions [default: $XDG_STATE_HOME/kiln/runs]
    #[arg(long, value_name = "DIR", value_parser = units::folder())]
    pub(crate) results: Option<PathBuf>,
}

fn origin(text: &str) -> Result<String, String> {
    if report::export::is_origin(text) {
        Ok(text.to_owned())
    } else {
        Err("KCIDB takes small letters, digits and _".to_owned())
    }
}
