//! Why a request cannot be carried out.

use thiserror::Error;

/// Why a request cannot be carried out.
#[derive(Debug, Error)]
pub enum Error {
    /// A Kernel is not named, or not there.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// There is no such Kernel, or it does not build.
    #[error(transparent)]
    Build(#[from] kbuild::Error),
    /// There is no such root, or it cannot be made.
    #[error(transparent)]
    Root(#[from] root::Error),
    /// There are no such cases, or they do not build.
    #[error(transparent)]
    Suite(#[from] crate::suites::Error),
    /// The host cannot make such a machine.
    #[error(transparent)]
    Machine(#[from] machine::Error),
    /// What was asked cannot be.
    #[error("{0}")]
    Usage(String),
}

impl Error {
    /// Whether the user asked for something that cannot be.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Kernel(error) => error.is_usage(),
            Self::Build(error) => error.is_usage(),
            Self::Root(error) => error.is_usage(),
            Self::Suite(error) => error.is_usage(),
            Self::Machine(error) => error.is_usage(),
            Self::Usage(_) => true,
        }
    }

    /// Whether the user wants to stop.
    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::Kernel(error) => error.is_interrupt(),
            Self::Build(error) => error.is_interrupt(),
            Self::Root(error) => error.is_interrupt(),
            Self::Suite(error) => matches!(error, crate::suites::Error::Interrupted),
            Self::Machine(_) | Self::Usage(_) => false,
        }
    }

    /// Whether the kernel is at fault.
    #[must_use]
    pub fn accuses_kernel(&self) -> bool {
        matches!(self, Self::Build(error) if error.accuses_kernel())
    }
}
