//! Answers the question.
//!
//! * [`kernels`]: with Kernels in machines, in [`shares`] side by side; [`requests`] for them
//! * [`runs`] of cases, counted by [`tally`] with the [`boot_log`]; [`figures`] that are measured
//! * [`failure`]: why a test did not come to its end

mod boot_log;
mod failure;
mod figures;
pub(crate) mod kernels;
mod requests;
mod runs;
mod shares;
mod tally;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::axis::{Point, Subject};
use crate::bisection::Evidence;
use crate::error::Error;
use crate::event::Progress;

/// What is to be tested.
#[derive(Debug, Clone)]
pub struct Test {
    /// Where on the axis it is.
    pub point: Point,
    /// What is there.
    pub subject: Subject,
    /// How many runs of it are wanted.
    pub times: u32,
}

/// What a test gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    /// The answer.
    pub answer: Answer,
    /// Failures of another kind than the one that is looked for, a line each: they answer nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// How many of the runs are those of earlier sessions.
    #[serde(default)]
    pub reused: u32,
    /// What shows it.
    pub evidence: Evidence,
    /// Time to get the Kernel: fetching, building, booting.
    pub preparation: Duration,
    /// Time of one run.
    pub each: Duration,
}

impl Tested {
    /// An answer that took no time worth knowing.
    pub(crate) fn at_once(answer: Answer, evidence: Evidence) -> Self {
        let (preparation, each) = (Duration::ZERO, Duration::ZERO);
        Self { answer, others: Vec::new(), reused: 0, evidence, preparation, each }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// In so many runs it showed, in so many others not.
    Runs {
        /// It showed.
        shown: u32,
        /// It did not.
        hidden: u32,
    },
    /// Values of a metric, one for each boot.
    Values(Vec<f64>),
    /// It does not build, boot or do what the question needs: that answers nothing.
    CannotTest(String),
}

impl Answer {
    /// Runs or boots behind it.
    #[must_use]
    pub fn count(&self) -> u32 {
        match self {
            Self::Runs { shown, hidden } => shown.saturating_add(*hidden),
            Self::Values(values) => u32::try_from(values.len()).unwrap_or(u32::MAX),
            Self::CannotTest(_) => 0,
        }
    }

    /// Its values, where it was measured.
    #[must_use]
    pub fn values(&self) -> Vec<f64> {
        match self {
            Self::Values(values) => values.clone(),
            Self::Runs { .. } | Self::CannotTest(_) => Vec::new(),
        }
    }
}

/// Answers the question.
pub trait Tester {
    /// Makes tests, side by side where that is possible; an answer for each, in their order.
    ///
    /// # Errors
    ///
    /// When kiln or the host fails, or the user wants to stop.
    fn test(&mut self, tests: &[Test], heard: &mut dyn FnMut(Progress)) -> Result<Vec<Tested>, Error>;

    /// From now on only failures like this one count, which was seen where it should be.
    fn look_for(&mut self, evidence: &Evidence);

    /// Tests that are made at a time.
    fn jobs(&self) -> usize;
}
