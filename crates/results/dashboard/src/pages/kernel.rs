//! All of one kernel.

use std::collections::BTreeSet;

use bisect::Changes;
use ledger::{KeptMeasurement, Problem, Tallied, Tally};
use maud::{Markup, html};
use report::bisection::changes_total;
use report::html::{Page, outcome, section, text};
use report::measurement::metrics;
use verdict::problem::Standing;
use watch::against_the_one_before;

use super::news::of_kernel;
use super::{Asked, Failure, table, tally};
use crate::address;
use crate::store::Store;

/// Sessions that are listed.
const SESSIONS_MAX: usize = 200;

/// Changes of its package that are listed.
const CHANGES_MAX: usize = 1000;

/// Kernels among which the one before is looked for.
const KERNELS_MAX: usize = 64;

/// What is new in a kernel, its problems, and its sessions.
pub(crate) fn kernel(store: &mut Store, asked: &Asked) -> Result<Page, Failure> {
    let kernel = asked.kernel.as_str();
    let tallies = store.tallies(Tallied::Kernel(kernel, SESSIONS_MAX))?;
    if tallies.is_empty() {
        return Err(Failure::Unknown(format!("no session ran a kernel {kernel:?}")));
    }
    let suites: BTreeSet<&str> = tallies.iter().map(|tally| tally.suite.as_str()).collect();
    let mut differences = Vec::new();
    for suite in &suites {
        differences.extend(against_the_one_before(&store.grid(suite, KERNELS_MAX)?, kernel));
    }
    let problems = store.problems()?;
    let locators: BTreeSet<&str> = tallies.iter().map(|tally| tally.locator.as_str()).collect();
    let body = html! {
        header {
            h1 { (text(kernel)) }
            p.legend {
                @for locator in locators { code { (text(locator)) } " " }
                a href={ "/runs?kernel=" (address::encoded(kernel)) } { "All Runs" }
            }
        }
        main {
            (section("Against the kernel before", &html! {
                @if differences.is_empty() { p { "No older kernel of this flavour ran the same." } }
                @for difference in &differences { (of_kernel(difference)) }
            }))
            @if let Some(changes) = store.changes(&differences).filter(|changes| !changes.is_empty()) {
                (section("Changelog", &changelog(&changes)))
            }
            (section("Problems", &problems_on(&problems.all, kernel)))
            @if let Some(KeptMeasurement { folder, measurement, .. }) = store.figures(kernel) {
                (section("Figures", &html! {
                    p.legend { "As kiln measured them, kept as " code { (text(folder)) } }
                    (metrics(&measurement))
                }))
            }
            (section("Sessions", &sessions(&tallies)))
        }
    };
    Ok(Page { title: kernel.to_owned(), body })
}

/// What its package says is new since the kernel before.
fn changelog(changes: &Changes) -> Markup {
    html! {
        details {
            summary { "Changes: " (changes_total(changes)) }
            ul { @for entry in changes.entries.iter().take(CHANGES_MAX) { li { (text(entry)) } "\n" } }
            @if changes.count() > CHANGES_MAX { p.note { (changes.count() - CHANGES_MAX) " more are in the package" } }
        }
    }
}

/// The problems that it has, those first that no older kernel had.
fn problems_on(problems: &[(Problem, Standing)], kernel: &str) -> Markup {
    let is_it = |release: &str| release == kernel || release.split(" (").next() == Some(kernel);
    let has = |problem: &&Problem| problem.kernels.iter().any(|on| on.failing > 0 && is_it(&on.release));
    let is_new = |problem: &Problem| {
        problem.kernels.iter().find(|on| on.failing > 0).is_some_and(|first| is_it(&first.release))
    };
    let mut on: Vec<&Problem> = problems.iter().map(|(problem, _)| problem).filter(has).collect();
    on.sort_by_key(|problem| !is_new(problem));
    let rows = html! {
        @for problem in &on {
            tr {
                th scope="row" { a href=(address::problem(&problem.id)) { (text(&problem.signature)) } }
                td { (outcome(problem.last.outcome)) }
                td class=(if is_new(problem) { "worse verdict" } else { "" }) { (if is_new(problem) { "new" } else { "older" }) }
                td data-v=(problem.last.started.as_second()) { (problem.last.started.strftime("%Y-%m-%d %H:%M")) }
            }
            "\n"
        }
    };
    html! {
        @if on.is_empty() { p { "None is known." } }
        @else { (table(&["problem", "outcome", "since", "last seen"], &rows)) }
    }
}

fn sessions(tallies: &[Tally]) -> Markup {
    let rows = html! {
        @for one in tallies {
            tr {
                th scope="row" { a href=(address::session(&one.session)) { (text(&one.session)) } }
                td { a href=(address::matrix(&one.suite)) { (text(&one.suite)) } }
                td { (tally(one.summary)) @if !one.has_ended { " so far" } }
                td data-v=(one.started.as_second()) { (one.started.strftime("%Y-%m-%d %H:%M")) }
            }
            "\n"
        }
    };
    table(&["session", "suite", "Runs", "began"], &rows)
}
