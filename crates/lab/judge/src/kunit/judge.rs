//! The Outcome of one test.

use console::BootTrouble;

use super::console::Boot;
use crate::boot::boot_outcome;
use crate::kernel_report::KernelReport;
use crate::ktap::{Status, Test, diagnostic};
use crate::outcome::{Blame, Outcome};

/// Lines of evidence that are kept.
const EVIDENCE_MAX: usize = 100;

/// What KUnit prints of a test that it gave up waiting for (`lib/kunit/try-catch.c`).
const TIMED_OUT: &str = ": try timed out";

/// Panics of a kernel that has nothing to boot into; its tests are over then.
const NO_USER_SPACE: [&str; 3] = ["VFS: Unable to mount root fs", "No working init found", "Requested init "];

/// The conclusion about a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) outcome: Outcome,
    pub(super) blame: Option<Blame>,
    pub(super) reason: String,
    pub(super) evidence: Vec<String>,
}

impl Verdict {
    pub(super) fn new(outcome: Outcome, reason: impl Into<String>) -> Self {
        Self { outcome, blame: None, reason: reason.into(), evidence: Vec::new() }
    }

    pub(super) fn broken(blame: Blame, reason: impl Into<String>) -> Self {
        Self { blame: Some(blame), ..Self::new(Outcome::Broken, reason) }
    }

    pub(super) fn with(self, evidence: &[String]) -> Self {
        Self { evidence: evidence.iter().take(EVIDENCE_MAX).cloned().collect(), ..self }
    }
}

/// Judges `test`, which has no tests inside that say why. The first bad thing is the cause: what the kernel
/// said about itself comes before what the test saw of it.
pub(super) fn judge(test: &Test, unexpected: Option<&KernelReport>, boot: &Boot) -> Verdict {
    match (test.status, unexpected) {
        (Status::Unfinished, report) => unfinished(report, boot).with_log(test, report),
        (_, Some(report)) => Verdict::new(Outcome::Fail, &report.title).with(&report.lines),
        (Status::Pass | Status::ExpectedFail, None) => Verdict::new(Outcome::Pass, ""),
        (Status::Skip, None) => Verdict::new(Outcome::Skip, or(&test.text, "it gives no reason")),
        (Status::Fail, None) => failed(test),
        (Status::Timeout, None) => {
            Verdict::new(Outcome::Hang, or(&test.text, "it timed out")).with(&telling(test))
        }
        (Status::Error, None) => {
            Verdict::broken(Blame::Case, or(&test.text, "it could not run")).with(&telling(test))
        }
    }
}

impl Verdict {
    /// A report shows more than the log around it.
    fn with_log(self, test: &Test, report: Option<&KernelReport>) -> Self {
        let log = || test.log[test.log.len().saturating_sub(EVIDENCE_MAX)..].to_vec();
        let evidence = report.map_or_else(log, |report| report.lines.clone());
        self.with(&evidence)
    }
}

fn failed(test: &Test) -> Verdict {
    let lines = telling(test);
    let timed_out = lines.iter().any(|line| line.ends_with(TIMED_OUT));
    let outcome = if timed_out { Outcome::Hang } else { Outcome::Fail };
    let first = lines.iter().find(|line| is_failure(line)).or(lines.first());
    let reason = first.map(|line| without_name(line).to_string());
    let otherwise = if test.text.is_empty() { "it gives no reason" } else { &test.text };
    Verdict::new(outcome, reason.unwrap_or_else(|| otherwise.to_string())).with(&lines)
}

/// The test that ran when the results ended.
fn unfinished(report: Option<&KernelReport>, boot: &Boot) -> Verdict {
    let title = |otherwise: String| report.map_or(otherwise, |report| report.title.clone());
    match boot {
        Boot::Failed(failure) if !is_past_tests(boot) => {
            let (outcome, blame) = boot_outcome(&failure.trouble);
            Verdict { blame, ..Verdict::new(outcome, title(why(&failure.trouble))) }
        }
        Boot::Failed(_) | Boot::Up { .. } | Boot::Never => {
            let why = "its result is missing from the console, although the kernel continued";
            Verdict::broken(Blame::Machine, title(why.to_string()))
        }
    }
}

/// Whether the kernel went past its tests: they run before it looks for user space.
pub(super) fn is_past_tests(boot: &Boot) -> bool {
    match boot {
        Boot::Up { .. } => true,
        Boot::Never => false,
        Boot::Failed(failure) => match &failure.trouble {
            BootTrouble::Panic(title) => NO_USER_SPACE.iter().any(|start| title.starts_with(start)),
            BootTrouble::NoControlPort { .. } | BootTrouble::AgentDied(_) | BootTrouble::Protocol(_) => true,
            BootTrouble::Reset
            | BootTrouble::Fault(_)
            | BootTrouble::NoConsole { .. }
            | BootTrouble::Hang { .. }
            | BootTrouble::Late { .. }
            | BootTrouble::NotStarted(_)
            | BootTrouble::Unclonable(_)
            | BootTrouble::Machine(_)
            | BootTrouble::Interrupted => false,
        },
    }
}

fn why(trouble: &BootTrouble) -> String {
    match trouble {
        BootTrouble::Panic(title) => format!("Kernel panic: {title}"),
        BootTrouble::Hang { seconds, .. } => {
            format!("the kernel stopped in this test and said nothing for {seconds} s")
        }
        BootTrouble::Late { seconds, .. } => {
            format!("the test did not end within the {seconds} s that a boot may take")
        }
        other => other.to_string(),
    }
}

/// What the test itself said, from its first diagnostic on; all of its log if it said nothing.
fn telling(test: &Test) -> Vec<String> {
    let start = test.log.iter().position(|line| is_failure(line));
    let own = || test.log.iter().position(|line| line.trim_start().starts_with("# "));
    let start = start.or_else(own).unwrap_or(0);
    test.log[start..].iter().map(|line| line.trim_end().to_string()).collect()
}

fn is_failure(line: &str) -> bool {
    line.contains(": EXPECTATION FAILED at ") || line.contains(": ASSERTION FAILED at ")
}

/// The text of `# name: text`; a suite that cannot begin puts a second `# ` before it.
fn without_name(line: &str) -> &str {
    let line = line.trim_start();
    let text = diagnostic(line).map_or(line, |(_, text)| text);
    text.trim_start_matches(['#', ' '])
}

fn or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.is_empty() { otherwise } else { text }
}
