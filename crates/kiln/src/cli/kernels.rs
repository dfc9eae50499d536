//! Kernels that can be named.

use clap::{Args, Subcommand, ValueEnum};
use kernel::catalogue::State;

use super::help;
use crate::units;

/// `kiln kernels`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Kernels {
    #[command(subcommand)]
    pub(crate) verb: Option<KernelsVerb>,
    /// Only kernels whose locator matches, such as '*cloud*'
    #[arg(value_name = "GLOB")]
    pub(crate) pattern: Option<String>,
    /// Only kernels in these states
    #[arg(long, value_enum, value_delimiter = ',', value_name = "STATE")]
    pub(crate) state: Vec<StateName>,
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// What else can be done with kernels.
#[derive(Debug, Subcommand)]
pub(crate) enum KernelsVerb {
    /// Remove the least recently used entries from the cache
    #[command(after_help = help::PRUNE)]
    Prune(Prune),
}

/// `kiln kernels prune`.
#[derive(Debug, Args)]
pub(crate) struct Prune {
    /// Size that the cache may keep, such as 2G or 0
    #[arg(long, default_value = "10G", value_name = "SIZE", value_parser = units::mebibytes_or_none)]
    pub(crate) keep: u64,
    /// Only show what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Names of [`State`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StateName {
    /// A package in kiln's cache
    Cached,
    /// Built by kiln
    Built,
    /// In /boot of this host
    Installed,
    /// A package that apt can fetch
    Offered,
    /// Source that apt can fetch
    Source,
}

impl From<StateName> for State {
    fn from(name: StateName) -> Self {
        match name {
            StateName::Cached => Self::Cached,
            StateName::Built => Self::Built,
            StateName::Installed => Self::Installed,
            StateName::Offered => Self::Offered,
            StateName::Source => Self::Source,
        }
    }
}
