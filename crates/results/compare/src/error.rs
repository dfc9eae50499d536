//! Why there are no figures.

use judge::boot::boot_outcome;
use lab::prepare;
use measure::Failure;
use thiserror::Error;

/// Why there are no figures.
#[derive(Debug, Error)]
pub enum Error {
    /// A Kernel or its machine is not to be had.
    #[error(transparent)]
    Prepare(#[from] prepare::Error),
    /// A tree has no such commits.
    #[error(transparent)]
    History(#[from] history::Error),
    /// A Kernel cannot be measured.
    #[error(transparent)]
    Measure(#[from] Failure),
    /// Figures cannot be kept.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// What was asked cannot be.
    #[error("{0}")]
    Usage(String),
    /// There is nothing to draw conclusions from.
    #[error("nothing could be measured")]
    Nothing,
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
    /// The same, of what is kept although it is not finished.
    #[error("interrupted: the same command resumes from here")]
    Stopped,
}

impl From<machine::Error> for Error {
    fn from(error: machine::Error) -> Self {
        prepare::Error::from(error).into()
    }
}

impl From<lab::suites::Error> for Error {
    fn from(error: lab::suites::Error) -> Self {
        prepare::Error::from(error).into()
    }
}

impl Error {
    /// Whether the user asked for something that cannot be.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Prepare(error) => error.is_usage(),
            Self::History(error) => error.is_usage(),
            Self::Measure(Failure::Machine(error)) => error.is_usage(),
            Self::Usage(_) => true,
            Self::Measure(_) | Self::Ledger(_) | Self::Nothing | Self::Interrupted | Self::Stopped => false,
        }
    }

    /// Whether the user wants to stop.
    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::Prepare(error) => error.is_interrupt(),
            Self::History(error) => error.is_interrupt(),
            Self::Measure(Failure::Interrupted) | Self::Interrupted | Self::Stopped => true,
            Self::Measure(_) | Self::Ledger(_) | Self::Usage(_) | Self::Nothing => false,
        }
    }

    /// Whether a kernel is at fault: it does not build, or does not come up.
    #[must_use]
    pub fn accuses_kernel(&self) -> bool {
        match self {
            Self::Prepare(error) => error.accuses_kernel(),
            Self::Measure(Failure::Boot { failure, .. }) => boot_outcome(&failure.trouble).0.is_failure(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_measuring_is_told_from_what_the_user_wants() {
        assert!(Error::from(Failure::Interrupted).is_interrupt());
        let small = || machine::Error::SmallMemory { asked: 1, needed: 2 };
        assert!(Error::from(small()).is_usage() && Error::from(Failure::from(small())).is_usage());
        let silent = Error::from(Failure::Silent { kernel: "x".into(), why: "y".into() });
        assert!(!silent.is_usage() && !silent.accuses_kernel() && !silent.is_interrupt());
    }
}
