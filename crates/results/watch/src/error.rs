//! Why nobody watches.

use thiserror::Error;

/// Why nobody watches.
#[derive(Debug, Error)]
pub enum Error {
    /// No kernels come from there.
    #[error(
        "{text:?}: no new kernels come from there: name apt:linux-image, a pattern such as 'deb:6.1.*', or git:TREE@BRANCH"
    )]
    Source {
        /// As the user wrote it.
        text: String,
    },
    /// A kernel cannot be named or fetched.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// A tree cannot be read.
    #[error(transparent)]
    History(#[from] history::Error),
    /// Kernels cannot be tested.
    #[error(transparent)]
    Matrix(#[from] matrix::Error),
    /// What was seen cannot be kept, or another kiln watches the same.
    #[error(transparent)]
    Keep(#[from] ledger::Error),
    /// What is known cannot be asked for.
    #[error(transparent)]
    Ledger(#[from] ledger::LedgerError),
}

impl Error {
    /// Whether the user wants to stop.
    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::History(error) => error.is_interrupt(),
            Self::Matrix(error) => error.is_interrupt(),
            Self::Kernel(error) => error.is_interrupt(),
            Self::Source { .. } | Self::Keep(_) | Self::Ledger(_) => false,
        }
    }

    /// Whether no other kernel can be tested either: what came of it cannot be kept.
    pub(crate) fn concerns_all(&self) -> bool {
        let is_of_matrix =
            |error: &matrix::Error| matches!(error, matrix::Error::Keep(_) | matrix::Error::Ledger(_));
        match self {
            Self::Keep(_) | Self::Ledger(_) => true,
            Self::Matrix(error) => is_of_matrix(error),
            Self::Source { .. } | Self::Kernel(_) | Self::History(_) => false,
        }
    }

    /// Whether the user asked for something that cannot be.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Source { .. } => true,
            Self::Kernel(error) => error.is_usage(),
            Self::History(error) => error.is_usage(),
            Self::Matrix(error) => error.is_usage(),
            Self::Ledger(error) => error.is_usage(),
            Self::Keep(_) => false,
        }
    }
}
