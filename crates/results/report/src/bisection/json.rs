//! A bisection as JSON.

use std::io::{self, Write};

use bisect::Bisection;
use serde::Serialize;

use super::statement;
use crate::json::document;

/// The document: what is known, and the sentence that a person reads first.
#[derive(Serialize)]
struct Document<'a> {
    verdict: String,
    #[serde(flatten)]
    bisection: &'a Bisection,
}

/// Writes the whole bisection as one JSON document: its field names are those of [`Bisection`]. Before them stands
/// `verdict`, a sentence for people; programs read `conclusion`, which has one of the fields `culprits`, `suspects`
/// and `contradiction`.
///
/// # Errors
///
/// When `out` does not take it.
pub fn json(bisection: &Bisection, out: impl Write) -> io::Result<()> {
    document(&Document { verdict: statement::verdict(bisection), bisection }, out)
}
