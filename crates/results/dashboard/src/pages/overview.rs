//! What there is, and what runs.

use std::collections::HashMap;

use judge::Summary;
use ledger::{KnownRun, Past, RunsQuery, sessions};
use maud::{Markup, html};
use report::html::{Page, section, text};
use report::tally_text;

use super::{Asked, Failure};
use crate::store::Store;

/// Sessions that are listed.
const SESSIONS_MAX: usize = 50;

/// What is shown of a session.
struct Row {
    name: String,
    suite: String,
    kernel: String,
    began: String,
    summary: Summary,
    /// Cases that it has in all.
    cases: usize,
    has_ended: bool,
}

/// The newest sessions, those that run first.
pub(crate) fn overview(store: &mut Store, _asked: &Asked) -> Result<Page, Failure> {
    let newest: Vec<Past> = sessions(store.root()).into_iter().take(SESSIONS_MAX).collect();
    let query = RunsQuery { sessions: newest.iter().map(Past::name).collect(), ..RunsQuery::default() };
    let known = if newest.is_empty() { Vec::new() } else { store.runs(&query)?.runs };
    let counted = counted(&known);
    let rows: Vec<Row> = newest.iter().filter_map(|past| row(past, &counted)).collect();
    let (ended, running): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.has_ended);
    let body = html! {
        header { h1 { "kiln" } p.legend { "The newest " (rows.len()) " sessions in " code { (text(store.root().display())) } } }
        main {
            @if !running.is_empty() { (section("Not at their end", &table(&running))) }
            (section("Sessions", &table(&ended)))
        }
    };
    Ok(Page { title: "Overview".to_owned(), body })
}

/// How the Runs of each session ended.
fn counted(runs: &[KnownRun]) -> HashMap<&str, Summary> {
    let mut counted: HashMap<&str, Summary> = HashMap::new();
    runs.iter().for_each(|run| counted.entry(&run.session).or_default().count(run.outcome));
    counted
}

/// A session; nothing if it cannot be read.
fn row(past: &Past, counted: &HashMap<&str, Summary>) -> Option<Row> {
    let session = past.session().ok()?;
    let name = past.name();
    let has_ended = past.ended();
    let mut summary = counted.get(name.as_str()).copied().unwrap_or_default();
    if !has_ended {
        // The ledger knows what has ended.
        summary = Summary::default();
        past.runs().iter().for_each(|run| summary.count(run.outcome));
    }
    let kernel = session.release.clone().unwrap_or_else(|| session.locator.clone());
    let began = session.started.strftime("%Y-%m-%d %H:%M:%S").to_string();
    Some(Row { name, suite: session.suite, kernel, began, summary, cases: session.cases.len(), has_ended })
}

fn table(rows: &[&Row]) -> Markup {
    html! {
        div.wide {
            table class="metrics sortable" {
                thead { tr { @for head in ["session", "kernel", "suite", "Runs", "began"] { th scope="col" { (head) } } } }
                tbody { @for row in rows { (line(row)) } }
            }
        }
    }
}

fn line(row: &Row) -> Markup {
    let Summary { pass, fail, crash, hang, skip, broken, .. } = row.summary;
    let done = pass + fail + crash + hang + skip + broken;
    html! {
        tr {
            th scope="row" { a href={ "/session/" (row.name) } { (row.name) } }
            td { (text(&row.kernel)) }
            td { (text(&row.suite)) }
            td {
                @if !row.has_ended { progress max=(row.cases) value=(done) {} " " (done) " of " (row.cases) ": " }
                span class={ "outcome " (if fail + crash + hang > 0 { "fail" } else { "pass" }) } { (tally_text(row.summary)) }
            }
            td { (row.began) }
        }
        "\n"
    }
}
