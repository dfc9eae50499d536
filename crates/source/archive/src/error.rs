//! Why an archive gives no mails.

use std::path::PathBuf;

/// Each says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// git, or its configuration.
    #[error(transparent)]
    History(#[from] history::Error),
    /// A file of kiln's own.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// What was read are no mails that kiln takes.
    #[error(transparent)]
    Series(#[from] series::Error),
    /// A repository that holds something else.
    #[error(
        "{path}: no mail in its newest commits: give an archive in public-inbox's format 2 (public-inbox-convert makes one)"
    )]
    NoArchive {
        /// The repository.
        path: PathBuf,
    },
    /// More mails than belong to a series.
    #[error("{id}: more than {limit} mails belong to it: give a mailbox with the mails of its thread")]
    TooManyMails {
        /// The message id.
        id: String,
        /// The limit.
        limit: usize,
    },
    /// A setting that names no place.
    #[error("{key}: {value}: not a link with %s for the message id: correct it with git config")]
    Mask {
        /// The setting.
        key: &'static str,
        /// What it says.
        value: String,
    },
    /// The server does not have the mail.
    #[error("{id}: {host} does not have it: check the id, or give a mailbox with -m")]
    Unknown {
        /// The message id.
        id: String,
        /// The server.
        host: String,
    },
    /// The server refuses.
    #[error("{host}: answers with status {status}: try again later, or give a mailbox with -m")]
    Status {
        /// The server.
        host: String,
        /// As HTTP has it.
        status: u16,
    },
    /// The server cannot be reached, or stops in the middle.
    #[error("{host}: {reason}: check the network, or give a mailbox with -m")]
    Unreachable {
        /// The server.
        host: String,
        /// What went wrong.
        reason: String,
    },
    /// The server leads from an encrypted link to one that is not.
    #[error("{host}: leads to {link}, which is not encrypted: correct the link, or give a mailbox with -m")]
    Unencrypted {
        /// The server.
        host: String,
        /// Where it leads.
        link: String,
    },
    /// The server sends more than a mailbox holds.
    #[error("{host}: sends more than {limit} MiB: give a mailbox with -m")]
    TooLarge {
        /// The server.
        host: String,
        /// The limit.
        limit: u64,
    },
}

impl Error {
    /// True where the user named something wrong.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::History(error) => error.is_usage(),
            Self::Kernel(error) => error.is_usage(),
            Self::Series(error) => error.is_usage(),
            Self::NoArchive { .. } | Self::TooManyMails { .. } | Self::Mask { .. } | Self::Unknown { .. } => {
                true
            }
            Self::Status { .. }
            | Self::Unreachable { .. }
            | Self::Unencrypted { .. }
            | Self::TooLarge { .. } => false,
        }
    }

    /// True where the user wanted to stop.
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::History(error) => error.is_interrupt(),
            Self::Kernel(error) => error.is_interrupt(),
            _ => false,
        }
    }
}
