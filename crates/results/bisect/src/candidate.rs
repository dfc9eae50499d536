//! The changes among which a bisection searches.

use serde::{Deserialize, Serialize};

mod changes;

pub use changes::Changes;

/// The kinds of axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Packages of a distribution, by version.
    Packages,
    /// Commits of a git repository.
    Commits,
    /// Patches of a series.
    Patches,
    /// Kernel parameters.
    Parameters,
    /// Configuration options.
    Options,
}

impl Kind {
    /// One of its candidates, as people call it.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::Packages => "package",
            Self::Commits => "commit",
            Self::Patches => "patch",
            Self::Parameters => "parameter",
            Self::Options => "option",
        }
    }
}

/// A change that may be the one that is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// What names it: a version, a commit, an option with both its values.
    pub name: String,
    /// What it says of itself: the subject of a commit or a patch.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Who wrote it, if that is known: `Name <address>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// When, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The files that it changes, as far as they are known; at most 200.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The kernel parameter that it takes away, where it does just that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removes: Option<String>,
    /// What its changelog says is new since the candidate before it; only of packages that have one.
    #[serde(default, skip_serializing_if = "Changes::is_empty")]
    pub changes: Changes,
}
