//! Results as a tree.

use std::ops::Range;

use super::problem::Problem;

/// Everything that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Results {
    /// The texts, in the order in which they began: a boot of KUnit, a run of kselftest.
    pub groups: Vec<Level>,
    /// What does not fit together.
    pub problems: Vec<Problem>,
    /// Failures after [`super::TESTS_MAX`] tests, which are not in the tree.
    pub lost_failures: u64,
}

/// The results of one level: of a whole text, or inside one test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Level {
    /// The version line.
    pub version: Option<Version>,
    /// The plan line; it may come late or not at all.
    pub plan: Option<Plan>,
    /// The tests, in the order of their results.
    pub tests: Vec<Test>,
    /// Tests that were planned and are not in `tests`.
    pub missing: u64,
    /// What stood after `Bail out!`: nothing follows on this level.
    pub bail_out: Option<String>,
    /// Numbers of its first line and of the one after its last.
    pub lines: Range<u64>,
}

/// A version line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// `KTAP version N`.
    Ktap(u64),
    /// `TAP version N`.
    Tap(u64),
}

/// A plan line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Tests.
    pub count: u64,
    /// Why everything is skipped: `1..0 # SKIP why`.
    pub skip: Option<String>,
}

/// One test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// Its description; where there is none, what stands after the directive; empty if nothing is known.
    pub name: String,
    /// Its number on its level.
    pub number: Option<u64>,
    /// How it ended.
    pub status: Status,
    /// What stands after `#` on its result line, without the directive.
    pub text: String,
    /// Attributes that KUnit prints: `speed`, `module`, `is_init`.
    pub attributes: Vec<(String, String)>,
    /// Lines that are no results, from the end of the test before it to its own.
    pub log: Vec<String>,
    /// Numbers of its first line and of the one after its last, counted from 0 over all that was read.
    pub lines: Range<u64>,
    /// What is nested in it.
    pub inside: Option<Level>,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// `ok`.
    Pass,
    /// `SKIP`, with `ok` or `not ok`.
    Skip,
    /// It failed and was known to: `ok # XFAIL`, `not ok # XFAIL`, `not ok # TODO`.
    ExpectedFail,
    /// `not ok`.
    Fail,
    /// `TIMEOUT`.
    Timeout,
    /// `ERROR`.
    Error,
    /// It began, or must have, and has no result.
    Unfinished,
}

/// How many tests without tests inside ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// [`Status::Pass`].
    pub pass: u64,
    /// [`Status::Fail`], [`Status::Timeout`] and [`Status::Error`].
    pub fail: u64,
    /// [`Status::Skip`].
    pub skip: u64,
    /// [`Status::ExpectedFail`].
    pub expected_fail: u64,
    /// [`Status::Unfinished`].
    pub unfinished: u64,
    /// Planned and never seen.
    pub missing: u64,
}

impl Status {
    /// Whether the test had a result and it was bad.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Fail | Self::Timeout | Self::Error)
    }

    /// Its name in output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Skip => "skip",
            Self::ExpectedFail => "expected-fail",
            Self::Fail => "fail",
            Self::Timeout => "timeout",
            Self::Error => "error",
            Self::Unfinished => "unfinished",
        }
    }
}

impl Test {
    /// The tests inside; none if it is a single test.
    #[must_use]
    pub fn tests(&self) -> &[Test] {
        self.inside.as_ref().map_or(&[], |inside| &inside.tests)
    }

    /// Whether it or a test inside was bad or did not finish.
    #[must_use]
    pub fn is_bad(&self) -> bool {
        self.status.is_failure() || self.status == Status::Unfinished || self.tests().iter().any(Self::is_bad)
    }
}

impl Level {
    /// Counts all tests that have none inside, and what is missing. A test that failed although nothing
    /// inside did counts too.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts { missing: self.missing, ..Counts::default() };
        for test in &self.tests {
            let inside = test.inside.as_ref().filter(|inside| !inside.tests.is_empty() || inside.missing > 0);
            inside.iter().for_each(|inside| counts.add(inside.counts()));
            let is_own = test.status.is_failure() && !test.tests().iter().any(Test::is_bad);
            if inside.is_none() || is_own {
                *counts.slot(test.status) += 1;
            }
        }
        counts
    }
}

impl Results {
    /// The counts of all groups together.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.groups.iter().for_each(|group| counts.add(group.counts()));
        counts.fail = counts.fail.saturating_add(self.lost_failures);
        counts
    }
}

impl Counts {
    fn slot(&mut self, status: Status) -> &mut u64 {
        match status {
            Status::Pass => &mut self.pass,
            Status::Fail | Status::Timeout | Status::Error => &mut self.fail,
            Status::Skip => &mut self.skip,
            Status::ExpectedFail => &mut self.expected_fail,
            Status::Unfinished => &mut self.unfinished,
        }
    }

    fn add(&mut self, more: Self) {
        self.pass += more.pass;
        self.fail += more.fail;
        self.skip += more.skip;
        self.expected_fail += more.expected_fail;
        self.unfinished += more.unfinished;
        self.missing = self.missing.saturating_add(more.missing);
    }
}
