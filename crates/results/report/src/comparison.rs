//! What `kiln compare` prints.
//!
//! * [`table()`]: for a terminal
//! * [`json()`]: the whole comparison as one document
//! * [`csv()`]: a line for each metric and pair of Kernels
//! * [`html()`]: one file that needs nothing else, with charts and flame graphs

use std::io::{self, Write};

use verdict::Comparison;

use crate::json::document;

mod csv;
mod functions;
mod html;
mod kind;
mod missing;
mod recurring;
mod rows;
mod statement;
mod table;

pub use csv::csv;
pub use html::html;
pub(crate) use rows::name;
pub use table::{Options, table};

/// Writes the whole comparison as one JSON document: its field names are those of [`Comparison`].
///
/// # Errors
///
/// When `out` does not take it.
pub fn json(comparison: &Comparison, out: impl Write) -> io::Result<()> {
    document(comparison, out)
}
