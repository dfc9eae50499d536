//! Why something cannot be queued or sent.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why something cannot be queued or sent.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder of the host.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The refusal.
        source: io::Error,
    },
    /// A file with something that cannot be sent as it is.
    #[error("{path}: {reason}")]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What it lacks.
        reason: String,
    },
    /// The file cannot be read, or is too large.
    #[error(transparent)]
    File(#[from] kernel::Error),
    /// git cannot say how mail is sent.
    #[error(transparent)]
    History(#[from] history::Error),
    /// git's configuration cannot be followed.
    #[error("{0}")]
    Settings(String),
    /// Another kiln is sending.
    #[error("{path}: another kiln is sending: wait until it has ended")]
    Busy {
        /// The outbox.
        path: PathBuf,
    },
    /// Nothing that waits has this name.
    #[error("no mail {name} in the outbox: `kiln mail` lists them")]
    NoSuchMail {
        /// The name, or its beginning.
        name: String,
    },
    /// It cannot be sent again or removed.
    #[error("{name} does not wait: it was sent, or is queued already")]
    NotWaiting {
        /// The name, or its beginning.
        name: String,
    },
    /// Several have a name that begins like this.
    #[error("{count} in the outbox have names that begin with {name}: give more of it")]
    Ambiguous {
        /// The beginning.
        name: String,
        /// How many.
        count: usize,
    },
}

impl Error {
    /// Whether the user asked for something that cannot be.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Unfit { .. }
            | Self::Settings(_)
            | Self::NoSuchMail { .. }
            | Self::NotWaiting { .. }
            | Self::Ambiguous { .. } => true,
            Self::File(error) => error.is_usage(),
            Self::History(error) => error.is_usage(),
            Self::Io { .. } | Self::Busy { .. } => false,
        }
    }

    /// For `map_err` on files of the outbox.
    pub fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}
