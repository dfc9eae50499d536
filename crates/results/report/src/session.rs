//! A session as one file for a browser: the verdict, what went wrong, and all cases.
//!
//! * [`failures`]: what shows that a Run went wrong; [`cases`]: the table of all Runs

mod cases;
mod failures;

use std::time::Duration;

use judge::{Run, Summary};
use lab::event::Session;
use lab::request::words::call;
use ledger::{Past, PastError};
use maud::{Markup, html};
use script::Figure;

use crate::html::{Page, command, facts, section, short, text};
use crate::words::{kernel, span, tally_text};

/// A session that was kept, with what its page shows.
#[derive(Debug, Clone, Copy)]
struct SessionPage<'a> {
    /// What was run.
    session: &'a Session,
    /// All Runs, that of a boot first.
    runs: &'a [Run],
    /// What its experiment recorded.
    figures: &'a [Figure],
    /// By which `kiln show` and `kiln replay` find it.
    name: &'a str,
    /// How long it took, if it came to its end.
    took: Option<Duration>,
}

impl SessionPage<'_> {
    fn page(self) -> Page {
        Page { title: title(self), body: body(self) }
    }
}

/// The page about a session that was kept, or about one Run of it, which `kiln show` finds by this name.
///
/// # Errors
///
/// When its document cannot be read.
pub fn kept(past: &Past, run: Option<&Run>, name: &str) -> Result<Page, PastError> {
    let session = past.session()?;
    // Without them the Runs say what there is to say.
    let figures = past.result().ok().flatten().map(|result| result.figures).unwrap_or_default();
    let (session, runs) = match run {
        Some(run) => (Session { cases: vec![run.case.clone()], ..session }, vec![run.clone()]),
        None => (session, past.runs()),
    };
    let shown = SessionPage { session: &session, runs: &runs, figures: &figures, name, took: past.took() };
    Ok(shown.page())
}

/// The verdict.
fn title(shown: SessionPage<'_>) -> String {
    let SessionPage { session, runs, .. } = shown;
    let mut summary = Summary::default();
    runs.iter().for_each(|run| summary.count(run.outcome));
    let counted = runs.iter().filter(|run| !run.is_boot).count();
    summary.not_run = u32::try_from(session.cases.len().saturating_sub(counted)).unwrap_or(u32::MAX);
    format!("{} on {}: {}", short(&session.suite), short(&kernel(session)), tally_text(summary))
}

fn body(shown: SessionPage<'_>) -> Markup {
    let SessionPage { session, runs, figures, took, .. } = shown;
    let failures: Vec<(usize, &Run)> =
        runs.iter().enumerate().filter(|(_, run)| !run.outcome.is_well()).collect();
    html! {
        header {
            h1 { (text(title(shown))) }
            // What another host ran is a stranger's, and nothing to be pasted.
            @if session.origin.is_none() && !session.command.is_empty() { (command(&call(&session.command))) }
            @if took.is_none() { p.note { "note: this session did not come to its end" } }
            (known(shown))
        }
        "\n"
        main {
            @if !failures.is_empty() { (section("What went wrong", &failures::all(&failures, shown))) }
            @if !figures.is_empty() { (section("Figures", &figures_table(figures))) }
            (section("All cases", &cases::table(runs)))
        }
    }
}

/// What is known of it as a whole.
fn known(shown: SessionPage<'_>) -> Markup {
    let SessionPage { session, took, name, .. } = shown;
    let host = session.origin.as_ref().map(|origin| format!("{}, as {}", origin.host, origin.session));
    facts(&[
        ("kernel", kernel(session)),
        ("source", session.provenance.clone()),
        ("machine", session.machine.clone()),
        ("run on", host.unwrap_or_default()),
        ("began", format!("{}, kiln {}", session.started.strftime("%Y-%m-%d %H:%M:%S UTC"), session.kiln)),
        ("took", took.map(span).unwrap_or_default()),
        ("session", name.to_owned()),
    ])
}

/// What an experiment recorded.
fn figures_table(figures: &[Figure]) -> Markup {
    html! {
        div.wide {
            table class="metrics sortable" {
                thead { tr { th scope="col" { "metric" } th scope="col" class="figure" { "value" } } }
                tbody {
                    @for figure in figures {
                        tr {
                            th scope="row" { (text(&figure.name)) }
                            td.figure data-v=(figure.value) { (figure.value) }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
