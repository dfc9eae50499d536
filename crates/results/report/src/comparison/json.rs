//! A comparison as JSON.

use std::io::{self, Write};

use verdict::Comparison;

use crate::json::document;

/// Writes the whole comparison as one JSON document: its field names are those of [`Comparison`].
///
/// # Errors
///
/// When `out` does not take it.
pub fn json(comparison: &Comparison, mut out: impl Write) -> io::Result<()> {
    out.write_all(document(comparison)?.as_bytes())?;
    out.flush()
}
