//! What `kiln compare` prints.
//!
//! * [`table()`]: for a terminal
//! * [`json()`]: the whole comparison as one document
//! * [`csv()`]: a line for each metric and pair of Kernels
//! * [`html()`]: one file that needs nothing else, with charts and flame graphs

mod csv;
mod functions;
mod html;
mod json;
mod missing;
mod recurring;
mod shown;
mod statement;
mod table;

pub use csv::csv;
pub use html::html;
pub use json::json;
pub use table::{Options, table};

use measure::Kind;
use verdict::{Row, Side, Verdict};

/// The name of a verdict in output and documents.
fn name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Worse => "worse",
        Verdict::Undecided => "undecided",
        Verdict::Better => "better",
        Verdict::Same => "same",
    }
}

/// Whether repetitions or boots gave more than one figure.
fn is_spread(side: &Side) -> bool {
    side.min < side.max || side.boots.iter().any(|boot| *boot != side.median)
}

/// Whether a reader must know that a figure has a range: times always have one.
fn is_marked(kind: Kind, row: &Row) -> bool {
    kind == Kind::Exact && (is_spread(&row.base) || is_spread(&row.new))
}
