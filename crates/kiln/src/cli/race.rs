//! What can be said of a race.

use std::time::Duration;

use clap::{Args, ValueEnum};
use protocol::race::{RaceRequest, Strategy};

use super::{OUTPUT, Place};
use crate::units;

/// `kiln race`.
#[derive(Debug, Args)]
pub(crate) struct Race {
    /// The race, such as fs/xfs-reflink-dio [default: list all]
    #[arg(value_name = "RACE")]
    pub(crate) name: Option<String>,
    /// How the two sections are brought together
    #[arg(long, value_enum, default_value = "mixture")]
    pub(crate) strategy: StrategyName,
    /// End after this time, such as 30s or 5m [default: that of the race]
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) limit: Option<Duration>,
    /// End after so many rounds
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rounds: Option<u64>,
    /// End after so many hits
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) hits: u64,
    /// Where random delays come from: the same seed gives the same ones
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    pub(crate) seed: u64,
    /// Show how long the sections take
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) stats: bool,
    /// One JSON object
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// Names of [`Strategy`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StrategyName {
    /// Half of the rounds at the best delay known, half spread over all that make the sections overlap
    Mixture,
    /// Both begin at the same time
    Aligned,
    /// Random delays
    Uniform,
    /// Delays of the golden-ratio sequence
    LowDiscrepancy,
    /// Two threads in loops, without any alignment
    Plain,
    /// The algorithm of the Linux Test Project, for comparison
    Published,
}

impl From<StrategyName> for Strategy {
    fn from(name: StrategyName) -> Self {
        match name {
            StrategyName::Mixture => Self::Mixture,
            StrategyName::Aligned => Self::Aligned,
            StrategyName::Uniform => Self::Uniform,
            StrategyName::LowDiscrepancy => Self::LowDiscrepancy,
            StrategyName::Plain => Self::Plain,
            StrategyName::Published => Self::Published,
        }
    }
}

impl Race {
    /// What is asked of the race of this name.
    pub(crate) fn request(&self, name: &str) -> RaceRequest {
        RaceRequest {
            strategy: self.strategy.into(),
            time_ms: self.limit.map(units::milliseconds),
            rounds: self.rounds,
            hits: self.hits,
            seed: self.seed,
            statistics: self.stats,
            ..RaceRequest::new(name)
        }
    }
}
