//! What this kernel or user may lack.

use harness::check::{Checked, describe, skip};
use rustix::io::Errno;

/// Errors by which a kernel says that it does not have something, or a policy that it must not be used.
const MISSING: [Errno; 7] = [
    Errno::NOSYS,
    Errno::OPNOTSUPP,
    Errno::PERM,
    Errno::ACCESS,
    Errno::AFNOSUPPORT,
    Errno::PROTONOSUPPORT,
    Errno::NODEV,
];

/// The result of the first use of something that may not be there: skips where it is not.
///
/// # Errors
///
/// Skips, or fails with another error.
#[track_caller]
pub(crate) fn supported<T, E: Into<Error>>(what: &str, result: Result<T, E>) -> Checked<T> {
    supported_unless(what, result, &[])
}

/// The same with more errors that mean that it is not there.
///
/// # Errors
///
/// Skips, or fails with another error.
#[track_caller]
pub(crate) fn supported_unless<T, E: Into<Error>>(
    what: &str,
    result: Result<T, E>,
    more: &[Errno],
) -> Checked<T> {
    match result.map_err(Into::into) {
        Ok(value) => Ok(value),
        Err(Error(error)) if MISSING.contains(&error) || more.contains(&error) => {
            skip(&format!("{what}: {}", describe(error)))
        }
        Err(Error(error)) => Err(error)?,
    }
}

/// An error of the kernel, however it came.
pub(crate) struct Error(Errno);

impl From<Errno> for Error {
    fn from(error: Errno) -> Self {
        Self(error)
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self(Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }
}
