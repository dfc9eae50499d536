//! A search that goes on, as whoever looks on from elsewhere reads it beside the journal.

use std::path::Path;

use jiff::Timestamp;
use ledger::Figures;
use serde::{Deserialize, Serialize};

use crate::axis::Axis;
use crate::bisection::StateReport;
use crate::candidate::Kind;
use crate::event::{Belief, Purpose};
use crate::question::{Question, Threshold};
use crate::tester::Test;

/// Name of the document.
pub(crate) const UNDERWAY: &str = "underway";

/// How far a search is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Underway {
    /// What is walked.
    pub kind: Kind,
    /// What is asked.
    pub question: Question,
    /// It is searched for the fix.
    pub fixed: bool,
    /// Names of both ends: the first, the last.
    pub ends: [String; 2],
    /// Names of all candidates.
    pub candidates: Vec<String>,
    /// From where on a metric counts as bad, as soon as that is known.
    pub threshold: Option<Threshold>,
    /// All points that were tested, in the order of the axis, without evidence.
    pub states: Vec<StateReport>,
    /// What is being tested.
    pub testing: Vec<Testing>,
    /// What is believed, once there is something to believe.
    pub belief: Option<Belief>,
}

/// A test that is being made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Testing {
    /// What is there, for people.
    pub name: String,
    /// Runs of it.
    pub times: u32,
    /// What for.
    pub purpose: Purpose,
    /// Since when.
    pub since: Timestamp,
}

impl Underway {
    /// Nothing was tested yet.
    pub(crate) fn new(axis: &dyn Axis, question: &Question, fixed: bool, ends: [String; 2]) -> Self {
        Self {
            kind: axis.kind(),
            question: question.clone(),
            fixed,
            ends,
            candidates: axis.candidates().iter().map(|candidate| candidate.name.clone()).collect(),
            threshold: None,
            states: Vec::new(),
            testing: Vec::new(),
            belief: None,
        }
    }

    /// How far the search in a folder is, or was when it was stopped; nothing if that does not say it.
    #[must_use]
    pub fn read(folder: &Path) -> Option<Self> {
        Figures::at(folder.to_owned()).read(UNDERWAY).ok()
    }
}

impl Testing {
    /// A test that begins now.
    pub(crate) fn now(test: &Test, purpose: Purpose) -> Self {
        let (name, times) = (test.subject.name.clone(), test.times);
        Self { name, times, purpose, since: Timestamp::now() }
    }
}
