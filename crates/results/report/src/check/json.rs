//! A check as JSON.

use std::io::{self, Write};

use check::SeriesCheck;
use serde::Serialize;

use super::statement;
use crate::json::document;

/// The document: the sentence that a person reads first, and what is known.
#[derive(Serialize)]
struct Document<'a> {
    summary: String,
    #[serde(flatten)]
    check: &'a SeriesCheck,
}

/// Writes the whole check as one JSON document: its field names are those of [`SeriesCheck`].
///
/// # Errors
///
/// When `out` does not take it.
pub fn json(check: &SeriesCheck, out: impl Write) -> io::Result<()> {
    document(&Document { summary: statement::verdict(check), check }, out)
}
