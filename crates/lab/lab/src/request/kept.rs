//! What is done with a Run that was kept.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Version;

/// Which Run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptRequest {
    /// `SESSION/CASE`, where `SESSION` may be abbreviated or `last`, a folder, or the document of a Run.
    pub run: String,
    /// The folder of all sessions; the usual one if it is not set.
    #[serde(default)]
    pub sessions: Option<PathBuf>,
}

/// The same case again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayRequest {
    /// Its version.
    pub version: Version<1>,
    /// The Run.
    pub kept: KeptRequest,
    /// Open a shell in the machine of the case instead.
    #[serde(default)]
    pub shell: bool,
}

/// A Run as one file that reproduces it elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleRequest {
    /// Its version.
    pub version: Version<1>,
    /// The Run.
    pub kept: KeptRequest,
    /// The archive to write; a name that ends in `.tar` is not compressed.
    pub output: PathBuf,
}
