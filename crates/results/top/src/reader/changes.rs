//! What the newest kernel of a flavour does that the one before it did not.

use std::collections::{BTreeMap, BTreeSet};

use kernel::version::{compare, text};
use ledger::{KnownRun, Problem};
use matrix::{Cell, Column, Grid, Row};
use watch::{CaseChange, Difference, difference};

use crate::look::{ChangeRow, News};

/// What is comparable: the suite, the kernel parameters, the series and the flavour.
type Group<'r> = (&'r str, &'r str, &'r str, String);

/// Who may break a Run so that it says nothing about the kernel.
const OTHERS: [&str; 3] = ["host", "kiln", "machine"];

/// What changed, what is worse first. The Runs are in the order of the ledger, the newest session first.
pub(super) fn changes(runs: &[KnownRun], problems: &[Problem]) -> Vec<ChangeRow> {
    let mut groups: BTreeMap<Group<'_>, Vec<&KnownRun>> = BTreeMap::new();
    for run in runs.iter().filter(|run| says_something(run)) {
        let Some(release) = &run.release else { continue };
        let parameters = run.parameters.as_deref().unwrap_or_default();
        let group = (run.suite.as_str(), parameters, text::series(release), text::flavour(release));
        groups.entry(group).or_default().push(run);
    }
    let mut changes = Vec::new();
    let mut newest = BTreeMap::new();
    for runs in groups.values() {
        let Some((before, after)) = last_two(runs) else { continue };
        newest.insert(after, before);
        let grid = grid(runs, [before, after]);
        changes.extend(difference(&grid, Some(before), after).iter().flat_map(rows));
    }
    changes.extend(problems.iter().filter_map(|problem| new_problem(problem, &newest)));
    changes.sort_by(|a, b| (a.news, &a.what).cmp(&(b.news, &b.what)));
    changes
}

fn says_something(run: &KnownRun) -> bool {
    !run.blame.as_deref().is_some_and(|blame| OTHERS.contains(&blame))
}

/// The last release but one, and the last.
fn last_two<'r>(runs: &[&'r KnownRun]) -> Option<(&'r str, &'r str)> {
    let releases: BTreeSet<&str> = runs.iter().filter_map(|run| run.release.as_deref()).collect();
    let mut releases: Vec<&str> = releases.into_iter().collect();
    releases.sort_by(|a, b| compare(a, b));
    match releases[..] {
        [.., before, after] => Some((before, after)),
        _ => None,
    }
}

/// The latest Run of each case on two releases.
fn grid(runs: &[&KnownRun], releases: [&str; 2]) -> Grid {
    let mut rows: BTreeMap<(bool, &str), Row> = BTreeMap::new();
    for run in runs {
        let at = releases.iter().position(|release| run.release.as_deref() == Some(*release));
        let Some(at) = at else { continue };
        let row = rows.entry((!run.is_boot, &run.case)).or_insert_with(|| Row {
            case: run.case.clone(),
            is_boot: run.is_boot,
            cells: vec![None, None],
        });
        row.cells[at].get_or_insert_with(|| Cell::of((*run).clone()));
    }
    let column = |release: &str| Column {
        kernel: release.to_owned(),
        release: release.to_owned(),
        parameters: String::new(),
    };
    Grid {
        suite: runs.first().map(|run| run.suite.clone()).unwrap_or_default(),
        setting: String::new(),
        columns: releases.map(column).into(),
        rows: rows.into_values().collect(),
    }
}

fn rows(difference: &Difference) -> Vec<ChangeRow> {
    let Some(before) = &difference.before else { return Vec::new() };
    let row = |change: &CaseChange| ChangeRow {
        news: News::Case(change.change),
        suite: difference.suite.clone(),
        what: change.case.clone(),
        before: (before.release.clone(), change.before.mark().word().to_owned()),
        after: (difference.after.release.clone(), change.after.mark().word().to_owned()),
        why: change.after.reason.clone(),
        session: change.after.session.clone(),
        case: change.case.clone(),
    };
    difference.changes.iter().map(row).collect()
}

/// A problem that was first seen on the newest kernel of a flavour, by the kernels before these.
fn new_problem(problem: &Problem, newest: &BTreeMap<&str, &str>) -> Option<ChangeRow> {
    let first = &problem.first;
    // A build of a commit says it behind the release.
    let release = first.release.split(" (").next().unwrap_or_default();
    let before = newest.get(release).filter(|_| problem.closing.is_none())?;
    let is_elsewhere = |on: &ledger::OnKernel| on.failing > 0 && on.release != first.release;
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
