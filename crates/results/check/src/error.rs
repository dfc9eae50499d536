//! Why patches were not checked.

use thiserror::Error;

/// Why there is no verdict.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The patches cannot be had, or do not apply.
    #[error(transparent)]
    Patches(#[from] bisect::Error),
    /// The tree cannot be read.
    #[error(transparent)]
    History(#[from] history::Error),
    /// A kernel cannot be built for a reason that is not in its source.
    #[error(transparent)]
    Build(#[from] kbuild::Error),
    /// What runs, or its machine, cannot be had.
    #[error(transparent)]
    Prepare(#[from] lab::prepare::Error),
    /// A machine cannot be started.
    #[error(transparent)]
    Machine(#[from] machine::Error),
    /// Operations cannot be compared.
    #[error(transparent)]
    Compare(#[from] compare::Error),
    /// Results cannot be kept.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// What the user said cannot be.
    #[error("{0}")]
    Usage(String),
    /// The user wants to stop.
    #[error("interrupted: what was built is kept")]
    Interrupted,
}

impl Error {
    /// Whether the user wants to stop.
    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::Interrupted => true,
            Self::Patches(error) => error.is_interrupt(),
            Self::History(error) => error.is_interrupt(),
            Self::Build(error) => error.is_interrupt(),
            Self::Prepare(error) => error.is_interrupt(),
            Self::Compare(error) => error.is_interrupt(),
            Self::Machine(_) | Self::Ledger(_) | Self::Usage(_) => false,
        }
    }

    /// Whether the user asked for something that cannot be.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Usage(_) => true,
            Self::Patches(error) => error.is_usage(),
            Self::History(error) => error.is_usage(),
            Self::Build(error) => error.is_usage(),
            Self::Prepare(error) => error.is_usage(),
            Self::Compare(error) => error.is_usage(),
            Self::Machine(error) => error.is_usage(),
            Self::Ledger(_) | Self::Interrupted => false,
        }
    }
}
