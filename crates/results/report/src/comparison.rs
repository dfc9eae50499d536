//! What `kiln compare` prints.
//!
//! * [`table()`]: for a terminal
//! * [`json()`]: the whole comparison as one document
//! * [`csv()`]: a line for each metric and pair of Kernels
//! * [`html()`]: one file that needs nothing else, with charts and flame graphs
//! * [`markdown()`]: what a terminal shows, below what is compared with what

use std::io::{self, Write};

use verdict::Comparison;

use crate::html::short;
use crate::json::document;
use crate::markdown::{Document, Wrap, of_text};

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

/// A comparison as Markdown.
///
/// # Errors
///
/// None: memory takes it.
pub fn markdown(comparison: &Comparison, wrap: Wrap) -> io::Result<Document> {
    let mut lines = Vec::new();
    let options = Options { width: Some(wrap.columns()), ..Options::default() };
    table(comparison, options, &mut lines)?;
    let verdict = match comparison.others.as_slice() {
        [against] => format!("{}: {}", title(comparison), statement::totals(against)),
        _ => title(comparison),
    };
    Ok(of_text(&verdict, &lines, wrap))
}

/// What is compared with what.
fn title(comparison: &Comparison) -> String {
    let others: Vec<String> = comparison.others.iter().map(|against| short(&against.subject.label)).collect();
    format!("{} against {}", others.join(", "), short(&comparison.base.label))
}
