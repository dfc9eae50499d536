//! Where analysers run.

use std::path::{Path, PathBuf};

/// Where analysers run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// The source, which they read.
    pub(super) tree: &'a Path,
    /// Where make runs: the paths that it names begin there.
    pub(super) objects: &'a Path,
    /// Where compilers are installed.
    pub(super) installed: &'a [PathBuf],
}
