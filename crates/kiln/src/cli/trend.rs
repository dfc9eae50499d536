//! What can be said of trends.

use std::path::PathBuf;

use clap::Args;

use super::{BuildOptions, OUTPUT};
use crate::units;

/// `kiln trend`.
#[derive(Debug, Args)]
pub(crate) struct TrendVerb {
    /// A metric of kiln measure, kiln compare or an experiment, such as poll/epoll-wait-100; may be a pattern
    #[arg(value_name = "METRIC")]
    pub(crate) metric: String,
    /// Only kernels with this release or locator, such as 'deb:6.1.*', or the commits of a branch: git:TREE@FIRST..LAST [default: all that were measured]
    #[arg(value_name = "KERNELS")]
    pub(crate) kernels: Option<String>,
    /// First measure the kernels of kiln kernels that match KERNELS and have not been measured; of a branch some commits, and more between those that differ
    #[arg(long, requires = "kernels")]
    pub(crate) measure: bool,
    /// Print only the kernels with which a metric steps, and the steps
    #[arg(long, conflicts_with = "json")]
    pub(crate) steps: bool,
    /// Where the folders with figures are [default: $XDG_STATE_HOME/kiln/measurements]
    #[arg(long, value_name = "DIR", value_parser = units::folder())]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) build: BuildOptions,
    /// Print one JSON document
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// Also write charts to this SVG file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) svg: Option<PathBuf>,
    /// Also write charts and steps to this HTML file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) html: Option<PathBuf>,
}
