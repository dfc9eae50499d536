//! Runs of all sessions.

use ledger::KnownRun;
use maud::{Markup, html};
use report::html::{Page, text};

use super::{Asked, Failure};
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
        main { (table(&found.runs)) }
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
pub(super) fn table(runs: &[KnownRun]) -> Markup {
    html! {
        div.wide {
            table class="metrics sortable searchable" {
                thead {
                    tr {
                        @for head in ["case", "outcome", "kernel", "suite"] { th scope="col" { (head) } }
                        th scope="col" class="figure" { "time" }
                        th scope="col" { "began" }
                        th scope="col" class="spared" { "why" }
                    }
                }
                tbody { @for run in runs { (row(run)) } }
            }
        }
    }
}

fn row(run: &KnownRun) -> Markup {
    let seconds = run.duration.as_secs_f64();
    html! {
        tr {
            th scope="row" { a href=(address(run)) { (text(&run.case)) } }
            td { span class={ "outcome " (run.outcome.name()) } { (run.outcome.name()) } }
            td { (text(run.release.as_ref().unwrap_or(&run.locator))) }
            td { (text(&run.suite)) }
            td.figure data-v=(seconds) { (format!("{seconds:.3} s")) }
            td data-v=(run.started.as_second()) { (run.started.strftime("%Y-%m-%d %H:%M")) }
            td.spared { (text(&run.reason)) }
        }
        "\n"
    }
}

/// Where a Run is.
pub(super) fn address(run: &KnownRun) -> String {
    format!("/session/{}/{}", encoded(&run.session), encoded(&run.case))
}

fn form(asked: &Asked) -> Markup {
    let fields = [
        ("kernel", &asked.kernel, "deb:6.1.*"),
        ("suite", &asked.suite, "smoke"),
        ("case", &asked.case, "fs/*"),
        ("outcome", &asked.outcome, "fail,crash"),
    ];
    html! {
        form.filter action="/runs" method="get" {
            @for (name, value, example) in fields {
                label { (name) input name=(name) value=(text(value)) placeholder=(example); }
            }
            button { "Show" }
        }
    }
}

/// The same as in the address that was asked.
fn words(asked: &Asked) -> String {
    let fields = [
        ("kernel", &asked.kernel),
        ("suite", &asked.suite),
        ("case", &asked.case),
        ("outcome", &asked.outcome),
    ];
    let given = fields.iter().filter(|(_, value)| !value.is_empty());
    given.map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&")
}

/// A text as a part of an address, with its slashes.
pub(super) fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
            _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
