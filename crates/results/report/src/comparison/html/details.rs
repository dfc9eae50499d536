//! Each metric by itself: its chart, its functions, its flame graph.

use maud::{Markup, html};
use verdict::{Change, Row, Side, Verdict, Why};

use super::Section;
use super::chart::{chart, difference_text};
use super::flame::flame;
use super::scale::is_worth_showing;
use crate::comparison::kind::ground;
use crate::comparison::rows::{is_event, metric, name};
use crate::comparison::{functions, statement};
use crate::figures::{count, whole};
use crate::html::{short, text};

/// Bytes of a page beyond which it gets no further charts: browsers on telephones give up at some size.
const PAGE: usize = 4 << 20;

/// Functions of one metric.
const FUNCTIONS: usize = 60;

/// The room that is left for charts on a page.
#[derive(Default)]
pub(super) struct Room {
    used: usize,
}

impl Room {
    /// Counts a part of the page.
    pub(super) fn used(&mut self, part: Markup) -> Markup {
        self.used += part.0.len();
        part
    }

    fn is_left(&self) -> bool {
        self.used <= PAGE
    }
}

/// Whether there is more to say than the table does.
pub(super) fn has_details(row: &Row) -> bool {
    row.why.is_some() || (is_worth_showing(row) && !(is_event(row) && row.verdict == Verdict::Same))
}

/// An article for each metric that is not the same, and below them, folded, for those that are and yet have more
/// than one figure.
pub(super) fn details(section: Section<'_>, room: &mut Room) -> Markup {
    let rows = section.against.rows.iter().enumerate().filter(|(_, row)| has_details(row));
    let (same, other): (Vec<_>, Vec<_>) = rows.partition(|(_, row)| row.verdict == Verdict::Same);
    html! {
        @for (at, row) in other { (article(section, at, row, room)) }
        @if !same.is_empty() {
            details {
                summary { "Charts of those that are the same (" (same.len()) ")" }
                @for (at, row) in same { (article(section, at, row, room)) }
            }
        }
    }
}

fn article(section: Section<'_>, at: usize, row: &Row, room: &mut Room) -> Markup {
    let verdict = statement::verdict(row, section.comparison.noise.as_ref());
    let head = html! {
        h3 {
            (short(&metric(row))) " "
            span class={ "verdict " (name(row.verdict)) } { (difference_text(row)) " " (verdict) }
        }
        p { (text(&row.about)) }
        @if let Some(ground) = ground(row) { p { (name(row.verdict)) ": " (ground) } }
    };
    let charts = html! {
        @if !room.is_left() {
            p.note { "no chart: the page would be too large; choose with --metric" }
        } @else {
            @if is_worth_showing(row) { (room.used(chart(row, section.comparison.kind))) }
            (user_and_kernel(row))
            @if let Some(why) = &row.why { (reasons(why, room)) }
        }
    };
    html! {
        article id=(section.anchor(at)) { (room.used(head)) (charts) }
        "\n"
    }
}

/// Where the instructions were executed.
fn user_and_kernel(row: &Row) -> Markup {
    let text = |side: &Side| {
        side.apart.map(|(user, kernel)| format!("{} user, {} kernel", count(user), count(kernel)))
    };
    html! {
        @if let (Some(base), Some(new)) = (text(&row.base), text(&row.new)) {
            p { "base " (base) "; new " (new) }
        }
    }
}

fn reasons(why: &Why, room: &mut Room) -> Markup {
    let more = why.functions.len().saturating_sub(FUNCTIONS);
    let table = html! {
        div.wide {
            table class="functions sortable" {
                thead {
                    tr {
                        @for head in ["change", "base", "new"] { th scope="col" class="figure" { (head) } }
                        th scope="col" { "function" }
                    }
                }
                tbody { @for change in why.functions.iter().take(FUNCTIONS) { tr { (function(change)) } } }
            }
        }
        p {
            (functions::sum(why))
            @if more > 0 { " (" (more) " more functions changed)" }
        }
    };
    html! {
        (room.used(table))
        @if room.is_left() { (room.used(flame(&why.stacks))) }
    }
}

fn function(change: &Change) -> Markup {
    let difference = change.difference();
    let word = match (change.base, change.new) {
        (None, _) => " (new)",
        (_, None) => " (gone)",
        _ => "",
    };
    html! {
        td class="figure" data-v=(difference) { (whole(difference)) }
        @for side in [change.base, change.new] {
            td class="figure" data-v=(side.unwrap_or(0)) { (side.map_or_else(|| "-".to_owned(), count)) }
        }
        td { code { (short(&change.function)) } (word) }
    }
}
