//! A case over time.

use std::collections::BTreeMap;

use judge::{Outcome, Summary};
use ledger::{KnownRun, RunsQuery};
use maud::{Markup, html};
use report::history::{Moment, chart};
use report::html::{Page, section, text};

use super::runs::table_of;
use super::{Asked, Failure, pattern, table, tally};
use crate::address;
use crate::store::Store;

/// Runs on the page; the page of a browser is still quick then.
const RUNS_MAX: usize = 500;

/// How a case of a suite went, lately and on which kernels.
pub(crate) fn case(store: &mut Store, asked: &Asked) -> Result<Page, Failure> {
    let Asked { suite, case, .. } = asked;
    let query = RunsQuery {
        suite: pattern(suite)?,
        case: pattern(case)?,
        limit: Some(RUNS_MAX),
        ..RunsQuery::default()
    };
    let mut runs = store.runs(&query)?.runs;
    // A name may look like a pattern.
    runs.retain(|run| run.case == *case && run.suite == *suite);
    if runs.is_empty() {
        return Err(Failure::Unknown(format!("no session of {suite:?} has a case {case:?}")));
    }
    let moments: Vec<Moment<'_>> = runs.iter().rev().map(moment).collect();
    let body = html! {
        header {
            h1 { (text(case)) }
            p.legend { "A case of " a href=(address::matrix(suite)) { (text(suite)) } ": its newest " (runs.len()) " Runs" }
        }
        main {
            (section("How long it took", &chart(&moments)))
            (section("Kernels", &kernels(&runs)))
            (section("Runs", &table_of(&runs)))
        }
    };
    Ok(Page { title: format!("{case} of {suite}"), body })
}

fn moment(run: &KnownRun) -> Moment<'_> {
    let KnownRun { started, outcome, duration, .. } = *run;
    Moment { started, kernel: run.kernel_name(), outcome, duration }
}

/// How it went on each kernel, those that ran it last first.
fn kernels(runs: &[KnownRun]) -> Markup {
    let mut known: BTreeMap<&str, (Summary, usize)> = BTreeMap::new();
    for (age, run) in runs.iter().enumerate() {
        known.entry(run.kernel_name()).or_insert((Summary::default(), age)).0.count(run.outcome);
    }
    let mut known: Vec<(&str, (Summary, usize))> = known.into_iter().collect();
    known.sort_by_key(|(_, (_, age))| *age);
    let rows = html! {
        @for (kernel, (summary, _)) in known {
            tr {
                th scope="row" { a href=(address::kernel(kernel)) { (text(kernel)) } }
                td { (tally(summary)) }
                td.figure { (summary.of(Outcome::Pass)) " of " (summary.run()) }
            }
            "\n"
        }
    };
    table(&["kernel", "Runs", "#passed"], &rows)
}
