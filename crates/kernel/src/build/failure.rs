//! Why make failed: the first error of its log, and whose fault it is.

use crate::build::diagnostics::Diagnostics;
use crate::build::error::BuildError;
use crate::build::make::Make;
use crate::error::Error;
use crate::files;

/// The end of a log is enough to find an error that stopped make, however long the log is.
const LOG: files::Limit = files::Limit { what: "a build log", bytes: 256 << 20 };

/// The error that the log of this make shows.
pub(crate) fn of(make: &Make<'_>) -> Error {
    let diagnostics = match diagnostics(make) {
        Ok(diagnostics) => diagnostics,
        Err(error) => return error,
    };
    let log = make.log.to_owned();
    match diagnostics.first_error() {
        Some(error) if error.is_the_hosts() => BuildError::Unable { cause: error.to_string(), log }.into(),
        Some(error) => BuildError::Failed { cause: error.to_string(), log }.into(),
        None => BuildError::Failed { cause: "make gave no reason".to_owned(), log }.into(),
    }
}

/// Warnings and errors of the log.
pub(crate) fn diagnostics(make: &Make<'_>) -> Result<Diagnostics, Error> {
    let log = files::read(make.log, LOG)?;
    Ok(Diagnostics::of(&String::from_utf8_lossy(&log), make.tree, make.objects))
}
