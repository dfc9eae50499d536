//! How a plan is run: apart or together, side by side, once or often.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use judge::run::Run;
use machine::TimeoutScale;
use protocol::trace::TraceRequest;
use serde::{Deserialize, Serialize};

use crate::plan::Item;

/// How far cases are kept apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Each in a machine of its own.
    #[default]
    Case,
    /// All in one machine, as long as it lives.
    Suite,
}

/// How a plan is run.
#[derive(Debug, Clone)]
pub struct Options {
    /// How long machines may be silent, and cases take.
    pub timeouts: TimeoutScale,
    /// How far cases are kept apart.
    pub isolation: Isolation,
    /// Machines at a time, at least 1.
    pub jobs: usize,
    /// How often each case is run.
    pub repeats: Repeats,
    /// In which boots.
    pub boots: Boots,
    /// What all cases draw their random numbers from; each Run has its own if this is not set.
    pub seed: Option<u64>,
    /// How long a kernel may go on after a case with what it has put off, if that was said.
    pub settle: Option<Duration>,
    /// How long cases took before: the longest run first.
    pub durations: HashMap<String, Duration>,
    /// Runs of an earlier session, which are told and not made again.
    pub finished: Vec<Run>,
    /// What is recorded meanwhile, if it is.
    pub tracing: Option<Tracing>,
}

/// What is recorded, and where the traces go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracing {
    /// What.
    pub request: TraceRequest,
    /// The folder in which each Run has the folder of its trace.
    pub folder: PathBuf,
    /// Only the last seconds of Runs that are not well are kept.
    pub flight: bool,
}

/// Long enough for callbacks, works and a timer of 50 ms, which takes 60 where there are 100 ticks a second.
const SETTLE: Duration = Duration::from_millis(70);

impl Options {
    /// How long the kernel may go on after a case. What it reports later counts for the next case in the same machine; where
    /// there is none it would be lost.
    pub(crate) fn settle(&self, is_last: bool) -> Duration {
        if is_last { settle_alone(self.settle) } else { self.settle.unwrap_or(Duration::ZERO) }
    }

    /// How long a case took before, or else says that it takes.
    pub(crate) fn expected(&self, item: &Item) -> Option<Duration> {
        self.durations.get(&item.name).copied().or(item.runtime)
    }
}

/// How long the kernel may go on after the last case of a machine, if this was `said`.
pub(crate) fn settle_alone(said: Option<Duration>) -> Duration {
    said.unwrap_or(SETTLE)
}

/// The boots in whose clones cases run. Boots of one machine with different numbers are different boots.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Boots {
    /// The number of the first.
    pub first: u32,
    /// Over how many the Runs of a case are spread; if it is not set, the more Runs, the more boots.
    pub count: Option<u32>,
}

/// Boots over which a number of Runs is spread: the square root of that number, at most so many. More boots cost more
/// than they say.
const BOOTS_MAX: u32 = 5;

impl Boots {
    /// How many there are for so many Runs unless the user says it.
    pub(crate) fn usual(runs: u32) -> u32 {
        (f64::from(runs).sqrt().ceil() as u32).min(BOOTS_MAX)
    }
}

/// How often each case is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// Once; and where the kernel is at fault so many times more, to see whether it fails each time.
    OnFailure(u32),
    /// So many times.
    Times(u32),
    /// Until it does not pass; at most so many times, if that is limited.
    UntilFailure(Option<u32>),
}
