//! What `kiln trend` prints.
//!
//! * [`text()`]: tables for people; [`steps()`]: what steps with which kernel; [`json`]: for programs
//! * [`html`] and [`svg`]: charts

mod chart;
mod page;
mod steps;
mod text;

use std::io::{self, Write};

use verdict::trend::{Step, Trend};

use crate::figures::{interval, percent, probability, whole};
use crate::json::document;
use crate::safe::safe_line;

pub use chart::svg;
pub use page::html;
pub use steps::steps;
pub use text::text;

/// Functions of a step that are named.
const FUNCTIONS: usize = 3;

/// Prints it for programs.
///
/// # Errors
///
/// When `out` does not take it.
pub fn json(trends: &[Trend], out: impl Write) -> io::Result<()> {
    document(&trends, out)
}

/// How large a step is: `+0.94 %`, of sampled figures with its interval.
fn size(step: &Step) -> String {
    let size = step.percent.map_or_else(|| "from 0".to_owned(), |value| format!("{} %", percent(value)));
    match step.interval {
        Some(ends) => format!("{size} ({} %)", interval(ends)),
        None => size,
    }
}

/// Why it is believed: the functions that did it, or how rarely chance does.
fn reason(step: &Step) -> String {
    let functions = step.why.iter().flat_map(|why| &why.functions).take(FUNCTIONS);
    let named: Vec<String> =
        functions.map(|it| format!("{} {}", safe_line(&it.function), whole(it.difference()))).collect();
    match (named.is_empty(), step.p) {
        (false, _) => named.join(", "),
        (true, Some(p)) => format!("p {}", probability(p)),
        (true, None) => String::new(),
    }
}
