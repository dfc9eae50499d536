//! Why a report cannot be posted.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a report cannot be posted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The address is none where posts can go.
    #[error("{address}: {reason}")]
    Address {
        /// What the user wrote.
        address: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The file has no token of an account.
    #[error("{path}: its first line is no token of an account")]
    Token {
        /// The file.
        path: PathBuf,
    },
    /// No blog can have it.
    #[error("--public: {0}")]
    Public(&'static str),
    /// The report is too large for a post.
    #[error("the report has {size} KiB, and a post at most {limit}: post one Run of it")]
    TooLarge {
        /// Its size.
        size: usize,
        /// The largest one.
        limit: usize,
    },
    /// A file or folder of the host.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The refusal.
        source: io::Error,
    },
    /// What is known of an earlier post cannot be understood.
    #[error("{path}: {reason}: remove it, and a new post is made")]
    Known {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file cannot be read, or is too large.
    #[error(transparent)]
    File(#[from] kernel::Error),
    /// The queue.
    #[error(transparent)]
    Queue(#[from] outbox::Error),
}

impl Error {
    /// Whether the user asked for something that cannot be.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Address { .. } | Self::Token { .. } | Self::Public(_) | Self::TooLarge { .. } => true,
            Self::File(error) => error.is_usage(),
            Self::Queue(error) => error.is_usage(),
            Self::Io { .. } | Self::Known { .. } => false,
        }
    }

    /// For `map_err` on files of kiln.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}
