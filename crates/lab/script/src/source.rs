//! The text of a script, and places in it.

use std::fmt;

use serde::{Deserialize, Serialize};
use starlark_syntax::codemap::{Pos, Span};

use crate::show::shown;

/// Bytes of one file.
pub const SOURCE_BYTES: usize = 256 * 1024;

/// Characters of the name of a file that are shown.
const FILE: usize = 200;

/// A place in a script.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// The file, from the folder of the experiment.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The character in the line, from 1.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}", shown(&self.file, FILE), self.line, self.column)
    }
}

/// A file of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its path in the folder of the experiment.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl Source {
    /// A file.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// The place of a byte.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let before = self.text.get(..self.boundary(offset)).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Position {
            file: self.name.clone(),
            line: count(before.matches('\n').count() + 1),
            column: count(before.get(line_start..).unwrap_or_default().chars().count() + 1),
        }
    }

    /// A line, from 1, without what ends it.
    #[must_use]
    pub fn line(&self, number: u32) -> &str {
        let index = usize::try_from(number).unwrap_or(0).saturating_sub(1);
        self.text.lines().nth(index).unwrap_or_default()
    }

    /// The start of the character at or before a byte.
    fn boundary(&self, offset: usize) -> usize {
        let offset = offset.min(self.text.len());
        (0..=offset).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(0)
    }
}

/// The bytes of a part of the tree.
pub(crate) fn bytes(span: Span) -> std::ops::Range<usize> {
    let offset = |pos: Pos| usize::try_from(pos.get()).unwrap_or(usize::MAX);
    offset(span.begin())..offset(span.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_has_a_line_and_a_column() {
        let source = Source::new("a.star", "x = 1\n\u{e4}b = 2\n");
        let place = |offset| {
            let at = source.position(offset);
            (at.line, at.column)
        };
        assert_eq!(place(0), (1, 1));
        assert_eq!(place(6), (2, 1));
        assert_eq!(place(7), (2, 1));
        assert_eq!(place(8), (2, 2));
        assert_eq!(place(1000), (3, 1));
        assert_eq!(source.line(2), "\u{e4}b = 2");
        assert_eq!(source.line(9), "");
    }
}
