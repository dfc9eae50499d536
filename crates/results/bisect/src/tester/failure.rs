//! Why a test did not come to its end.

use lab::prepare;

use crate::error::Error;

/// Why a test did not come to its end.
pub(super) enum Failure {
    /// This Kernel does not allow it; the next one may.
    OfKernel(String),
    /// The search cannot go on.
    Of(Error),
}

impl From<machine::Error> for Failure {
    fn from(error: machine::Error) -> Self {
        match error.is_usage() {
            true => Self::OfKernel(error.to_string()),
            false => Self::Of(Error::Broken(error.to_string())),
        }
    }
}

impl From<prepare::Error> for Failure {
    fn from(error: prepare::Error) -> Self {
        match error {
            prepare::Error::Machine(error) => error.into(),
            error => Self::Of(error.into()),
        }
    }
}

impl From<ledger::Error> for Failure {
    fn from(error: ledger::Error) -> Self {
        Self::Of(Error::Broken(error.to_string()))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Of(error)
    }
}

impl From<measure::Failure> for Failure {
    fn from(failure: measure::Failure) -> Self {
        match failure {
            measure::Failure::Interrupted => Self::Of(Error::Interrupted),
            measure::Failure::Machine(error) => error.into(),
            failure @ measure::Failure::Trace(_) => Self::Of(Error::Broken(failure.to_string())),
            failure @ (measure::Failure::Boot { .. } | measure::Failure::Silent { .. }) => {
                Self::OfKernel(failure.to_string())
            }
        }
    }
}
