//! Why there is no matrix.

use lab::prepare;
use thiserror::Error;

/// Why there is no matrix.
#[derive(Debug, Error)]
pub enum Error {
    /// What runs, or its machine, cannot be had.
    #[error(transparent)]
    Prepare(#[from] prepare::Error),
    /// A machine cannot be started.
    #[error(transparent)]
    Machine(#[from] machine::Error),
    /// Results cannot be kept.
    #[error(transparent)]
    Keep(#[from] ledger::Error),
    /// Results cannot be asked for.
    #[error(transparent)]
    Ledger(#[from] ledger::LedgerError),
    /// A cluster gives no results.
    #[error(transparent)]
    Slurm(#[from] slurm::Error),
    /// A plan asks for what there cannot be.
    #[error("{0}")]
    Plan(String),
    /// The user wants to stop.
    #[error("interrupted: the same command goes on with what is missing")]
    Interrupted,
}

impl Error {
    /// Whether the user wants to stop.
    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::Interrupted => true,
            Self::Prepare(error) => error.is_interrupt(),
            Self::Slurm(error) => error.is_interrupt(),
            Self::Plan(_) | Self::Machine(_) | Self::Keep(_) | Self::Ledger(_) => false,
        }
    }

    /// Whether the other sessions of a matrix would meet it, too: it is not about a kernel.
    pub(crate) fn concerns_all(&self) -> bool {
        match self {
            Self::Prepare(prepare::Error::Suite(_)) | Self::Keep(_) | Self::Ledger(_) => true,
            _ => self.is_interrupt(),
        }
    }

    /// Whether the user asked for something that cannot be.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Prepare(error) => error.is_usage(),
            Self::Machine(error) => error.is_usage(),
            Self::Ledger(error) => error.is_usage(),
            Self::Plan(_) => true,
            Self::Keep(_) | Self::Slurm(_) | Self::Interrupted => false,
        }
    }
}
