//! The table of all metrics.

use std::fmt::Display;

use lab::measure::Kind;
use verdict::{Against, Comparison, Row, Verdict};

use super::details::has_details;
use super::{anchor, unit};
use crate::comparison::shown::is_event;
use crate::comparison::{is_marked, name, statement};
use crate::csv::number;
use crate::figures::{difference, figure, interval, percent, probability};
use crate::html::{Markup, short};

/// Cells of figures; those of the second kind are not shown where there is no room.
const FIGURE: &str = "figure";
const SPARED: &str = "figure spared";

/// The rows in their order, events below costs; those that are the same appear when a box is ticked, but for events:
/// they are many.
pub(super) fn rows(markup: &mut Markup, comparison: &Comparison, (index, against): (usize, &Against)) {
    let rows = || {
        let numbered = against.rows.iter().enumerate();
        numbered.filter(|(_, row)| !(is_event(row) && row.verdict == Verdict::Same))
    };
    let same = rows().filter(|(_, row)| row.verdict == Verdict::Same).count();
    let is_same = same == rows().count();
    let (events, costs): (Vec<_>, Vec<_>) = rows().partition(|(_, row)| is_event(row));
    if same > 0 && !is_same {
        markup.element("label", &[("class", &"choice")], |markup| {
            markup.void("input", &[("type", &"checkbox")]);
            markup.text(format!(" also those that are the same ({same})"));
        });
    }
    let class = if is_same { "wide all" } else { "wide" };
    markup.element("div", &[("class", &class)], |markup| {
        markup.element("table", &[("class", &"metrics sortable")], |markup| {
            markup.element("thead", &[], |markup| {
                markup.element("tr", &[], |markup| heads(markup, comparison.kind));
            });
            markup.line();
            markup.element("tbody", &[], |markup| {
                for (at, row) in costs.into_iter().chain(events) {
                    markup.element("tr", &[("class", &name(row.verdict))], |markup| {
                        cells(markup, row, &anchor(index, at), comparison);
                    });
                    markup.line();
                }
            });
        });
    });
}

fn heads(markup: &mut Markup, kind: Kind) {
    let base = format!("base, {}", unit(kind));
    let figures = [(SPARED, base.as_str()), (SPARED, "new"), (FIGURE, "difference"), (FIGURE, "%")];
    let timed = [(SPARED, "interval, %"), (SPARED, "p")];
    let timed = if kind == Kind::Timed { timed.as_slice() } else { &[] };
    markup.leaf("th", &[("scope", &"col")], "metric");
    for (class, head) in figures.iter().chain(timed) {
        markup.leaf("th", &[("scope", &"col"), ("class", class)], head);
    }
    markup.leaf("th", &[("scope", &"col")], "verdict");
}

fn cells(markup: &mut Markup, row: &Row, anchor: &str, comparison: &Comparison) {
    markup.element("th", &[("scope", &"row"), ("title", &row.about)], |markup| {
        if has_details(row) {
            markup.leaf("a", &[("href", &format!("#{anchor}"))], short(&row.metric));
        } else {
            markup.text(short(&row.metric));
        }
        if is_marked(comparison.kind, row) {
            let title = "not the same in every repetition or boot";
            markup.leaf("abbr", &[("title", &title)], " *");
        }
    });
    cell(markup, SPARED, Some(row.base.median), figure(row.base.median, row.unit));
    cell(markup, SPARED, Some(row.new.median), figure(row.new.median, row.unit));
    cell(markup, FIGURE, Some(row.difference), difference(row.difference, row.unit));
    cell(markup, FIGURE, row.percent, row.percent.map(percent).unwrap_or_default());
    if comparison.kind == Kind::Timed {
        cell(
            markup,
            SPARED,
            row.interval.map(|(low, _)| low),
            row.interval.map(interval).unwrap_or_default(),
        );
        cell(markup, SPARED, row.p, row.p.map(probability).unwrap_or_default());
    }
    // Sorted, a verdict stands where it stands in a comparison.
    let rank = row.verdict as u8;
    let attributes: [(&str, &dyn Display); 2] = [("class", &"verdict"), ("data-v", &rank)];
    markup.leaf("td", &attributes, statement::verdict(row, comparison.noise.as_ref()));
}

fn cell(markup: &mut Markup, class: &str, value: Option<f64>, text: String) {
    markup.leaf("td", &[("class", &class), ("data-v", &number(value))], text);
}
