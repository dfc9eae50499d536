//! Why signatures cannot be looked at, which says nothing about them.

use host::task::Failure;

/// Each says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// git, or its configuration.
    #[error(transparent)]
    History(#[from] history::Error),
    /// A file.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// gpg could not be run to its end.
    #[error(transparent)]
    Program(#[from] Failure),
    /// A policy that is none.
    #[error(
        "b4.attestation-policy: {value}: give off, check, softfail or hardfail; correct it with git config"
    )]
    Policy {
        /// What the setting says.
        value: String,
    },
    /// A setting that names no keyring.
    #[error("{key}: {value}: give a folder, or ref:REPOSITORY:REF:PATH; correct it with git config")]
    Keyring {
        /// The setting.
        key: &'static str,
        /// What it says.
        value: String,
    },
}

impl Error {
    /// True where the user named something wrong.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::History(error) => error.is_usage(),
            Self::Kernel(error) => error.is_usage(),
            Self::Keyring { .. } | Self::Policy { .. } => true,
            Self::Program(_) => false,
        }
    }

    /// True where the user wanted to stop.
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::History(error) => error.is_interrupt(),
            Self::Kernel(error) => error.is_interrupt(),
            Self::Program(failure) => matches!(failure, Failure::Interrupted { .. }),
            Self::Keyring { .. } | Self::Policy { .. } => false,
        }
    }
}
