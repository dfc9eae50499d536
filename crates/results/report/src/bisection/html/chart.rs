//! The axis from its first end to its last, and where the change was believed to be in the end.

use bisect::Answer;
use bisect::Bisection;
use maud::{Markup, html};

use super::super::sides::mark;
use super::super::statement;
use crate::axis::{Axis, Column, Mark, heights};
use crate::columns::fit;
use crate::html::{Percent, Place, line, short, text};
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
pub(super) fn chart(bisection: &Bisection) -> Markup {
    let columns = axis(bisection).columns(COLUMNS);
    let heights = heights(&columns, BARS);
    let label = format!("{}: {}", statement::walked(bisection), statement::verdict(bisection));
    let width = 100.0 / columns.len() as f64;
    let radius = if columns.len() > MANY { 3.0 } else { 5.0 };
    let ends = [0.0, 100.0].map(|x| Place { x: Percent(x), y: MARKS });
    html! {
        svg class="chart axis" role="img" aria-label=(text(label)) width="100%" height=(HEIGHT) {
            (line("grid", ends[0], ends[1]))
            @for ((at, column), height) in columns.iter().enumerate().zip(heights) {
                @let left = at as f64 * width;
                @if height > 0 {
                    rect class="mass" x=(Percent(left + 0.1 * width)) y=(BARS - height)
                        width=(Percent(0.8 * width)) height=(height) {}
                }
                (state(column, Percent(left + 0.5 * width), radius, bisection))
            }
            text x=(Percent(0.0)) y=(NAMES) text-anchor="start" { (end(&bisection.first.name)) }
            text x=(Percent(100.0)) y=(NAMES) text-anchor="end" { (end(&bisection.last.name)) }
        }
        "\n"
        (legend())
    }
}

fn axis(bisection: &Bisection) -> Axis {
    let mut axis = Axis::new(bisection.candidates.len());
    axis.believe(&bisection.probabilities);
    // Of both ends only what they are matters, however often they were tested.
    let ends = [&bisection.first.state, &bisection.last.state];
    for state in bisection.states.iter().chain(ends) {
        let (bad, good) = match mark(bisection, state) {
            Mark::Untested | Mark::Untestable => (0, 0),
            Mark::Good => (0, 1),
            Mark::Intermittent => (1, 1),
            Mark::Bad => (1, 0),
        };
        axis.see(&state.point, &Answer::Runs { bad, good });
    }
    axis
}

/// Marks differ in shape, not only in colour.
fn state(column: &Column, x: Percent, radius: f64, bisection: &Bisection) -> Markup {
    let class = column.mark.word();
    let title = text(title(column, bisection));
    let radius = if column.mark == Mark::Untested { 1.5 } else { radius };
    html! {
        @if column.mark == Mark::Untestable {
            text class=(class) x=(x) y=(MARKS + 4) text-anchor="middle" { "?" title { (title) } }
        } @else {
            circle class=(class) cx=(x) cy=(MARKS) r=(radius) { title { (title) } }
        }
    }
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

/// The name of an end.
fn end(name: &str) -> String {
    fit(&brief(name), 40)
}

/// What the marks stand for.
fn legend() -> Markup {
    let sign = |mark| match mark {
        Mark::Good => "○",
        Mark::Bad => "●",
        Mark::Intermittent => "◐",
        Mark::Untestable | Mark::Untested => "?",
    };
    html! {
        p.legend {
            @for mark in Mark::ALL { span class=(mark.word()) { (sign(mark)) } " " (mark.word()) ", " }
            "bars: the probability that the change leads to a state"
        }
    }
}
