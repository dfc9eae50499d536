//! What can go wrong with a segment.

use std::io;

use thiserror::Error;

use crate::impairment::ImpairmentError;
use crate::settings::SettingsError;

/// Why a segment did not do what it was asked.
#[derive(Debug, Error)]
pub enum SegmentError {
    /// What was described is no segment.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// No link does this to frames.
    #[error(transparent)]
    Impairment(#[from] ImpairmentError),
    /// Nobody has this name.
    #[error("segment {segment} has no station {station:?}")]
    Station {
        /// The name of the segment.
        segment: String,
        /// The name that nobody has.
        station: String,
    },
    /// The host did not give what a segment needs.
    #[error("the host cannot {what}: {source}")]
    Host {
        /// What it was asked to do.
        what: &'static str,
        /// Why it did not.
        source: io::Error,
    },
    /// A capture could not be written.
    #[error("cannot write the capture: {0}")]
    Capture(io::Error),
    /// There is a capture already, or none.
    #[error("segment {0} {1}")]
    Capturing(String, &'static str),
    /// The thread is gone.
    #[error("the thread of segment {0} has ended; this is a defect of kiln")]
    Ended(String),
}
