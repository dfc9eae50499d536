//! A comparison as one file for a browser.

mod chart;
mod details;
mod flame;
mod recurring;
mod rows;
mod scale;
mod subjects;

use std::io::{self, Write};

use lab::measure::Kind;
use verdict::{Against, Comparison};

use super::{missing, statement};
use crate::html::{Markup, prose, short};
use crate::words::named;

/// Writes the page. `command` is what the user typed.
///
/// # Errors
///
/// When `out` does not take it.
pub fn html(comparison: &Comparison, command: &str, mut out: impl Write) -> io::Result<()> {
    out.write_all(page(comparison, command).as_bytes())?;
    out.flush()
}

fn page(comparison: &Comparison, command: &str) -> String {
    crate::html::page(&title(comparison), |markup| body(markup, comparison, command))
}

/// What is compared with what.
fn title(comparison: &Comparison) -> String {
    let others: Vec<String> = comparison.others.iter().map(|against| short(&against.subject.label)).collect();
    format!("{} against {}", others.join(", "), short(&comparison.base.label))
}

fn body(markup: &mut Markup, comparison: &Comparison, command: &str) {
    markup.element("header", &[], |markup| {
        markup.plain("h1", title(comparison));
        crate::html::command(markup, command);
        markup.plain("p", statement::kind(comparison));
        markup.element("p", &[("class", &"honesty")], |markup| {
            prose(markup, statement::honesty(comparison.kind));
        });
        if let Some(noise) = statement::noise(comparison) {
            markup.plain("p", noise);
        }
        for note in &comparison.notes {
            markup.leaf("p", &[("class", &"note")], format!("note: {note}"));
        }
        subjects::subjects(markup, comparison);
    });
    markup.line();
    markup.element("main", &[], |markup| {
        for (index, against) in comparison.others.iter().enumerate() {
            section(markup, comparison, against, index);
        }
    });
}

fn section(markup: &mut Markup, comparison: &Comparison, against: &Against, index: usize) {
    markup.element("section", &[], |markup| {
        if comparison.others.len() > 1 {
            markup.plain("h2", short(&named(&against.subject)));
        }
        markup.leaf("p", &[("class", &"totals")], statement::totals(against));
        recurring::recurring_functions(markup, against);
        if !against.rows.is_empty() {
            rows::rows(markup, comparison, (index, against));
        }
        for group in missing::groups(&against.missing) {
            markup.element("p", &[], |markup| {
                markup.plain("b", format!("not measured {}: ", group.reason));
                markup.text(missing::names(&group.metrics, usize::MAX));
            });
        }
        details::details(markup, comparison, (index, against));
    });
    markup.line();
}

/// Where the details of a metric are.
fn anchor(section: usize, row: usize) -> String {
    format!("k{section}-m{row}")
}

/// What says a kind's unit in the head of a column of figures.
fn unit(kind: Kind) -> &'static str {
    match kind {
        Kind::Exact => "instructions",
        Kind::Timed => "time",
    }
}
