//! Two sides of a metric on one axis.

use std::fmt::Display;

use lab::measure::{Kind, Unit};
use verdict::{Row, Side};

use super::scale::{Scale, band};
use crate::comparison::name;
use crate::figures::{difference, figure, interval, percent};
use crate::html::{Markup, Percent, short};

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

/// Draws each boot as a dot, their median as a stroke, the range of counted repetitions as a line, and for times the
/// interval of the difference as a band.
pub(super) fn chart(markup: &mut Markup, row: &Row, kind: Kind) {
    let scale = Scale::of(row, kind);
    let title = format!("{}: base {}, new {}", short(&row.metric), text(row, &row.base), text(row, &row.new));
    let attributes: [(&str, &dyn Display); 5] = [
        ("class", &"chart"),
        ("role", &"img"),
        ("aria-label", &title),
        ("width", &"100%"),
        ("height", &HEIGHT),
    ];
    markup.element("svg", &attributes, |markup| {
        axis(markup, scale, row.unit);
        interval_band(markup, scale, row);
        let (from, to) = (scale.at(row.base.median), scale.at(row.new.median));
        line(markup, "guide", (from, BASE), (from, BETWEEN));
        line(markup, name(row.verdict), (from, BETWEEN), (to, BETWEEN));
        line(markup, "guide", (to, BETWEEN), (to, NEW));
        for (side, role, y, text_y) in [(&row.base, "base", BASE, ABOVE), (&row.new, "new", NEW, BELOW)] {
            if kind == Kind::Exact {
                range(markup, scale, side, y);
            }
            boots(markup, scale, row.unit, (side, role, y));
            markup.element("text", &[("x", &0), ("y", &text_y)], |markup| {
                markup.leaf("tspan", &[("class", &"role")], format!("{role} "));
                markup.text(text(row, side));
            });
        }
    });
    markup.line();
}

fn axis(markup: &mut Markup, scale: Scale, unit: Unit) {
    for (value, text) in scale.ticks(unit) {
        let x = scale.at(value);
        line(markup, "grid", (x, BASE - 8), (x, AXIS));
        let anchor = match x.0 {
            x if x < 8.0 => "start",
            x if x > 92.0 => "end",
            _ => "middle",
        };
        markup.leaf("text", &[("x", &x), ("y", &(AXIS + 13)), ("text-anchor", &anchor)], text);
    }
}

fn interval_band(markup: &mut Markup, scale: Scale, row: &Row) {
    let (Some((low, high)), Some(percents)) = (band(row), row.interval) else { return };
    let (from, to) = (scale.at(low), scale.at(high));
    let width = Percent(to.0 - from.0);
    let place: [(&str, &dyn Display); 5] =
        [("class", &"band"), ("x", &from), ("y", &(NEW - 8)), ("width", &width), ("height", &16)];
    markup.element("rect", &place, |markup| {
        markup.plain("title", format!("interval of the difference: {} %", interval(percents)));
    });
}

/// All repetitions. Those that were timed have no end: some interrupt takes as long as it likes.
fn range(markup: &mut Markup, scale: Scale, side: &Side, y: u32) {
    line(markup, "range", (scale.at(side.min), y), (scale.at(side.max), y));
    for (is_beyond, x, sign, anchor) in
        [(scale.is_below(side.min), 0.0, "‹", "start"), (scale.is_above(side.max), 100.0, "›", "end")]
    {
        if is_beyond {
            let place: [(&str, &dyn Display); 3] =
                [("x", &Percent(x)), ("y", &(y + 4)), ("text-anchor", &anchor)];
            markup.leaf("text", &place, sign);
        }
    }
}

/// Each boot and their median.
fn boots(markup: &mut Markup, scale: Scale, unit: Unit, (side, role, y): (&Side, &str, u32)) {
    for (index, boot) in side.boots.iter().take(BOOTS).enumerate() {
        let place: [(&str, &dyn Display); 4] =
            [("class", &role), ("cx", &scale.at(*boot)), ("cy", &y), ("r", &4)];
        markup.element("circle", &place, |markup| {
            markup.plain("title", format!("{role}, boot {}: {}", index + 1, figure(*boot, unit)));
        });
    }
    let median = scale.at(side.median);
    line(markup, "median", (median, y - 9), (median, y + 9));
}

/// The figure of a side, with its range where there is one.
fn text(row: &Row, side: &Side) -> String {
    let median = figure(side.median, row.unit);
    if side.min == side.max {
        return median;
    }
    format!("{median} (repetitions {} to {})", figure(side.min, row.unit), figure(side.max, row.unit))
}

/// A difference with its percent.
pub(super) fn difference_text(row: &Row) -> String {
    let percent = row.percent.map(|value| format!(" ({} %)", percent(value))).unwrap_or_default();
    format!("{}{percent}", difference(row.difference, row.unit))
}

fn line(markup: &mut Markup, class: &str, from: (Percent, u32), to: (Percent, u32)) {
    let place: [(&str, &dyn Display); 5] =
        [("class", &class), ("x1", &from.0), ("y1", &from.1), ("x2", &to.0), ("y2", &to.1)];
    markup.leaf("line", &place, "");
}
