//! What can be said of matrices.

use std::path::PathBuf;

use clap::Args;

use super::{BuildOptions, Cluster, MachineOptions, OUTPUT};
use crate::units;

/// What is tested on each kernel, and where.
#[derive(Debug, Args)]
pub(crate) struct OnEach {
    /// Of the kernels that match a pattern only those with these flavours, separated by commas: cloud, amd64, rt
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) flavour: Vec<String>,
    /// Sets of kernel parameters; each kernel is tested with each of them, '' is the kernel as it is
    #[arg(long, value_name = "PARAMETERS", num_args = 1.., default_value = "", hide_default_value = true)]
    pub(crate) params: Vec<String>,
    /// The suite, as for kiln run; may be given more than once
    #[arg(long, value_name = "SUITE", default_value = lab::suites::select::DEFAULT)]
    pub(crate) suite: Vec<String>,
    /// Only cases whose name matches, such as 'fs/*'; may be given more than once
    #[arg(long, value_name = "GLOB")]
    pub(crate) case: Vec<String>,
    /// Machines in parallel [default: one for each CPU of the host, if memory allows]
    #[arg(short, long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    #[command(flatten)]
    pub(crate) build: BuildOptions,
    #[command(flatten)]
    pub(crate) machine: MachineOptions,
}

/// `kiln matrix`.
#[derive(Debug, Args)]
pub(crate) struct MatrixVerb {
    /// Kernels: locators, or patterns for those of kiln kernels, such as 'deb:6.1.*'; or a plan, such as nightly.star
    #[arg(value_name = "KERNEL", required = true)]
    pub(crate) kernels: Vec<String>,
    /// Run nothing: show what is known
    #[arg(long)]
    pub(crate) show: bool,
    /// Run what is missing on the nodes of a cluster
    #[arg(long, value_enum, value_name = "CLUSTER", conflicts_with = "show")]
    pub(crate) on: Option<Cluster>,
    #[command(flatten)]
    pub(crate) each: OnEach,
    /// The folder with the sessions [default: $XDG_STATE_HOME/kiln/runs]
    #[arg(long, value_name = "DIR", value_parser = units::folder(), help_heading = OUTPUT)]
    pub(crate) results: Option<PathBuf>,
    /// Give each case a line of its own
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) all: bool,
    /// Print one JSON document
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// Also write the grid to this HTML file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) html: Option<PathBuf>,
}
