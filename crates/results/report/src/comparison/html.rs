//! A comparison as one file for a browser.

mod chart;
mod details;
mod flame;
mod scale;
mod tables;

use std::io::{self, Write};

use maud::{Markup, html};
use measure::Kind;
use verdict::{Against, Comparison};

use super::{missing, statement, title};
use crate::html::{command, page, prose, short, text};
use crate::words::named;
use details::Room;

/// Writes the page. `typed` is what the user typed.
///
/// # Errors
///
/// When `out` does not take it.
pub fn html(comparison: &Comparison, typed: &str, mut out: impl Write) -> io::Result<()> {
    out.write_all(page(&title(comparison), &body(comparison, typed)).as_bytes())?;
    out.flush()
}

/// What a page says of the base and one other Kernel.
#[derive(Clone, Copy)]
struct Section<'a> {
    comparison: &'a Comparison,
    against: &'a Against,
    index: usize,
}

impl Section<'_> {
    /// Where the details of a metric are.
    fn anchor(self, row: usize) -> String {
        format!("k{}-m{row}", self.index)
    }
}

fn body(comparison: &Comparison, typed: &str) -> Markup {
    let mut room = Room::default();
    let sections = comparison.others.iter().enumerate();
    html! {
        header {
            h1 { (text(title(comparison))) }
            (command(typed))
            p { (statement::kind(comparison)) }
            p.honesty { (prose(statement::honesty(comparison.kind))) }
            @if let Some(noise) = statement::noise(comparison) { p { (text(noise)) } }
            @for note in &comparison.notes { p.note { "note: " (text(note)) } }
            (tables::subjects(comparison))
        }
        "\n"
        main {
            @for (index, against) in sections { (section(Section { comparison, against, index }, &mut room)) }
        }
    }
}

fn section(section: Section<'_>, room: &mut Room) -> Markup {
    let Section { comparison, against, .. } = section;
    html! {
        section {
            h2 { @if comparison.others.len() > 1 { (short(&named(&against.subject))) } @else { "Metrics" } }
            @if let Some(runs) = &against.runs { p.totals { (text(statement::runs(runs))) } }
            p.totals { (text(statement::totals(against))) }
            (tables::recurring_functions(against))
            @if !against.rows.is_empty() { (room.used(tables::rows(section))) }
            @for group in missing::groups(&against.missing) {
                p {
                    b { (text(format!("not measured {}:", group.reason))) } " "
                    (text(missing::names(&group.metrics, usize::MAX)))
                }
            }
            (details::details(section, room))
        }
        "\n"
    }
}

/// What says a kind's unit in the head of a column of figures.
fn unit(kind: Kind) -> &'static str {
    match kind {
        Kind::Exact => "instructions",
        Kind::Timed => "time",
        Kind::Recorded => "in its unit",
    }
}
