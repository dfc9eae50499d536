//! A check as b4 shows it in a review: a JSON array with an object for each column, `tool`, `status` (`pass`, `warn` or `fail`),
//! `summary` and `details`.

use std::io::{self, Write};

use check::{CaseChange, Change, CostChange, Culprit, NewFinding, SeriesCheck};
use serde::Serialize;

use super::{analysis, statement};
use crate::json::document;
use crate::safe::safe_line;

/// A line of b4.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckResult {
    tool: &'static str,
    status: Status,
    summary: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    details: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Status {
    Pass,
    Warn,
    Fail,
}

/// What b4 shows of a check; only what came of the last patch if it `is_patch`.
#[must_use]
pub fn results(check: &SeriesCheck, is_patch: bool) -> Vec<CheckResult> {
    let builds = builds(check, is_patch);
    let analysis = findings(check, is_patch);
    if is_patch {
        return [Some(builds), analysis].into_iter().flatten().collect();
    }
    let unchecked = check.unchecked.iter().flat_map(|why| not_checked(why));
    [Some(builds), analysis, cases(check), costs(check)].into_iter().flatten().chain(unchecked).collect()
}

/// What b4 shows where nothing could be checked.
#[must_use]
pub fn not_checked(why: &str) -> Vec<CheckResult> {
    let summary = format!("not checked: {}", safe_line(why));
    vec![CheckResult { tool: "kiln", status: Status::Warn, summary, details: String::new() }]
}

/// Writes what b4 reads.
///
/// # Errors
///
/// When `out` does not take it.
pub fn json(results: &[CheckResult], out: impl Write) -> io::Result<()> {
    document(&results, out)
}

fn builds(check: &SeriesCheck, is_patch: bool) -> CheckResult {
    let total = check.patches.len();
    let first = if is_patch { total.saturating_sub(1) } else { 0 };
    let mut status = Status::Pass;
    let (mut summary, mut details) = (Vec::new(), Vec::new());
    for (index, patch) in check.patches.iter().enumerate().skip(first) {
        let complaints = statement::complaints(patch);
        if complaints.is_empty() {
            continue;
        }
        let is_built = patch.build.locator().is_some();
        status = status.max(if is_built { Status::Warn } else { Status::Fail });
        summary.push(format!("{}/{total} {}", index + 1, statement::built(patch)));
        details.extend(complaints);
    }
    for also in &check.also {
        let patches = || also.patches.iter().skip(first);
        let complaints: Vec<String> = patches().flat_map(statement::complaints).collect();
        if complaints.is_empty() {
            continue;
        }
        let is_built = patches().all(|patch| patch.build.locator().is_some());
        status = status.max(if is_built { Status::Warn } else { Status::Fail });
        summary.push(statement::also(also));
        details.extend(complaints);
    }
    let summary =
        if summary.is_empty() { "builds without new warnings".to_owned() } else { summary.join("; ") };
    CheckResult { tool: "kiln build", status, summary, details: details.join("\n") }
}

/// What static analysis finds; only in the last patch if it `is_patch`.
fn findings(check: &SeriesCheck, is_patch: bool) -> Option<CheckResult> {
    let mut found = check.analysis.clone()?;
    let total = check.patches.len();
    found.new.retain(|new| !is_patch || new.patch == Some(total));
    let is_silent = found.tools.is_empty();
    let status =
        if is_silent || found.new.iter().any(NewFinding::counts) { Status::Warn } else { Status::Pass };
    let new = analysis::new(&found, total);
    let new = new.iter().map(|(word, finding)| format!("{word} {}", analysis::line(finding)));
    let details: Vec<String> = new.chain(analysis::omissions(&found)).collect();
    Some(CheckResult {
        tool: "kiln analysis",
        status,
        summary: analysis::counted(&found),
        details: details.join("\n"),
    })
}

fn cases(check: &SeriesCheck) -> Option<CheckResult> {
    let tests = check.tests.as_ref()?;
    let status = tests.changes.iter().map(|change| status(change.change)).max().unwrap_or(Status::Pass);
    let line = |change: &CaseChange| {
        let (before, after) = (statement::seen(&change.before), statement::seen(&change.after));
        let culprit = blamed(change.culprit.as_ref(), check);
        let name = safe_line(&change.case);
        format!("{}: {name}: before {before}; now {after}{culprit}", statement::name(change.change))
    };
    let details: Vec<String> = tests.changes.iter().map(line).collect();
    Some(CheckResult {
        tool: "kiln cases",
        status,
        summary: statement::counted(tests),
        details: details.join("\n"),
    })
}

fn costs(check: &SeriesCheck) -> Option<CheckResult> {
    if check.operations == 0 {
        return None;
    }
    let status = check.costs.iter().map(|change| status(change.change)).max().unwrap_or(Status::Pass);
    let line = |change: &CostChange| {
        let culprit = blamed(change.culprit.as_ref(), check);
        format!("{} {}{culprit}", safe_line(&change.operation), statement::difference(change))
    };
    let details: Vec<String> = check.costs.iter().map(line).collect();
    let summary = statement::operations(check);
    Some(CheckResult { tool: "kiln costs", status, summary, details: details.join("\n") })
}

/// Who did it, behind what was done.
fn blamed(culprit: Option<&Culprit>, check: &SeriesCheck) -> String {
    culprit
        .map(|culprit| format!(", {}", statement::culprit(culprit, check.patches.len())))
        .unwrap_or_default()
}

fn status(change: Change) -> Status {
    match change {
        Change::Worse => Status::Fail,
        Change::Different | Change::Undecided => Status::Warn,
        Change::Better => Status::Pass,
    }
}
