//! Why there are no figures.

use machine::{BootFailure, BootTrouble};
use thiserror::Error;

/// Why a Kernel could not be measured.
#[derive(Debug, Error)]
pub enum Failure {
    /// The host, or what the user asked for, does not allow it.
    #[error(transparent)]
    Machine(#[from] machine::Error),
    /// It did not boot, or its machine did not go on.
    #[error("{kernel}: {}", .failure.trouble)]
    Boot {
        /// What it is called.
        kernel: String,
        /// How its machine ended.
        failure: Box<BootFailure>,
    },
    /// Nothing could be measured.
    #[error("{kernel}: nothing could be measured: {why}")]
    Silent {
        /// What it is called.
        kernel: String,
        /// Why.
        why: String,
    },
    /// What was recorded did not become a trace.
    #[error(transparent)]
    Trace(#[from] transcode::Failure),
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    /// What a boot of this Kernel came to.
    pub(super) fn of_boot(kernel: &str, failure: BootFailure) -> Self {
        match failure.trouble {
            BootTrouble::Interrupted => Self::Interrupted,
            _ => Self::Boot { kernel: kernel.to_string(), failure: Box::new(failure) },
        }
    }
}
