//! One case on one Kernel on one Machine.

use std::collections::BTreeSet;
use std::time::Duration;

use protocol::{Counts, End, KernelRecord, Report};
use serde::{Deserialize, Serialize};

use crate::kernel_report::KernelReport;
use crate::outcome::{Accused, Blame, Outcome};

/// What is kept of a case that was run, or could not be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Name of the case; `boot` for a machine that did not come up, or came up badly.
    pub case: String,
    /// It is the machine's boot and no case, which may have the same name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_boot: bool,
    /// One line on what the case verifies.
    pub about: String,
    /// The conclusion.
    pub outcome: Outcome,
    /// Who broke it, if it is broken.
    pub blame: Option<Blame>,
    /// Whom it accuses, if it is a failure; Runs of earlier versions do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accused: Option<Accused>,
    /// One line that says why; empty for a pass, unless it is an expected failure.
    pub reason: String,
    /// A pass that is a failure which the case expected, as kselftest's XFAIL.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expected_failure: bool,
    /// What shows it: failed checks, kernel reports, the last lines of the console.
    pub evidence: Vec<String>,
    /// By the guest's clock where the case ended, else by the host's.
    #[serde(with = "crate::json::seconds")]
    pub duration: Duration,
    /// Which boot of this session it ran in, from 1; 0 if in none.
    pub boot: u32,
    /// Which clone of that boot it ran in, by a number of its own in this session; 0 if in none.
    #[serde(default)]
    pub clone: u32,
    /// What the case drew its random numbers from.
    #[serde(default, with = "crate::json::seed")]
    pub seed: u64,
    /// All Runs of a case that was run more than once, in the order in which they ended. The Run that they stand
    /// in is one of them: the first that did not pass, else the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<Repeat>,
    /// What decided how many there are.
    #[serde(default, skip_serializing_if = "StoppingRule::is_fixed")]
    pub stopping_rule: StoppingRule,
    /// How its process ended, if it was started and the machine lived to tell.
    pub end: Option<End>,
    /// Checks by result.
    pub counts: Counts,
    /// Results with a text.
    pub reports: Vec<Report>,
    /// Defects that the kernel reported while it ran.
    pub kernel_reports: Vec<KernelReport>,
    /// What it wrote to standard output and error; at most 256 KiB.
    pub output: String,
    /// Commands that its shell did not find; it may have ended well without them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_found: Vec<String>,
    /// The kernel log from its start to its end; at most 2,000 records.
    pub log: Vec<KernelRecord>,
    /// What it left behind and what else is worth knowing.
    pub notes: Vec<String>,
}

/// What is kept of one of several Runs of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeat {
    /// The conclusion.
    pub outcome: Outcome,
    /// One line that says why; empty for a pass.
    pub reason: String,
    /// By the guest's clock where the case ended, else by the host's.
    #[serde(with = "crate::json::seconds")]
    pub duration: Duration,
    /// The boot that it ran in; 0 where an earlier version did not say it.
    #[serde(default)]
    pub boot: u32,
    /// The clone that it ran in.
    pub clone: u32,
    /// What the case drew its random numbers from.
    #[serde(with = "crate::json::seed")]
    pub seed: u64,
}

/// What decides how often a case is run. Only where that does not depend on the Runs is the share of failures an estimate of
/// their rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoppingRule {
    /// Nothing that the Runs show.
    #[default]
    Fixed,
    /// It is run until it fails.
    FirstFailure,
    /// It is run again because it failed: the first Run is a failure by choice.
    Retry,
}

impl StoppingRule {
    /// Whether it is [`Self::Fixed`].
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        *self == Self::Fixed
    }
}

/// What the Run of a machine's boot is called.
pub const BOOT: &str = "boot";

/// When the kernel wrote a record, in seconds since its boot and in brackets, as dmesg(1) shows it.
#[must_use]
pub fn stamp(record: &KernelRecord) -> String {
    let (seconds, micros) = (record.time_us / 1_000_000, record.time_us % 1_000_000);
    format!("[{seconds:5}.{micros:06}]")
}

impl Run {
    /// Whether it says something about the kernel or the case; what the host, the machine or kiln broke says nothing.
    #[must_use]
    pub fn is_final(&self) -> bool {
        !matches!(self.blame, Some(Blame::Host | Blame::Kiln | Blame::Machine))
    }

    /// Whether a line of its kernel log belongs to a report on a defect.
    #[must_use]
    pub fn is_in_report(&self, line: &str) -> bool {
        let mut reports = self.kernel_reports.iter();
        reports.any(|report| report.title == line || report.lines.iter().any(|other| other == line))
    }

