//! What changed lately: problems that are new, and cases that are not as on the kernel before.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use ledger::{Problem, Tally};
use maud::{Markup, html};
use report::html::{outcome, text};
use watch::{CaseChange, Change, Difference, against_the_one_before};

use super::{Failure, table};
use crate::address;
use crate::store::Store;

/// What counts as lately.
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// Suites that are looked at, and kernels of each.
const SUITES_MAX: usize = 8;
const KERNELS_MAX: usize = 8;

/// Lines of each kind.
const LINES_MAX: usize = 100;

/// What changed in the day before `now`, among kernels with these newest sessions.
pub(super) fn since_yesterday(
    store: &mut Store,
    latest: &[Tally],
    now: Timestamp,
) -> Result<Markup, Failure> {
    let since = now.saturating_sub(DAY).unwrap_or(Timestamp::MIN);
    let problems = store.problems()?;
    let new: Vec<&Problem> = problems
        .all
        .iter()
        .map(|(problem, _)| problem)
        .filter(|problem| problem.first.started >= since)
        .collect();
    let fresh: Vec<&Tally> = latest.iter().filter(|tally| tally.started >= since).collect();
    let suites: BTreeSet<&str> = fresh.iter().map(|tally| tally.suite.as_str()).collect();
    let mut changes = Vec::new();
    for suite in suites.into_iter().take(SUITES_MAX) {
        let grid = store.grid(suite, KERNELS_MAX)?;
        let kernels = fresh.iter().filter(|tally| tally.suite == suite).map(|tally| tally.kernel_name());
        changes.extend(kernels.flat_map(|kernel| against_the_one_before(&grid, kernel)));
    }
    changes.retain(|difference| !difference.changes.is_empty());
    Ok(html! {
        @if new.is_empty() && changes.is_empty() { p { "Nothing: no new problem, and no case differs from the kernel before." } }
        @if !new.is_empty() { (new_problems(&new)) }
        @for difference in &changes { (of_kernel(difference)) }
    })
}

fn new_problems(problems: &[&Problem]) -> Markup {
    let rows = html! {
        @for problem in problems.iter().take(LINES_MAX) {
            tr {
                th scope="row" { a href=(address::problem(&problem.id)) { (text(&problem.signature)) } }
                td { (outcome(problem.last.outcome)) }
                td { a href=(address::kernel(&problem.first.release)) { (text(&problem.first.release)) } }
            }
            "\n"
        }
    };
    html! {
        (table(&["new problem", "outcome", "first on"], &rows))
        @if problems.len() > LINES_MAX { p.note { (problems.len() - LINES_MAX) " more are on the page of problems" } }
    }
}

/// What differs on a kernel from the one before it.
pub(super) fn of_kernel(difference: &Difference) -> Markup {
    let Difference { suite, before, after, changes, .. } = difference;
    let parameters =
        if after.parameters.is_empty() { String::new() } else { format!(" with {}", after.parameters) };
    let rows = html! {
        @for change in changes.iter().take(LINES_MAX) { (line(suite, change)) }
    };
    html! {
        h3 {
            (text(suite)) " on " (text(&after.release)) (text(parameters))
            @if let Some(before) = before { ", against " (text(&before.release)) }
        }
        @if changes.is_empty() { p { "No case differs." } }
        @else { (table(&["case", "change", "before", "now", "why"], &rows)) }
        @if changes.len() > LINES_MAX { p.note { (changes.len() - LINES_MAX) " more are in the matrix" } }
    }
}

fn line(suite: &str, change: &CaseChange) -> Markup {
    let CaseChange { case, change, before, after, .. } = change;
    let word = match change {
        Change::Worse => "worse",
        Change::Different => "different",
        Change::Better => "better",
    };
    let class = if *change == Change::Different { "undecided" } else { word };
    html! {
        tr class=(class) {
            th scope="row" { a href=(address::case(suite, case)) { (text(case)) } }
            td.verdict { (word) }
            @for cell in [before, after] {
                td { a href=(address::run(&cell.session, case)) { (cell.mark().word()) } }
            }
            td { (text(&after.reason)) }
        }
        "\n"
    }
}
