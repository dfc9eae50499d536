//! What an analyser could not read.

use super::{Finding, Tool};

/// Something that an analyser could not read, or not all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Which one.
    pub tool: Tool,
    /// A file, an object, or a semantic patch with a file.
    pub about: String,
    /// Why, in a line.
    pub why: String,
}

impl Unread {
    /// Whether a finding of another source could not have been found here.
    #[must_use]
    pub fn hides(&self, finding: &Finding) -> bool {
        self.tool == finding.tool && self.about == finding.about
    }
}
