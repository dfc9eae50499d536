//! What a case came to on a kernel.

use judge::Outcome;
use ledger::KnownRun;
use serde::Serialize;

/// What a case came to on a kernel: its latest Run there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// How it ended.
    pub outcome: Outcome,
    /// Why.
    pub reason: String,
    /// The name of its session.
    pub session: String,
    /// How many Runs it stands for.
    pub runs: u32,
    /// How many of those failed.
    pub failures: u32,
}

/// What a cell shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// All Runs passed.
    Pass,
    /// What it needs is not there.
    Skip,
    /// It says nothing about the kernel.
    Broken,
    /// Some Runs failed and some did not.
    Intermittent,
    /// All Runs failed.
    Fail,
    /// The kernel died.
    Crash,
    /// It stopped answering.
    Hang,
}

/// How much attention something wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Light {
    /// As expected.
    Green,
    /// Not as it should be, but no failure for certain: intermittent, skipped here and not elsewhere, broken, not run.
    Amber,
    /// It fails.
    Red,
}

impl Cell {
    /// The cell of a Run.
    #[must_use]
    pub fn of(run: KnownRun) -> Self {
        let KnownRun { outcome, reason, session, runs, failures, .. } = run;
        Self { outcome, reason, session, runs, failures }
    }

    /// What it shows.
    #[must_use]
    pub fn mark(&self) -> Mark {
        let is_mixed = self.outcome.is_failure() && self.failures < self.runs;
        match self.outcome {
            _ if is_mixed => Mark::Intermittent,
            Outcome::Pass => Mark::Pass,
            Outcome::Fail => Mark::Fail,
            Outcome::Crash => Mark::Crash,
            Outcome::Hang => Mark::Hang,
            Outcome::Skip => Mark::Skip,
            Outcome::Broken => Mark::Broken,
        }
    }
}

impl Mark {
    /// All, for legends.
    pub const ALL: [Self; 7] =
        [Self::Pass, Self::Fail, Self::Crash, Self::Hang, Self::Intermittent, Self::Skip, Self::Broken];

    /// One column wide.
    #[must_use]
    pub fn sign(self) -> char {
        match self {
            Self::Pass => '.',
            Self::Fail => 'F',
            Self::Crash => 'C',
            Self::Hang => 'H',
            Self::Intermittent => '~',
            Self::Skip => 's',
            Self::Broken => 'b',
        }
    }

    /// In words.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Crash => "crash",
            Self::Hang => "hang",
            Self::Intermittent => "intermittent",
            Self::Skip => "skip",
            Self::Broken => "broken",
        }
    }

    /// How much attention it wants beside the others of its row.
    #[must_use]
    pub fn light(self, row: &[Option<Self>]) -> Light {
        match self {
            Self::Pass => Light::Green,
            // A case that no kernel can run is no news of any.
            Self::Skip if row.iter().flatten().all(|other| *other == Self::Skip) => Light::Green,
            Self::Skip | Self::Broken | Self::Intermittent => Light::Amber,
            Self::Fail | Self::Crash | Self::Hang => Light::Red,
        }
    }
}
