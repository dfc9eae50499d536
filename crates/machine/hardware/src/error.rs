//! Words that describe no device.

use thiserror::Error;

/// A description that no machine can have.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// There is no such device.
    #[error("there is no device {name:?}: the devices are {known}; for one of QEMU's write qemu:NAME,...")]
    Device {
        /// What was written.
        name: String,
        /// All that there are.
        known: String,
    },
    /// The device has no such option.
    #[error("{device} has no option {key:?}: its options are {known}")]
    Key {
        /// The device.
        device: &'static str,
        /// What was written.
        key: String,
        /// All that it has.
        known: String,
    },
    /// An option was given twice.
    #[error("{device}: {key} was given twice")]
    Twice {
        /// The device.
        device: &'static str,
        /// The option.
        key: String,
    },
    /// An option has no such value.
    #[error("{device}: {key}={value} is wrong: write {expected}")]
    Value {
        /// The device.
        device: &'static str,
        /// The option.
        key: &'static str,
        /// What was written.
        value: String,
        /// What it can be.
        expected: &'static str,
    },
    /// An option is missing.
    #[error("{device} needs {expected}")]
    Missing {
        /// The device.
        device: &'static str,
        /// What has to be written.
        expected: &'static str,
    },
    /// Two options, or two devices, exclude each other.
    #[error("{0}")]
    Conflict(String),
}
