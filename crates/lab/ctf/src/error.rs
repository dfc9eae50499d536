//! Why a trace cannot be written or read.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// What went wrong with a trace.
#[derive(Debug, Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The metadata are not of kiln.
    #[error("{}: line {line}: {why}: kiln reads the traces that it writes", path.display())]
    Metadata {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// The trace holds more than a reader follows.
    #[error("{}: {what}", path.display())]
    TooLarge {
        /// The folder or file.
        path: PathBuf,
        /// What there is too much of.
        what: &'static str,
    },
}

impl Error {
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}
