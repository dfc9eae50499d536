//! What a bisection reports while it goes on.

use std::time::Duration;

use kernel::News;
use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::candidate::Kind;
use crate::point::Point;

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// First: what is going to be searched.
    Begun {
        /// What is walked.
        kind: Kind,
        /// Names of both ends: the first, the last.
        ends: (String, String),
        /// Names of the candidates.
        candidates: Vec<String>,
        /// What is looked for.
        question: String,
        /// Answers of an earlier call of the same command that count.
        resumed: usize,
    },
    /// A test begins.
    Testing {
        /// Where.
        point: Point,
        /// What is there, for people.
        name: String,
        /// Runs of it.
        times: u32,
        /// What for.
        purpose: Purpose,
    },
    /// A line about what takes long: a download, a step of a build, a boot.
    Working(String),
    /// A test is over.
    Tested {
        /// Where.
        point: Point,
        /// What is there, for people.
        name: String,
        /// What it gave, as the search takes it: values have been compared with both ends.
        answer: Answer,
        /// Values, where the question is measured.
        values: Vec<f64>,
        /// Runs of earlier sessions among it.
        reused: u32,
    },
    /// What is believed now.
    Belief(Belief),
    /// Worth knowing.
    Note(String),
}

impl From<News<'_>> for Progress {
    fn from(news: News<'_>) -> Self {
        match news {
            News::Step(text) => Self::Working(text.to_string()),
            News::Note(text) => Self::Note(text.to_string()),
        }
    }
}

impl From<ledger::Progress> for Progress {
    fn from(progress: ledger::Progress) -> Self {
        match progress {
            // What a session found is in the answer of its test.
            ledger::Progress::Working(text) | ledger::Progress::Known(text) => Self::Working(text),
            ledger::Progress::Note(text) => Self::Note(text),
        }
    }
}

/// What a test is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// To know that the ends are what they should be.
    Ends,
    /// To find the change.
    Search,
    /// To find out whether it alone makes the difference.
    Reduction,
    /// To be sure of it.
    Proof,
}

/// What is believed about the candidates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Belief {
    /// The chance of each to be the one.
    pub probabilities: Vec<f64>,
    /// States that were tested.
    pub steps: u32,
    /// States that are going to be tested, as expected.
    pub steps_left: f64,
    /// Time that this is going to take, as expected.
    #[serde(with = "judge::json::seconds")]
    pub time_left: Duration,
    /// How often the failure shows where it is, from 0 to 1, and whether it did each time.
    pub rate: (f64, bool),
}
