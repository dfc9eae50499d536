//! What an experiment recorded over time.

use std::collections::BTreeMap;

use ledger::{Tallied, Tally};
use maud::{Markup, html};
use report::history::{Record, records};
use report::html::{Page, section, text};
use script::Figure;

use super::{Asked, Failure, table};
use crate::address;
use crate::store::Store;

/// Sessions that are looked at, and metrics that have a chart.
const SESSIONS_MAX: usize = 100;
const METRICS_MAX: usize = 50;

/// The figures of an experiment: a chart for each metric, and a line for each record.
pub(crate) fn experiment(store: &mut Store, asked: &Asked) -> Result<Page, Failure> {
    let suite = asked.suite.as_str();
    let tallies = store.tallies(Tallied::Suite(suite, SESSIONS_MAX))?;
    let recorded: Vec<(&Tally, Vec<Figure>)> =
        tallies.iter().rev().map(|tally| (tally, figures(store, tally))).collect();
    let mut metrics: BTreeMap<&str, Vec<(&Tally, f64)>> = BTreeMap::new();
    for (tally, figures) in &recorded {
        for figure in figures {
            metrics.entry(&figure.name).or_default().push((tally, figure.value));
        }
    }
    if metrics.is_empty() {
        return Err(Failure::Unknown(format!("no session of {suite:?} recorded a figure")));
    }
    let body = html! {
        header {
            h1 { (text(suite)) }
            p.legend {
                "What its newest sessions recorded: " a href=(address::matrix(suite)) { "matrix" }
                @if metrics.len() > METRICS_MAX { "; " (metrics.len() - METRICS_MAX) " more metrics are left out" }
            }
        }
        main { @for (name, all) in metrics.iter().take(METRICS_MAX) { (section(&text(name), &metric(name, all))) } }
    };
    Ok(Page { title: format!("Figures of {suite}"), body })
}

/// Whether the newest session of a suite recorded figures.
pub(super) fn has_figures(store: &mut Store, suite: &str) -> bool {
    let newest = store.tallies(Tallied::Suite(suite, 1)).unwrap_or_default();
    newest.first().is_some_and(|tally| !figures(store, tally).is_empty())
}

fn figures(store: &Store, tally: &Tally) -> Vec<Figure> {
    let result = store.session(&tally.session).and_then(|past| past.result().ok().flatten());
    result.map(|result| result.figures).unwrap_or_default()
}

fn metric(name: &str, all: &[(&Tally, f64)]) -> Markup {
    let shown: Vec<Record<'_>> = all
        .iter()
        .map(|&(tally, value)| Record { started: tally.started, kernel: tally.kernel_name(), value })
        .collect();
    let rows = html! {
        @for (tally, value) in all.iter().rev() {
            tr {
                th scope="row" { a href=(address::session(&tally.session)) { (text(&tally.session)) } }
                td { a href=(address::kernel(tally.kernel_name())) { (text(tally.kernel_name())) } }
                td.figure data-v=(value) { (value) }
            }
            "\n"
        }
    };
    html! {
        (records(name, &shown))
        details { summary { "Records" } (table(&["session", "kernel", "#value"], &rows)) }
    }
}