    /// The title of the kernel's report that is its reason, if one is.
    #[must_use]
    pub fn defect(&self) -> Option<&str> {
        let mut titles = self.kernel_reports.iter().map(|report| report.title.as_str());
        titles.find(|title| *title == self.reason)
    }

    /// What tells a defect of the kernel from others: all that the kernel reported, where a report is the reason and its
    /// title names a place. Without one two defects may have the same title.
    #[must_use]
    pub fn defects(&self) -> Option<BTreeSet<&str>> {
        self.defect().filter(|title| [" in ", " at "].iter().any(|word| title.contains(word)))?;
        Some(self.kernel_reports.iter().map(|report| report.title.as_str()).collect())
    }

    /// A Run about which nothing is known yet.
    #[must_use]
    pub fn unstarted() -> Self {
        Self {
            case: String::new(),
            is_boot: false,
            about: String::new(),
            outcome: Outcome::Broken,
            blame: None,
            accused: None,
            reason: String::new(),
            expected_failure: false,
            evidence: Vec::new(),
            duration: Duration::ZERO,
            boot: 0,
            clone: 0,
            seed: 0,
            repeats: Vec::new(),
            stopping_rule: StoppingRule::Fixed,
            end: None,
            counts: Counts::default(),
            reports: Vec::new(),
            kernel_reports: Vec::new(),
            output: String::new(),
            not_found: Vec::new(),
            log: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// The name of a case as a relative path that stays where it belongs.
#[must_use]
pub fn file_name(case: &str) -> String {
    let parts = case.split('/').filter(|part| !part.is_empty() && *part != "." && *part != "..");
    parts.collect::<Vec<_>>().join("/")
}

/// How many cases had which Outcome: each counts once, by the Run that stands for it, however often it was run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// [`Outcome::Pass`].
    pub pass: u32,
    /// [`Outcome::Fail`].
    pub fail: u32,
    /// [`Outcome::Crash`].
    pub crash: u32,
    /// [`Outcome::Hang`].
    pub hang: u32,
    /// [`Outcome::Skip`].
    pub skip: u32,
    /// [`Outcome::Broken`].
    pub broken: u32,
    /// Planned and never run.
    pub not_run: u32,
}

impl Summary {
    /// Adds one case.
    pub fn count(&mut self, outcome: Outcome) {
        *self.slot(outcome) += 1;
    }

    /// Adds so many cases.
    pub fn add(&mut self, outcome: Outcome, cases: u32) {
        *self.slot(outcome) += cases;
    }

    /// Cases that were run.
    #[must_use]
    pub fn run(self) -> u32 {
        Outcome::ALL.into_iter().map(|outcome| self.of(outcome)).sum()
    }

    /// Cases with this Outcome.
    #[must_use]
    pub fn of(mut self, outcome: Outcome) -> u32 {
        *self.slot(outcome)
    }

    fn slot(&mut self, outcome: Outcome) -> &mut u32 {
        match outcome {
            Outcome::Pass => &mut self.pass,
            Outcome::Fail => &mut self.fail,
            Outcome::Crash => &mut self.crash,
            Outcome::Hang => &mut self.hang,
            Outcome::Skip => &mut self.skip,
            Outcome::Broken => &mut self.broken,
        }
    }

    /// The exit code for all cases together: 0 all well, 1 one failed, or the kernel crashed or hung, 3 broken, 4 nothing
    /// ran.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        if self.fail + self.crash + self.hang > 0 {
            1
        } else if self.broken + self.not_run > 0 {
            3
        } else if self.pass == 0 {
            4
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_is_that_of_the_design() {
        let with = |outcomes: &[Outcome]| {
            let mut summary = Summary::default();
            outcomes.iter().for_each(|&outcome| summary.count(outcome));
            summary.exit_code()
        };
        assert_eq!(with(&[Outcome::Pass, Outcome::Skip]), 0);
        assert_eq!(with(&[Outcome::Pass, Outcome::Broken, Outcome::Fail]), 1);
        assert_eq!(with(&[Outcome::Crash]), 1);
        assert_eq!(with(&[Outcome::Hang]), 1);
        assert_eq!(with(&[Outcome::Pass, Outcome::Broken]), 3);
        assert_eq!(with(&[Outcome::Skip]), 4);
        assert_eq!(with(&[]), 4);
        assert_eq!(Summary { pass: 1, not_run: 1, ..Summary::default() }.exit_code(), 3);
    }
}
