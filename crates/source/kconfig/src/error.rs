//! What can be wrong with Kconfig files, and where.

use std::fmt;
use std::sync::Arc;

/// Most characters of a foreign text that a message shows.
const SHOWN: usize = 100;

/// A line of a file: of the kernel's tree, or of a fragment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, as it was named by who included it; a fragment's name.
    pub file: Arc<str>,
    /// Counted from one.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", plain(&self.file), self.line)
    }
}

/// Why the Kconfig files of a tree could not be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A statement that Kconfig would not take either.
    #[error("{place}: {what}: check what `make olddefconfig` reports in this tree")]
    Syntax {
        /// Where.
        place: Place,
        /// What is wrong.
        what: String,
    },
    /// More than any kernel has.
    #[error("{place}: more than {limit} {what}, which no kernel has: give another tree")]
    Limit {
        /// Where the limit was reached.
        place: Place,
        /// What there is too much of.
        what: &'static str,
        /// How much is taken.
        limit: usize,
    },
    /// A path that leads out of the tree, or anywhere else than to a file in it.
    #[error("{place}: {path} is not a path inside the tree: give another tree")]
    Outside {
        /// The statement that names it.
        place: Place,
        /// The path.
        path: String,
    },
    /// A file that cannot be read.
    #[error("{place}: cannot read {path} ({reason}): complete the tree")]
    Unreadable {
        /// The statement that names it.
        place: Place,
        /// The path.
        path: String,
        /// What the system said.
        reason: String,
    },
}

/// Foreign text as a message may show it: on one line, without control characters, not too long.
pub(super) fn plain(text: &str) -> String {
    let escaped = |c: char| if "\"'\\".contains(c) { String::from(c) } else { c.escape_debug().collect() };
    cut(text, escaped)
}

/// Foreign text in quotes, with all that is special escaped.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", cut(text, |c| c.escape_debug().collect()))
}

fn cut(text: &str, escaped: impl Fn(char) -> String) -> String {
    let mut characters = text.chars();
    let mut shown: String = characters.by_ref().take(SHOWN).map(escaped).collect();
    if characters.next().is_some() {
        shown.push('…');
    }
    shown
}
