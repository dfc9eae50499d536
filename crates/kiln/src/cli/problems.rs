//! What can be said of problems.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use verdict::problem::State;

use crate::units;

/// `kiln problems`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Problems {
    /// What to do [default: list the problems]
    #[command(subcommand)]
    pub(crate) verb: Option<ProblemsVerb>,
    /// Only problems in these states, separated by commas: open, bisected, fix-candidate, verified, closed
    #[arg(long, value_name = "STATE,...", value_delimiter = ',', value_parser = state, conflicts_with = "all")]
    pub(crate) state: Vec<State>,
    /// Also those that are closed
    #[arg(long)]
    pub(crate) all: bool,
    /// First search for what brought or fixed those listed, as kiln bisect does, where that was not done
    #[arg(long)]
    pub(crate) bisect: bool,
    /// Time for that; what is unfinished goes on with the next call [default: as long as it takes]
    #[arg(long, value_name = "TIME", value_parser = units::duration, requires = "bisect")]
    pub(crate) budget: Option<Duration>,
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// The folder with the sessions [default: $XDG_STATE_HOME/kiln/runs]
    #[arg(long, value_name = "DIR", value_parser = units::folder(), global = true)]
    pub(crate) results: Option<PathBuf>,
}

/// What to do with problems.
#[derive(Debug, Subcommand)]
pub(crate) enum ProblemsVerb {
    /// Show all about a problem
    Show {
        /// Its id, or the beginning of it
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Note that a problem is gone; it reopens when it returns
    Close {
        /// Its id, or the beginning of it
        id: String,
    },
    /// Take back that a problem is gone
    Reopen {
        /// Its id, or the beginning of it
        id: String,
    },
}

fn state(text: &str) -> Result<State, String> {
    State::named(text).ok_or_else(|| {
        let all = State::ALL.map(|state| state.name().replace(' ', "-")).join(", ");
        format!("{text:?} is none of {all}")
    })
}
