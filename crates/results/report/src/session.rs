//! A session as one file for a browser: the verdict, what went wrong, and all cases.
//!
//! * [`failures`]: what shows that a Run went wrong; [`cases`]: the table of all Runs
//! * [`markdown`](mod@markdown): the same as Markdown

mod cases;
mod failures;
mod markdown;

use std::time::Duration;

use judge::{Run, Summary};
use lab::event::Session;
use lab::request::words::call;
use ledger::{Past, PastError};
use maud::{Markup, html};
use script::Figure;

use crate::hazard::Hazards;
use crate::html::{Page, command, facts, section, short, text};
use crate::markdown::{Document, Wrap};
use crate::words::{kernel, span, tally_text};

/// Bytes of outputs and logs, and of hazards, in a report; beyond them it has the evidence alone.
const TEXTS_MAX: usize = 2 << 20;

/// A session that was kept, with what its page shows.
#[derive(Debug, Clone, Copy)]
struct SessionPage<'a> {
    /// What was run.
    session: &'a Session,
    /// All Runs, that of a boot first.
    runs: &'a [Run],
    /// What its experiment recorded.
    figures: &'a [Figure],
    /// Where its machines waited for too long, if that was looked for.
    hazards: Option<&'a Hazards>,
    /// By which `kiln show` and `kiln replay` find it.
    name: &'a str,
    /// How long it took, if it came to its end.
    took: Option<Duration>,
}

fn page(shown: SessionPage<'_>) -> Page {
    Page { title: title(shown), body: body(shown) }
}

/// The page about a session that was kept, or about one Run of it, which `kiln show` finds by this name.
///
/// # Errors
///
/// When its document cannot be read.
pub fn kept(past: &Past, run: Option<&Run>, name: &str) -> Result<Page, PastError> {
    with_kept(past, run, name, page)
}

/// The same as Markdown.
///
/// # Errors
///
/// As for the page.
pub fn markdown(past: &Past, run: Option<&Run>, name: &str, wrap: Wrap) -> Result<Document, PastError> {
    with_kept(past, run, name, |shown| markdown::document(shown, wrap))
}

fn with_kept<T>(
    past: &Past,
    run: Option<&Run>,
    name: &str,
    write: impl FnOnce(SessionPage<'_>) -> T,
) -> Result<T, PastError> {
    let session = past.session()?;
    // Without them the Runs say what there is to say.
    let figures = past.result().ok().flatten().map(|result| result.figures).unwrap_or_default();
    let (session, runs) = match run {
        Some(run) => (Session { cases: vec![run.case.clone()], ..session }, vec![run.clone()]),
        None => (session, past.runs()),
    };
    let hazards = Hazards::kept(past, &session, run);
    Ok(write(SessionPage {
        session: &session,
        runs: &runs,
        figures: &figures,
        hazards: hazards.as_ref(),
        name,
        took: past.took(),
    }))
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

/// Said of a session without an end.
const UNFINISHED: &str = "this session did not come to its end";

/// The command that ran it. What another host ran is a stranger's, and nothing to be pasted.
fn repeated(session: &Session) -> Option<String> {
    let is_ours = session.origin.is_none() && !session.command.is_empty();
    is_ours.then(|| call(&session.command))
}

/// The command that repeats a Run of it.
fn replay(shown: SessionPage<'_>, run: &Run) -> Option<String> {
    let words = ["replay".to_owned(), format!("{}/{}", shown.name, run.case)];
    shown.session.origin.is_none().then(|| call(&words))
}

fn body(shown: SessionPage<'_>) -> Markup {
    let SessionPage { session, runs, figures, hazards, took, .. } = shown;
    let failures: Vec<(usize, &Run)> =
        runs.iter().enumerate().filter(|(_, run)| !run.outcome.is_well()).collect();
    html! {
        header {
            h1 { (text(title(shown))) }
            @if let Some(call) = repeated(session) { (command(&call)) }
            @if took.is_none() { p.note { "note: " (UNFINISHED) } }
            (facts(&known(shown)))
        }
        "\n"
        main {
            @if !failures.is_empty() { (section("What went wrong", &failures::all(&failures, shown))) }
            @if let Some(hazards) = hazards { (section("Hazards", &html! { pre { (hazard_text(hazards)) } })) }
            @if !figures.is_empty() { (section("Figures", &figures_table(figures))) }
            (section("All cases", &cases::table(runs)))
        }
    }
}

/// All hazards, as far as a page has room for them.
fn hazard_text(hazards: &Hazards) -> String {
    let mut text = hazards.text();
    if text.len() > TEXTS_MAX {
        text.truncate(text.floor_char_boundary(TEXTS_MAX));
        text.push_str("\n[…]\n");
    }
    text
}

/// What is known of it as a whole, with a word for each; those that are not known are empty.
fn known(shown: SessionPage<'_>) -> [(&'static str, String); 7] {
    let SessionPage { session, took, name, .. } = shown;
    let host = session.origin.as_ref().map(|origin| format!("{}, as {}", origin.host, origin.session));
    [
        ("kernel", kernel(session)),
        ("source", session.provenance.clone()),
        ("machine", session.machine.clone()),
        ("run on", host.unwrap_or_default()),
        ("began", format!("{}, kiln {}", session.started.strftime("%Y-%m-%d %H:%M:%S UTC"), session.kiln)),
        ("took", took.map(span).unwrap_or_default()),
        ("session", name.to_owned()),
    ]
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
