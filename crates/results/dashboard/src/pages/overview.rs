//! What there is, and what runs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use ledger::{Tallied, Tally};
use maud::{Markup, html};
use report::clock;
use report::html::{Page, section, text};

use super::{Asked, Failure, bisection, news, table, tally};
use crate::address;
use crate::store::Store;

/// Sessions that are listed.
const SESSIONS_MAX: usize = 50;

/// Kernels beside suites.
const KERNELS_MAX: usize = 16;

/// Suites beside kernels: more would not fit beside each other.
const SUITES_MAX: usize = 8;

/// What runs, what changed, kernels by suites, and the newest sessions.
pub(crate) fn overview(store: &mut Store, _asked: &Asked) -> Result<Page, Failure> {
    let newest = store.tallies(Tallied::Newest(SESSIONS_MAX))?;
    let latest = store.tallies(Tallied::Latest(KERNELS_MAX))?;
    let news = news::since_yesterday(store, &latest, Timestamp::now())?;
    let (ended, running): (Vec<&Tally>, Vec<&Tally>) = newest.iter().partition(|tally| tally.has_ended);
    let body = html! {
        header {
            h1 { "kiln" }
            p.legend { "What runs, what changed, and the newest " (newest.len()) " sessions." }
        }
        main {
            @if !running.is_empty() { (section("Not at their end", &sessions(store, &running))) }
            @if let Some(bisections) = bisection::running(store) { (section("Bisections that run", &bisections)) }
            (section("Changed since yesterday", &news))
            @if !latest.is_empty() { (section("Kernels by suites", &kernels(&latest))) }
            (section("Sessions", &sessions(store, &ended)))
        }
    };
    Ok(Page { title: "Overview".to_owned(), body })
}

/// What each suite came to on each kernel, those that were tested last first.
fn kernels(latest: &[Tally]) -> Markup {
    let mut suites: BTreeMap<&str, usize> = BTreeMap::new();
    let mut kernels: Vec<&str> = Vec::new();
    for tally in latest {
        *suites.entry(&tally.suite).or_default() += 1;
        if !kernels.contains(&tally.kernel_name()) {
            kernels.push(tally.kernel_name());
        }
    }
    let mut common: Vec<(&str, usize)> = suites.into_iter().collect();
    common.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let suites: BTreeSet<&str> = common.iter().take(SUITES_MAX).map(|(suite, _)| *suite).collect();
    let cell = |kernel: &str, suite: &str| {
        let found = latest.iter().find(|tally| tally.kernel_name() == kernel && tally.suite == suite);
        html! { td { @if let Some(found) = found { a href=(address::session(&found.session)) { (tally(found.summary)) } } } }
    };
    html! {
        div.wide {
            table class="metrics sortable" {
                thead {
                    tr {
                        th scope="col" { "kernel" }
                        @for suite in &suites { th scope="col" { (text(suite)) } }
                    }
                }
                tbody {
                    @for kernel in &kernels {
                        tr {
                            th scope="row" { a href=(address::kernel(kernel)) { (text(kernel)) } }
                            @for suite in &suites { (cell(kernel, suite)) }
                        }
                        "\n"
                    }
                }
            }
        }
        p.legend {
            "Matrix of "
            @for (number, suite) in suites.iter().enumerate() {
                @if number > 0 { ", " }
                a href=(address::matrix(suite)) { (text(suite)) }
            }
            @if common.len() > suites.len() { "; " (common.len() - suites.len()) " other suites ran on fewer kernels" }
        }
    }
}

/// A line for each session; of those that run with how far they are.
fn sessions(store: &mut Store, tallies: &[&Tally]) -> Markup {
    let rows = html! {
        @for tally in tallies {
            tr {
                th scope="row" { a href=(address::session(&tally.session)) { (text(&tally.session)) } }
                td { a href=(address::kernel(tally.kernel_name())) { (text(tally.kernel_name())) } }
                td { (text(&tally.suite)) }
                td { @if !tally.has_ended { (progress(store, tally)) } (super::tally(tally.summary)) }
                td data-v=(tally.started.as_second()) { (tally.started.strftime("%Y-%m-%d %H:%M:%S")) }
            }
            "\n"
        }
    };
    table(&["session", "kernel", "suite", "Runs", "began"], &rows)
}

/// How many of its cases a session has run, and how long the others may take.
fn progress(store: &mut Store, tally: &Tally) -> Markup {
    let elapsed = Duration::try_from(Timestamp::now().duration_since(tally.started)).unwrap_or_default();
    let pace = store.pace(&tally.session).map(|pace| (pace.done(), pace.left(elapsed)));
    let ((done, cases), left) = pace.unwrap_or_else(|| {
        let planned = store.session(&tally.session).and_then(|past| past.session().ok());
        let done = usize::try_from(tally.summary.run()).unwrap_or_default();
        ((done, planned.map_or(0, |session| session.cases.len())), None)
    });
    html! {
        @if cases > 0 { progress aria-label="cases that have run" max=(cases) value=(done) {} " " (done) " of " (cases) }
        @if let Some(left) = left { ", " (clock(left)) " left" }
        @if pace.is_none() { ", stopped" }
        ": "
    }
}
