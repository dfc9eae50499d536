//! The tables as plain data, for a reader that is not written in Rust.

use super::openings;
use super::scanner::{PATIENCE, PATIENCE_AT_END};
use super::title::TITLE_MAX;
use super::{LINE_BYTES_MAX, LINES_MAX};

pub use super::helpers::{ENTRIES, HELPERS};
pub use super::inside::{INSIDE, INSIDE_ENDS};

/// The limits, by their names.
pub const LIMITS: [(&str, usize); 5] = [
    ("PATIENCE", PATIENCE),
    ("PATIENCE_AT_END", PATIENCE_AT_END),
    ("LINES_MAX", LINES_MAX),
    ("LINE_MAX", LINE_BYTES_MAX),
    ("TITLE_MAX", TITLE_MAX),
];

/// What begins a report: the kind of its pattern and the two texts of it, its role, the kind of its title and the
/// text of that.
pub fn openings() -> impl Iterator<Item = [String; 6]> {
    openings::all().map(openings::Opening::plain)
}
