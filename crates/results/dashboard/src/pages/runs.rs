//! Runs of all sessions.

use ledger::KnownRun;
use maud::{Markup, html};
use report::html::{Page, outcome, text};
use report::seconds;

use super::{Asked, Failure, table};
use crate::address::{self, encoded};
use crate::store::Store;

/// Runs on one page; the page of a browser is still quick then.
const RUNS_MAX: usize = 1000;

/// The Runs that are asked for, with a form to ask for others.
pub(crate) fn runs(store: &mut Store, asked: &Asked) -> Result<Page, Failure> {
    let found = store.runs(&asked.query(Some(RUNS_MAX))?)?;
    let (shown, total) = (found.runs.len(), found.total);
    let body = html! {
        header {
            h1 { (total) " Runs" }
            (form(asked))
            p.legend {
                @if shown < total { "The newest " (shown) " are shown. " }
                a href={ "/runs.csv?" (words(asked)) } { "All as CSV" }
            }
        }
        main { (table_of(&found.runs)) }
    };
    Ok(Page { title: format!("{total} Runs"), body })
}

/// All of them for programs.
pub(crate) fn runs_csv(store: &mut Store, asked: &Asked) -> Result<String, Failure> {
    let found = store.runs(&asked.query(None)?)?;
    let mut out = Vec::new();
    report::export::runs().csv(&found.runs, &mut out).map_err(|error| Failure::Broken(error.to_string()))?;
    String::from_utf8(out).map_err(|error| Failure::Broken(error.to_string()))
}

/// A table of Runs, of which each leads to its page.
pub(super) fn table_of(runs: &[KnownRun]) -> Markup {
    let rows = html! {
        @for run in runs { (row(run)) }
    };
    table(&["case", "outcome", "kernel", "suite", "#time", "began", "-why"], &rows)
}

fn row(run: &KnownRun) -> Markup {
    let kernel = run.kernel_name();
    html! {
        tr {
            th scope="row" { a href=(address::run(&run.session, &run.case)) { (text(&run.case)) } }
            td { (outcome(run.outcome)) }
            td { a href=(address::kernel(kernel)) { (text(kernel)) } }
            td { (text(&run.suite)) }
            td.figure data-v=(run.duration.as_secs_f64()) { (seconds(run.duration)) }
            td data-v=(run.started.as_second()) { (run.started.strftime("%Y-%m-%d %H:%M")) }
            td.spared { (text(&run.reason)) }
        }
        "\n"
    }
}

fn form(asked: &Asked) -> Markup {
    let fields = asked.fields().into_iter().zip(["deb:6.1.*", "smoke", "fs/*", "fail,crash"]);
    html! {
        form.filter action="/runs" method="get" {
            @for ((name, value), example) in fields {
                label { (name) input name=(name) value=(text(value)) placeholder=(example); }
            }
            button { "Show" }
        }
    }
}

/// The same as in the address that was asked.
fn words(asked: &Asked) -> String {
    let given = asked.fields().into_iter().filter(|(_, value)| !value.is_empty());
    given.map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&")
}
