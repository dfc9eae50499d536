//! Answers the question.
//!
//! * [`kernels`]: with Kernels in machines, in [`shares`] side by side; [`context`]: what all tests share
//! * [`requests`] that make tests; [`failure`]: why a test did not come to its end
//! * [`builds`]; [`runs`] of cases, here or in [`jobs`] of a cluster, counted by [`tally`] with the [`boot_log`];
//!   [`experiments`]; [`figures`] that are measured
//! * [`sessions`] that are kept; [`parameters`] that a kernel does not know

mod boot_log;
mod builds;
mod context;
pub(crate) mod experiments;
mod failure;
mod figures;
mod jobs;
pub(crate) mod kernels;
mod parameters;
mod requests;
mod runs;
mod sessions;
mod shares;
mod tally;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::axis::Subject;
use crate::bisection::Evidence;
use crate::error::Error;
use crate::event::Progress;
use crate::point::Point;

/// What is to be tested.
#[derive(Debug, Clone)]
pub struct Test {
    /// Where on the axis it is.
    pub point: Point,
    /// What is there.
    pub subject: Subject,
    /// In which of its boots, from 0: one more of a number that there was, or a new one. Where each run is a boot, the
    /// number of the first.
    pub boot: u32,
    /// How many runs of it there were, whatever they answered.
    pub before: u32,
    /// How many are wanted.
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
    /// Time to get the Kernel: fetching, building.
    #[serde(with = "judge::json::seconds")]
    pub preparation: Duration,
    /// Time to get a machine in which it runs.
    #[serde(default, with = "judge::json::seconds")]
    pub boot: Duration,
    /// Time of one run.
    #[serde(with = "judge::json::seconds")]
    pub each: Duration,
    /// Parameters that the kernel does not know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

impl Tested {
    /// An answer that took no time worth knowing.
    pub(crate) fn at_once(answer: Answer, evidence: Evidence) -> Self {
        let nothing = Duration::ZERO;
        let (preparation, boot, each) = (nothing, nothing, nothing);
        let (others, unknown) = (Vec::new(), Vec::new());
        Self { answer, others, reused: 0, evidence, preparation, boot, each, unknown }
    }
}

/// Answers the question.
pub trait Tester {
    /// Makes tests, side by side where that is possible; an answer for each, in their order.
    ///
    /// # Errors
    ///
    /// When kiln or the host fails, or the user wants to stop.
    fn test(&mut self, tests: &[Test], emit: &mut dyn FnMut(Progress)) -> Result<Vec<Tested>, Error>;

    /// From now on only failures like this one count, which was seen where it should be.
    fn look_for(&mut self, evidence: &Evidence);

    /// Tests that are made at a time.
    fn jobs(&self) -> usize;

    /// Whether the machine of a boot stays for more runs: else more of them cost another boot.
    fn keeps_machines(&self) -> bool;
}
