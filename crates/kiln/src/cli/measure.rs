//! What can be said about measuring and comparing.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{ArgGroup, Args};
use compare::request::MEASURED;
use kernel::Locator;
use protocol::Need;

use super::{BuildOptions, MachineOptions, OUTPUT, RootOptions};
use crate::units;

/// Where the help lists what is measured, and how.
const FIGURES: &str = "Figures";

/// `kiln compare`.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The base, then the kernels to compare with it; only one with --params or --exec-a. Locators as for kiln run, or measured:NAME (measured:last) for stored figures of `kiln measure`
    #[arg(value_name = "KERNEL", required = true)]
    pub(crate) kernels: Vec<Wanted>,
    /// Compare one kernel with itself under these kernel parameters; the first set is the base
    #[arg(long, value_name = "PARAMETERS", num_args = 2.., help_heading = FIGURES)]
    pub(crate) params: Vec<String>,
    /// Measure this program instead of the suite; arguments for it come after --
    #[arg(long, value_name = "PATH", conflicts_with = "metric", help_heading = FIGURES)]
    pub(crate) exec: Option<PathBuf>,
    /// Compare two programs on one kernel: this one is the base
    #[arg(long, value_name = "PATH", requires = "exec_b", conflicts_with_all = ["exec", "params", "metric"], help_heading = FIGURES)]
    pub(crate) exec_a: Option<PathBuf>,
    /// The program to compare with that of --exec-a
    #[arg(long, value_name = "PATH", requires = "exec_a", help_heading = FIGURES)]
    pub(crate) exec_b: Option<PathBuf>,
    /// Compare the metrics that this experiment records, and how its runs end: its name, or its folder, as for kiln exp run. Its runs are the boots of --timed, and the options of --timed apply. The default of --budget is the time of 8 runs on each kernel, as the experiment declares it, and at least 10m
    #[arg(long, value_name = "NAME", conflicts_with_all = ["exec", "exec_a", "metric", "suite", "timed", "why", "root"], help_heading = FIGURES)]
    pub(crate) exp: Option<String>,
    /// With --exp: run the short form
    #[arg(long, requires = "exp", help_heading = FIGURES)]
    pub(crate) short: bool,
    /// Show the kernel functions that cause each difference
    #[arg(long, conflicts_with = "timed", help_heading = FIGURES)]
    pub(crate) why: bool,
    #[command(flatten)]
    pub(crate) figures: Figures,
    /// Exit with 1 if a figure is worse by more than this, such as 2%; never: exit with 0 whatever the figures are
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = units::allowance, help_heading = OUTPUT)]
    pub(crate) fail_on: f64,
    /// Also write the report to this HTML file, with charts, and flame graphs with --why
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) build: BuildOptions,
    #[command(flatten)]
    pub(crate) machine: MachineOptions,
    #[command(flatten)]
    pub(crate) root: RootOptions,
}

/// A side of a comparison.
#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    /// A kernel that is measured.
    Kernel(Locator),
    /// Figures that were kept; holds what stands after `measured:`.
    Measured(String),
}

impl FromStr for Wanted {
    type Err = kernel::Error;

    fn from_str(text: &str) -> Result<Self, kernel::Error> {
        match text.strip_prefix(MEASURED) {
            Some(name) => Ok(Self::Measured(name.to_string())),
            None => text.parse().map(Self::Kernel),
        }
    }
}

/// `kiln measure`.
#[derive(Debug, Args)]
pub(crate) struct Measure {
    /// deb:VERSION-FLAVOUR, deb:latest-cloud, an image, a tree, git:TREE@REVISION, deb-source:6.12, built:ID or host
    #[arg(value_name = "KERNEL")]
    pub(crate) kernel: Locator,
    /// Measure this program instead of the suite; arguments for it come after --
    #[arg(long, value_name = "PATH", conflicts_with = "metric", help_heading = FIGURES)]
    pub(crate) exec: Option<PathBuf>,
    /// Compare the kernel with itself, timed, for the time of --budget, to find out how precise timed figures of this host are
    #[arg(long, conflicts_with = "timed", help_heading = FIGURES)]
    pub(crate) calibrate: bool,
    #[command(flatten)]
    pub(crate) figures: Figures,
    #[command(flatten)]
    pub(crate) build: BuildOptions,
    #[command(flatten)]
    pub(crate) machine: MachineOptions,
    #[command(flatten)]
    pub(crate) root: RootOptions,
}

/// What is measured, how, and what is printed.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("form").args(["json", "csv", "verbose"]))]
pub(crate) struct Figures {
    /// Arguments for the program
    #[arg(last = true, value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
    /// What the program needs, such as disk=512M,cpus=2,module=kvm,program=fio; may be given more than once
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = FIGURES)]
    pub(crate) need: Vec<Need<String>>,
    /// The suite of operations
    #[arg(long, default_value = "micro", value_parser = ["micro"], help_heading = FIGURES)]
    pub(crate) suite: String,
    /// Only operations whose name matches, such as 'syscall/*'; may be given more than once
    #[arg(long, value_name = "GLOB", help_heading = FIGURES)]
    pub(crate) metric: Vec<String>,
    /// Boots of each kernel [default: 3 to measure; 2 to compare, and up to 8 for what is still undecided of a program or of
    /// --metric; timed: as many as needed]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100), help_heading = FIGURES)]
    pub(crate) boots: Option<u32>,
    /// Measure time instead of counting instructions
    #[arg(long, help_heading = FIGURES)]
    pub(crate) timed: bool,
    /// With --timed: the time limit, such as 1h [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = units::duration, help_heading = FIGURES)]
    pub(crate) budget: Option<Duration>,
    /// With --timed: the smallest difference of interest, such as 1%
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = units::percent, help_heading = FIGURES)]
    pub(crate) min_effect: f64,
    /// Seed of the first boot's random numbers; each later boot has the next one [default: 1]. With --timed: seed for the order
    /// of boots [default: a new one each time]
    #[arg(long, value_name = "NUMBER", help_heading = FIGURES)]
    pub(crate) seed: Option<u64>,
    /// With --timed: leave out boots during which the host was disturbed
    #[arg(long, help_heading = FIGURES)]
    pub(crate) exclude_disturbed: bool,
    /// Print one JSON document
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// Print one line of CSV for each figure
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) csv: bool,
    /// Also print figures that are the same or nearly so, ranges, all functions and parameters
    #[arg(long, short, help_heading = OUTPUT)]
    pub(crate) verbose: bool,
    /// Where to make the folder with the figures [default: $XDG_STATE_HOME/kiln/measurements]
    #[arg(long, value_name = "DIR", value_parser = units::folder(), help_heading = OUTPUT)]
    pub(crate) results: Option<PathBuf>,
}
