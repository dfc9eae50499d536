//! Tables: what tells the Kernels apart, the functions behind many differences, all metrics.

use maud::{Markup, html};
use measure::{Kind, Subject};
use verdict::{Against, Comparison, Row, Verdict};

use super::details::has_details;
use super::{Section, unit};
use crate::comparison::kind::kind as words;
use crate::comparison::recurring::{HEAD, LINES, TITLE, recurring};
use crate::comparison::rows::{is_event, is_marked, metric, name};
use crate::comparison::statement;
use crate::csv::number;
use crate::figures::{difference, figure, interval, percent, probability};
use crate::html::{short, text};

/// Cells of figures; those of the second kind are not shown where there is no room.
const FIGURE: &str = "figure";
const SPARED: &str = "figure spared";

/// A property of a Kernel: its name, and where it is.
type Property = (&'static str, fn(&Subject) -> &str);

const PROPERTIES: [Property; 7] = [
    ("release", |subject| &subject.release),
    ("locator", |subject| &subject.locator),
    ("exactly", |subject| &subject.kernel),
    ("from", |subject| &subject.provenance),
    ("identity", |subject| &subject.identity),
    ("machine", |subject| &subject.machine),
    ("parameters", |subject| &subject.parameters),
];

/// A table with a column for each Kernel; what all have in common stands there once.
pub(super) fn subjects(comparison: &Comparison) -> Markup {
    let others = comparison.others.iter().map(|against| &against.subject);
    let subjects: Vec<&Subject> = std::iter::once(&comparison.base).chain(others).collect();
    let role = |index: usize| if index == 0 { "base" } else { "new" };
    html! {
        div.wide {
            table.subjects {
                thead {
                    tr {
                        td {}
                        @for (index, subject) in subjects.iter().enumerate() {
                            th scope="col" { (role(index)) ": " (short(&subject.label)) }
                        }
                    }
                }
                tbody { @for property in PROPERTIES { (subject_row(&subjects, property)) } }
            }
        }
        "\n"
    }
}

fn subject_row(subjects: &[&Subject], (name, of): Property) -> Markup {
    let values: Vec<&str> = subjects.iter().map(|subject| of(subject)).collect();
    let is_common = values.iter().all(|value| *value == values[0]);
    html! {
        @if !(is_common && values[0].is_empty()) {
            tr {
                th scope="row" { (name) }
                @if is_common {
                    td colspan=(values.len()) { (text(values[0])) }
                } @else {
                    @for value in &values { td { (text(value)) } }
                }
            }
        }
    }
}

/// A table of the first functions that changed in several operations, if there are any.
pub(super) fn recurring_functions(against: &Against) -> Markup {
    let all = recurring(against);
    // Names stand at the ends, figures between them.
    let class = |column: usize| if column == 0 || column + 1 == HEAD.len() { "name" } else { FIGURE };
    html! {
        @if !all.is_empty() {
            h3 { (TITLE) }
            div.wide {
                table.functions {
                    thead {
                        tr {
                            @for (at, head) in HEAD.iter().enumerate() {
                                th scope="col" class=(class(at)) { (head.to_lowercase()) }
                            }
                        }
                    }
                    tbody {
                        @for one in all.iter().take(LINES) {
                            tr {
                                @for (at, text) in one.texts().iter().enumerate() {
                                    td class=(class(at)) { (short(text)) }
                                }
                            }
                            "\n"
                        }
                    }
                }
            }
        }
    }
}

/// The rows in their order, events below costs; those that are the same appear when a box is ticked, but for events:
/// they are many.
pub(super) fn rows(section: Section<'_>) -> Markup {
    let rows = || {
        let numbered = section.against.rows.iter().enumerate();
        numbered.filter(|(_, row)| !(is_event(row) && row.verdict == Verdict::Same))
    };
    let same = rows().filter(|(_, row)| row.verdict == Verdict::Same).count();
    let is_same = same == rows().count();
    let (events, costs): (Vec<_>, Vec<_>) = rows().partition(|(_, row)| is_event(row));
    html! {
        @if same > 0 && !is_same {
            label.choice { input type="checkbox"; " also those that are the same (" (same) ")" }
        }
        div class=(if is_same { "wide all" } else { "wide" }) {
            table class="metrics sortable" {
                thead { (heads(section.comparison.kind)) }
                "\n"
                tbody {
                    @for (at, row) in costs.into_iter().chain(events) {
                        tr class=(name(row.verdict)) { (cells(row, &section.anchor(at), section.comparison)) }
                        "\n"
                    }
                }
            }
        }
    }
}

fn heads(kind: Kind) -> Markup {
    html! {
        tr {
            th scope="col" { "metric" }
            th scope="col" class=(SPARED) { "base, " (unit(kind)) }
            th scope="col" class=(SPARED) { "new" }
            th scope="col" class=(FIGURE) { @if kind != Kind::Exact { "estimate" } @else { "difference" } }
            th scope="col" class=(FIGURE) { "%" }
            @if kind != Kind::Exact {
                th scope="col" class=(SPARED) { "interval, %" }
                th scope="col" class=(SPARED) { "p" }
            }
            @if kind != Kind::Timed {
                th scope="col" class="spared" { "kind" }
            }
            th scope="col" { "verdict" }
        }
    }
}

fn cells(row: &Row, anchor: &str, comparison: &Comparison) -> Markup {
    let metric = short(&metric(row));
    html! {
        th scope="row" title=(text(&row.about)) {
            @if has_details(row) { a href={ "#" (anchor) } { (metric) } } @else { (metric) }
            @if is_marked(comparison.kind, row) {
                abbr title="not the same in every repetition or boot" { " *" }
            }
        }
        (cell(SPARED, Some(row.base.median), &figure(row.base.median, &row.unit)))
        (cell(SPARED, Some(row.new.median), &figure(row.new.median, &row.unit)))
        (cell(FIGURE, Some(row.difference), &difference(row.difference, &row.unit)))
        (cell(FIGURE, row.percent, &row.percent.map(percent).unwrap_or_default()))
        @if comparison.kind != Kind::Exact {
            (cell(SPARED, row.interval.map(|(low, _)| low), &row.interval.map(interval).unwrap_or_default()))
            (cell(SPARED, row.p, &row.p.map(probability).unwrap_or_default()))
        }
        @if comparison.kind != Kind::Timed {
            td class="spared" { (words(row)) }
        }
        // Sorted, a verdict stands where it stands in a comparison.
        td class="verdict" data-v=(row.verdict as u8) {
            (statement::verdict(row, comparison.noise.as_ref()))
        }
    }
}

fn cell(class: &str, value: Option<f64>, text: &str) -> Markup {
    html! { td class=(class) data-v=(number(value)) { (text) } }
}
