//! Two sides of a metric on one axis.

use maud::{Markup, html};
use measure::{Kind, Unit};
use verdict::{Row, Side};

use super::scale::{band, scale};
use crate::comparison::rows::{metric, name};
use crate::figures::{difference, figure, interval, percent};
use crate::html::{Percent, Place, line, short, text};
use crate::scale::Scale;

/// Heights from top to bottom: the line of the base, the difference, the line of the other, the axis, the end.
const BASE: u32 = 26;
const BETWEEN: u32 = 40;
const NEW: u32 = 54;
const AXIS: u32 = 80;
const HEIGHT: u32 = 98;

/// Where the text of a side stands, off its line.
const ABOVE: u32 = BASE - 13;
const BELOW: u32 = NEW + 20;

/// Boots of a side that are drawn.
const BOOTS: usize = 100;

/// A side and where it is drawn.
#[derive(Clone, Copy)]
struct Lane<'a> {
    side: &'a Side,
    role: &'static str,
    y: u32,
    text_y: u32,
}

/// Draws each boot as a dot, their median as a stroke, the range of counted repetitions as a line, and for times the
/// interval of the difference as a band.
pub(super) fn chart(row: &Row, kind: Kind) -> Markup {
    let scale = scale(row, kind);
    let title = format!(
        "{}: base {}, new {}",
        short(&metric(row)),
        side_text(row, &row.base),
        side_text(row, &row.new)
    );
    let (from, to) = (scale.at(row.base.median), scale.at(row.new.median));
    let at = |x, y| Place { x, y };
    let lanes = [
        Lane { side: &row.base, role: "base", y: BASE, text_y: ABOVE },
        Lane { side: &row.new, role: "new", y: NEW, text_y: BELOW },
    ];
    html! {
        svg class="chart" role="img" aria-label=(text(title)) width="100%" height=(HEIGHT) {
            (axis(scale, &row.unit))
            (interval_band(scale, row))
            (line("guide", at(from, BASE), at(from, BETWEEN)))
            (line(name(row.verdict), at(from, BETWEEN), at(to, BETWEEN)))
            (line("guide", at(to, BETWEEN), at(to, NEW)))
            @for lane in lanes {
                @if kind != Kind::Timed { (range(scale, lane)) }
                (boots(scale, &row.unit, lane))
                text x="0" y=(lane.text_y) { tspan.role { (lane.role) " " } (side_text(row, lane.side)) }
            }
        }
        "\n"
    }
}

fn axis(scale: Scale, unit: &Unit) -> Markup {
    let anchor = |x: Percent| match x.0 {
        x if x < 8.0 => "start",
        x if x > 92.0 => "end",
        _ => "middle",
    };
    html! {
        @for (value, text) in scale.ticks(unit) {
            @let x = scale.at(value);
            (line("grid", Place { x, y: BASE - 8 }, Place { x, y: AXIS }))
            text x=(x) y=(AXIS + 13) text-anchor=(anchor(x)) { (text) }
        }
    }
}

fn interval_band(scale: Scale, row: &Row) -> Markup {
    html! {
        @if let (Some((low, high)), Some(percents)) = (band(row), row.interval) {
            @let (from, to) = (scale.at(low), scale.at(high));
            rect class="band" x=(from) y=(NEW - 8) width=(Percent(to.0 - from.0)) height="16" {
                title { "interval of the difference: " (interval(percents)) " %" }
            }
        }
    }
}

/// All repetitions. Those that were timed have no end: some interrupt takes as long as it likes.
fn range(scale: Scale, Lane { side, y, .. }: Lane<'_>) -> Markup {
    let (low, high) = (scale.is_below(side.min), scale.is_above(side.max));
    html! {
        (line("range", Place { x: scale.at(side.min), y }, Place { x: scale.at(side.max), y }))
        @if low { text x=(Percent(0.0)) y=(y + 4) text-anchor="start" { "‹" } }
        @if high { text x=(Percent(100.0)) y=(y + 4) text-anchor="end" { "›" } }
    }
}

/// Each boot and their median.
fn boots(scale: Scale, unit: &Unit, Lane { side, role, y, .. }: Lane<'_>) -> Markup {
    let median = scale.at(side.median);
    html! {
        @for (index, boot) in side.boots.iter().take(BOOTS).enumerate() {
            circle class=(role) cx=(scale.at(*boot)) cy=(y) r="4" {
                title { (role) ", boot " (index + 1) ": " (figure(*boot, unit)) }
            }
        }
        (line("median", Place { x: median, y: y - 9 }, Place { x: median, y: y + 9 }))
    }
}

/// The figure of a side, with its range where there is one.
fn side_text(row: &Row, side: &Side) -> String {
    let median = figure(side.median, &row.unit);
    if side.min == side.max {
        return median;
    }
    format!("{median} (repetitions {} to {})", figure(side.min, &row.unit), figure(side.max, &row.unit))
}

/// A difference with its percent.
pub(super) fn difference_text(row: &Row) -> String {
    let percent = row.percent.map(|value| format!(" ({} %)", percent(value))).unwrap_or_default();
    format!("{}{percent}", difference(row.difference, &row.unit))
}
