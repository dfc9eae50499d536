//! What there is at a moment. Texts are as they were kept: they are made safe where they are drawn.

use std::time::Duration;

use jiff::Timestamp;
use judge::{Outcome, Summary};
use slurm::Submitted;
use verdict::problem::State;
use watch::Change;

/// What there is at a moment.
#[derive(Debug, Clone, Default)]
pub struct Look {
    /// The newest sessions, those that run first.
    pub sessions: Vec<SessionRow>,
    /// Jobs of a cluster that may still answer.
    pub queued: Vec<Submitted>,
    /// What newest kernels do that the ones before them did not.
    pub changes: Vec<ChangeRow>,
    /// Failures that are alike, the one that was seen last first.
    pub problems: Vec<ProblemRow>,
}

/// A session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    /// The name of its folder.
    pub name: String,
    /// The locator by which its kernel is found again; nothing where another host had it.
    pub locator: Option<String>,
    /// The kernel's release, or else its locator.
    pub kernel: String,
    /// The suite, or the program.
    pub suite: String,
    /// The machine, for people.
    pub machine: String,
    /// When it began.
    pub started: Timestamp,
    /// How far it is.
    pub state: SessionState,
    /// Cases that have finished.
    pub done: usize,
    /// All of its cases.
    pub cases: usize,
    /// How those that have finished ended.
    pub summary: Summary,
    /// Cases that do not go well, each with its reason, the newest last.
    pub wrong: Vec<(String, String)>,
}

/// How far a session is.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionState {
    /// A kiln records it.
    Running {
        /// The cases that run.
        cases: Vec<String>,
        /// What is left of it, if that is known.
        left: Option<Duration>,
    },
    /// It came to its end.
    Ended {
        /// How long it took.
        took: Duration,
    },
    /// It was killed or interrupted.
    Stopped,
}

/// A Run in the list of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// The case.
    pub case: String,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it took.
    pub duration: Duration,
    /// Why.
    pub why: String,
}

/// A case that is not as on the kernel before, or a problem that the kernel before did not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRow {
    /// What it means.
    pub news: News,
    /// The suite.
    pub suite: String,
    /// The case, or what the failures have in common.
    pub what: String,
    /// The kernel before, and what the case came to there.
    pub before: (String, String),
    /// The newest kernel of the flavour, and what the case comes to there.
    pub after: (String, String),
    /// Why, as far as the newest Run says it.
    pub why: String,
    /// The session with the newest Run.
    pub session: String,
    /// The case of that Run.
    pub case: String,
}

/// What a change means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum News {
    /// A failure that was never seen on an earlier kernel.
    Problem,
    /// A case that is not as before.
    Case(Change),
}

/// Failures that are alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProblemRow {
    /// By which `kiln problems show` finds it.
    pub id: String,
    /// Where it stands.
    pub state: State,
    /// The same in words.
    pub standing: String,
    /// What the failures have in common.
    pub signature: String,
    /// Runs that failed so.
    pub failures: u64,
    /// The first and the last kernel that have it.
    pub seen_on: String,
    /// When it was seen last.
    pub last: Timestamp,
    /// How that Run ended.
    pub outcome: Outcome,
    /// Its session.
    pub session: String,
    /// Its case.
    pub case: String,
}

/// What can be started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offer {
    /// Kernels that need not be fetched.
    pub kernels: Vec<OfferedKernel>,
    /// kiln's own suites.
    pub suites: Vec<OfferedSuite>,
}

/// A kernel to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedKernel {
    /// Its locator.
    pub locator: String,
    /// Its version, and where it is.
    pub about: String,
}

/// A suite to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedSuite {
    /// Its name.
    pub name: String,
    /// How many cases it has.
    pub cases: usize,
}

/// A kiln that was started from here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    /// Its process.
    pub id: u32,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// How it ended, if it has: `exit code 2`.
    pub ended: Option<String>,
    /// What it said last.
    pub said: String,
}

impl Child {
    /// Whether it is the kiln that records this session, which has the number of its process in its name.
    #[must_use]
    pub fn records(&self, session: &str) -> bool {
        let first = session.split('.').next().unwrap_or_default();
        first.rsplit_once('-').is_some_and(|(_, id)| id.parse() == Ok(self.id))
    }
}
