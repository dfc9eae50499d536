//! What is wrong with the files of a series.

use std::path::PathBuf;

/// Why there is no series. Each says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read, or is too large.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// A file or a folder without a patch.
    #[error("{path}: no patch in it: give an mbox, a folder of .patch files, or a patch")]
    NoPatch {
        /// The file or folder.
        path: PathBuf,
    },
    /// More mails than a mailbox of kiln's has.
    #[error("{path}: more than {limit} mails: give the mails of fewer threads")]
    TooManyMails {
        /// The mailbox.
        path: PathBuf,
        /// The limit.
        limit: usize,
    },
    /// Several series where one is wanted.
    #[error("{path}: {count} series in it: give the mails of one, as kiln series am writes them")]
    Several {
        /// The file or folder.
        path: PathBuf,
        /// How many.
        count: usize,
    },
    /// More patches than a series has.
    #[error("{path}: more than {limit} patches: give the mails of one series")]
    TooManyPatches {
        /// The file or folder.
        path: PathBuf,
        /// The limit.
        limit: usize,
    },
}

impl Error {
    /// True where the user named something wrong.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Kernel(error) => error.is_usage(),
            _ => true,
        }
    }
}
