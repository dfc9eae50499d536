//! One kernel of the catalogue.

use serde::{Deserialize, Serialize};

/// A kernel that can be named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What to give to `kiln run`, or to `kiln build` where it is a source.
    pub locator: String,
    /// The version of the package, or the release where there is none; empty if neither is known.
    pub version: String,
    /// Such as `amd64`, `cloud`, `rt`, `generic`; empty for sources.
    pub flavour: String,
    /// The day on which it was built, `2026-11-16`, where the image is at hand and says it.
    pub date: Option<String>,
    /// In bytes: of the download for what is offered, on the disk for what is here.
    pub size: Option<u64>,
    /// Where it is.
    pub state: State,
    /// What else the user should know, such as a command.
    pub note: Option<String>,
}

/// Where a kernel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// A package that was unpacked in the store.
    Cached,
    /// Built by kiln, in the store.
    Built,
    /// In this host's `/boot`.
    Installed,
    /// A package that apt can fetch.
    Offered,
    /// Source that apt can fetch and kiln can build.
    Source,
}

impl State {
    /// As it is written in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cached => "cached",
            Self::Built => "built",
            Self::Installed => "installed",
            Self::Offered => "offered",
            Self::Source => "source",
        }
    }
}
