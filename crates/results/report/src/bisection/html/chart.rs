//! The axis from its first end to its last, and where the change was believed to be in the end.

use std::fmt::Display;

use bisect::Bisection;
use bisect::tester::Answer;

use super::super::sides::mark;
use super::super::statement;
use crate::axis::{Axis, Column, Mark, heights};
use crate::html::{Markup, Percent, short};
use crate::repeats::probability;
use crate::words::brief;

/// Columns of the chart at most.
const COLUMNS: usize = 120;

/// Columns beyond which marks are small.
const MANY: usize = 50;

/// Heights from top to bottom: bars of probability, marks of states, names of the ends, the end.
const BARS: u32 = 60;
const MARKS: u32 = 72;
const NAMES: u32 = 94;
const HEIGHT: u32 = 100;

/// Draws a mark for each state, or for a few, and above it the probability that the change leads there.
pub(super) fn chart(markup: &mut Markup, bisection: &Bisection) {
    let columns = axis(bisection).columns(COLUMNS);
    let heights = heights(&columns, BARS);
    let label = format!("{}: {}", statement::walked(bisection), statement::verdict(bisection));
    let attributes: [(&str, &dyn Display); 5] = [
        ("class", &"chart axis"),
        ("role", &"img"),
        ("aria-label", &label),
        ("width", &"100%"),
        ("height", &HEIGHT),
    ];
    markup.element("svg", &attributes, |markup| {
        let width = 100.0 / columns.len() as f64;
        let radius = if columns.len() > MANY { 3.0 } else { 5.0 };
        line(markup, MARKS);
        for ((at, column), height) in columns.iter().enumerate().zip(heights) {
            let left = at as f64 * width;
            bar(markup, (Percent(left + 0.1 * width), Percent(0.8 * width)), height);
            state(markup, (Percent(left + 0.5 * width), radius), column, bisection);
        }
        name(markup, (Percent(0.0), "start"), &bisection.first.name);
        name(markup, (Percent(100.0), "end"), &bisection.last.name);
    });
    markup.line();
    legend(markup);
}

fn axis(bisection: &Bisection) -> Axis {
    let mut axis = Axis::new(bisection.candidates.len());
    axis.believe(&bisection.probabilities);
    // Of both ends only what they are matters, however often they were tested.
    let ends = [&bisection.first.state, &bisection.last.state];
    for state in bisection.states.iter().chain(ends) {
        let (shown, hidden) = match mark(bisection, state) {
            Mark::Untested | Mark::Untestable => (0, 0),
            Mark::Good => (0, 1),
            Mark::Intermittent => (1, 1),
            Mark::Bad => (1, 0),
        };
        axis.see(&state.point, &Answer::Runs { shown, hidden });
    }
    axis
}

fn line(markup: &mut Markup, y: u32) {
    let place: [(&str, &dyn Display); 5] =
        [("class", &"grid"), ("x1", &Percent(0.0)), ("y1", &y), ("x2", &Percent(100.0)), ("y2", &y)];
    markup.leaf("line", &place, "");
}

fn bar(markup: &mut Markup, (x, width): (Percent, Percent), height: u32) {
    if height > 0 {
        let place: [(&str, &dyn Display); 5] =
            [("class", &"mass"), ("x", &x), ("y", &(BARS - height)), ("width", &width), ("height", &height)];
        markup.leaf("rect", &place, "");
    }
}

/// Marks differ in shape, not only in colour.
fn state(markup: &mut Markup, (x, radius): (Percent, f64), column: &Column, bisection: &Bisection) {
    let class = column.mark.word();
    let title = title(column, bisection);
    if column.mark == Mark::Untestable {
        let place: [(&str, &dyn Display); 4] =
            [("class", &class), ("x", &x), ("y", &(MARKS + 4)), ("text-anchor", &"middle")];
        markup.element("text", &place, |markup| {
            markup.text("?");
            markup.plain("title", title);
        });
        return;
    }
    let radius = if column.mark == Mark::Untested { 1.5 } else { radius };
    let place: [(&str, &dyn Display); 4] = [("class", &class), ("cx", &x), ("cy", &MARKS), ("r", &radius)];
    markup.element("circle", &place, |markup| markup.plain("title", title));
}

/// Which states a column holds, what was seen of them, and how probable they are.
fn title(column: &Column, bisection: &Bisection) -> String {
    let name = |at: usize| match at.checked_sub(1) {
        None => brief(&bisection.first.name),
        Some(candidate) => bisection.candidates.get(candidate).map(|name| brief(name)).unwrap_or_default(),
    };
    let (first, last) = (name(column.states.start), name(column.states.end.saturating_sub(1)));
    let names = if column.states.len() > 1 {
        format!("{} to {} ({} states)", short(&first), short(&last), column.states.len())
    } else {
        short(&first)
    };
    format!("{names}: {}, probability {}", column.mark.word(), probability(column.mass, "more than"))
}

fn name(markup: &mut Markup, (x, anchor): (Percent, &str), name: &str) {
    let place: [(&str, &dyn Display); 3] = [("x", &x), ("y", &NAMES), ("text-anchor", &anchor)];
    markup.leaf("text", &place, crate::columns::fit(&brief(name), 40));
}

/// What the marks stand for.
fn legend(markup: &mut Markup) {
    markup.element("p", &[("class", &"legend")], |markup| {
        for mark in Mark::ALL {
            let sign = match mark {
                Mark::Good => "○",
                Mark::Bad => "●",
                Mark::Intermittent => "◐",
                Mark::Untestable | Mark::Untested => "?",
            };
            markup.leaf("span", &[("class", &mark.word())], sign);
            markup.text(format!(" {}, ", mark.word()));
        }
        markup.text("bars: the probability that the change leads to a state");
    });
}
