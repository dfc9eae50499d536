//! What can be said of experiments.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use kernel::Locator;

use super::{BuildOptions, Format, MachineOptions, OUTPUT, UserSpaceOptions};
use crate::units;

/// `kiln exp`.
#[derive(Debug, Args)]
pub(crate) struct Exp {
    /// What to do; without it, kiln lists the experiments that there are
    #[command(subcommand)]
    pub(crate) verb: Option<ExpVerb>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to do with experiments.
#[derive(Debug, Subcommand)]
pub(crate) enum ExpVerb {
    /// Run an experiment on kernels; an interrupted run goes on from its last complete step
    Run(Box<ExpRun>),
    /// Show what an experiment asks and needs, and what was found
    Show {
        /// Its name, or its folder
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make an experiment that runs at once
    New {
        /// Its name, for a folder in experiments/, or a path
        name: String,
    },
    /// Check the script of an experiment and show its steps, without booting anything
    Check {
        /// Its name, or its folder
        name: String,
    },
}

/// `kiln exp run`.
#[derive(Debug, Args)]
pub(crate) struct ExpRun {
    /// The name of the experiment, or its folder
    pub(crate) name: String,
    /// A kernel, as for `kiln run`; given more than once, the experiment runs on each, and compares them
    #[arg(long, value_name = "KERNEL", required = true)]
    pub(crate) kernel: Vec<Locator>,
    /// Run the short form
    #[arg(long)]
    pub(crate) short: bool,
    /// What chance is drawn from
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub(crate) seed: u64,
    /// Boot every machine: none is a clone of one that was booted before
    #[arg(long)]
    pub(crate) no_clones: bool,
    /// Begin again: do not go on where an interrupted run stopped
    #[arg(long)]
    pub(crate) fresh: bool,
    /// What to print on standard output
    #[arg(long, value_enum, default_value = "human", help_heading = OUTPUT)]
    pub(crate) format: Format,
    /// Where to make the folder with the results [default: $XDG_STATE_HOME/kiln/runs]
    #[arg(long, value_name = "DIR", value_parser = units::folder(), help_heading = OUTPUT)]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) build: BuildOptions,
    #[command(flatten)]
    pub(crate) machine: MachineOptions,
    #[command(flatten)]
    pub(crate) user_space: UserSpaceOptions,
}
