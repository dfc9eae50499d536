//! A kernel that has come.

use kernel::Locator;
use kernel::version::compare;
use serde::{Deserialize, Serialize};

/// A kernel that has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// Where it came from, as the user wrote it.
    pub source: String,
    /// Its locator.
    pub kernel: String,
    /// What tells it from others: a package may come again with the same name.
    pub version: String,
    /// Its flavour; empty if it has none.
    pub flavour: String,
}

impl Arrival {
    /// Whether both are the very same kernel, wherever they came from.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        (&self.kernel, &self.version) == (&other.kernel, &other.version)
    }

    /// Whether both are of one line of kernels, in which the later one should do all that the earlier did.
    #[must_use]
    pub fn is_in_line_with(&self, other: &Self) -> bool {
        let is_package = |one: &Self| matches!(one.kernel.parse(), Ok(Locator::Deb(_)));
        match (is_package(self), is_package(other)) {
            (true, true) => self.flavour == other.flavour,
            (false, false) => self.source == other.source,
            _ => false,
        }
    }

    /// Whether it is older than another package. Nothing is known of commits: the one that came first is.
    #[must_use]
    pub fn is_older_than(&self, other: &Self) -> bool {
        let is_package = matches!(self.kernel.parse(), Ok(Locator::Deb(_)));
        !is_package || compare(&self.version, &other.version).is_lt()
    }
}
