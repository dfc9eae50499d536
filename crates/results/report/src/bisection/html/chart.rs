//! The axis from its first end to its last, and where the change is believed to be.

use bisect::Answer;
use maud::{Markup, html};

use super::super::walk::Walk;
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
/// `says` is what that comes to.
pub(super) fn chart(walk: &Walk<'_>, says: &str) -> Markup {
    let columns = axis(walk).columns(COLUMNS);
    let heights = heights(&columns, BARS);
    let label = format!("{}: {says}", walk.range());
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
                (state(column, Percent(left + 0.5 * width), radius, walk))
            }
            text x=(Percent(0.0)) y=(NAMES) text-anchor="start" { (end(walk.ends[0])) }
            text x=(Percent(100.0)) y=(NAMES) text-anchor="end" { (end(walk.ends[1])) }
        }
        "\n"
        (legend())
    }
}

fn axis(walk: &Walk<'_>) -> Axis {
    let mut axis = Axis::new(walk.candidates.len());
    axis.believe(walk.probabilities);
    // Of a state only what it is matters, however often it was tested.
    for state in &walk.states {
        let (bad, good) = match walk.mark(state) {
            Mark::Untested => continue,
            Mark::Untestable => (0, 0),
            Mark::Good => (0, 1),
            Mark::Intermittent => (1, 1),
            Mark::Bad => (1, 0),
        };
        axis.see(&state.point, &Answer::Runs { bad, good });
    }
    axis
}

/// Marks differ in shape, not only in colour.
fn state(column: &Column, x: Percent, radius: f64, walk: &Walk<'_>) -> Markup {
    let class = column.mark.word();
    let title = text(title(column, walk));
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
fn title(column: &Column, walk: &Walk<'_>) -> String {
    let name = |at: usize| match at.checked_sub(1) {
        None => brief(walk.ends[0]),
        Some(candidate) => walk.candidates.get(candidate).map(|name| brief(name)).unwrap_or_default(),
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
