//! What the newest kernels do that the ones before them did not.

use std::collections::{BTreeMap, BTreeSet};

use bisect::problem::KnownProblems;
use ledger::{Ledger, LedgerError, OnKernel, Problem, Tallied};
use watch::{CaseChange, Difference, newest};

use crate::look::{ChangeRow, News};

/// The newest kernels of which suites are looked at, these, and kernels of each.
const LATEST_MAX: usize = 16;
const SUITES_MAX: usize = 8;
const KERNELS_MAX: usize = 16;

/// What changed, what is worse first.
pub(super) fn changes(ledger: &mut Ledger, problems: &KnownProblems) -> Result<Vec<ChangeRow>, LedgerError> {
    let latest = ledger.tallies(Tallied::Latest(LATEST_MAX))?;
    let suites: BTreeSet<String> = latest.into_iter().map(|tally| tally.suite).collect();
    let mut differences = Vec::new();
    for suite in suites.into_iter().take(SUITES_MAX) {
        differences.extend(newest(&matrix::latest(&suite, KERNELS_MAX, ledger)?));
    }
    let mut changes: Vec<ChangeRow> = differences.iter().flat_map(rows).collect();
    let releases = differences.iter().filter_map(|it| Some((release(it)?, it.after.release.as_str())));
    let before: BTreeMap<&str, &str> = releases.map(|(before, after)| (after, before)).collect();
    changes.extend(problems.all.iter().filter_map(|(problem, _)| new_problem(problem, &before)));
    changes.sort_by(|a, b| (a.news, &a.what).cmp(&(b.news, &b.what)));
    Ok(changes)
}

/// The kernel before.
fn release(difference: &Difference) -> Option<&str> {
    difference.before.as_ref().map(|before| before.release.as_str())
}

fn rows(difference: &Difference) -> Vec<ChangeRow> {
    let before = release(difference).unwrap_or_default();
    let row = |change: &CaseChange| ChangeRow {
        news: News::Case(change.change),
        suite: difference.suite.clone(),
        what: change.case.clone(),
        before: (before.to_owned(), change.before.mark().word().to_owned()),
        after: (difference.after.release.clone(), change.after.mark().word().to_owned()),
        why: change.after.reason.clone(),
        session: change.after.session.clone(),
        case: change.case.clone(),
    };
    difference.changes.iter().map(row).collect()
}

/// A problem that only a newest kernel has, by the kernels before these.
fn new_problem(problem: &Problem, before: &BTreeMap<&str, &str>) -> Option<ChangeRow> {
    let first = &problem.first;
    // A build of a commit says it behind the release.
    let release = first.release.split(" (").next().unwrap_or_default();
    let before = before.get(release).filter(|_| problem.closing.is_none())?;
    let is_elsewhere = |on: &OnKernel| on.failing > 0 && on.release != first.release;
    if problem.kernels.iter().any(is_elsewhere) {
        return None;
    }
    let last = &problem.last;
    Some(ChangeRow {
        news: News::Problem,
        suite: last.suite.clone(),
        what: problem.signature.clone(),
        before: ((*before).to_owned(), "-".to_owned()),
        after: (first.release.clone(), last.outcome.name().to_owned()),
        why: last.reason.clone(),
        session: last.session.clone(),
        case: last.case.clone(),
    })
}
