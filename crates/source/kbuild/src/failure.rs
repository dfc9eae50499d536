//! Why make failed: the first error of its log, and whose fault it is.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::Error;
use crate::diagnostics::{Diagnostics, Severity};

/// The end of a log is enough to find an error that stopped make, however long the log is; in bytes.
const LOG_END: u64 = 128 << 20;

/// Most errors whose texts are reported.
const ERRORS: usize = 32;

/// Where make works.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paths<'a> {
    /// The top of the source.
    pub(crate) tree: &'a Path,
    /// What make makes.
    pub(crate) objects: &'a Path,
    /// What make prints.
    pub(crate) log: &'a Path,
}

/// The error that the log shows.
pub(crate) fn of(paths: &Paths<'_>) -> Error {
    let diagnostics = match diagnostics(paths) {
        Ok(diagnostics) => diagnostics,
        Err(error) => return error,
    };
    let log = paths.log.to_owned();
    match diagnostics.first_error() {
        Some(error) if error.text.contains("No space left on device") => {
            Error::Full { cause: error.to_string() }
        }
        Some(error) if error.is_the_hosts() => Error::Unable { cause: error.to_string(), log },
        Some(error) => Error::Failed { cause: error.to_string(), errors: errors(&diagnostics), log },
        None => {
            let cause = "make gave no reason".to_owned();
            Error::Failed { errors: vec![cause.clone()], cause, log }
        }
    }
}

/// What make has made among its objects. The makefiles of the tree can put anything there, such as a link to a file of the user.
pub(crate) fn made(paths: &Paths<'_>, name: &Path) -> Result<File, Error> {
    host::open_beneath(paths.objects, name).map_err(|error| {
        let cause = format!("the build makes no {}: {error}", name.display());
        Error::Failed { errors: vec![cause.clone()], cause, log: paths.log.to_owned() }
    })
}

/// What the errors say: which of them comes first is a matter of which job was faster.
fn errors(diagnostics: &Diagnostics) -> Vec<String> {
    let errors = diagnostics.all.iter().filter(|found| found.severity == Severity::Error);
    let mut seen = HashSet::new();
    let texts = errors.map(|found| found.text.clone()).filter(|text| seen.insert(text.clone()));
    texts.take(ERRORS).collect()
}

/// Warnings and errors of the log.
pub(crate) fn diagnostics(paths: &Paths<'_>) -> Result<Diagnostics, Error> {
    let read = || {
        let mut file = File::open(paths.log)?;
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(size.saturating_sub(LOG_END)))?;
        let mut log = Vec::new();
        file.take(LOG_END).read_to_end(&mut log)?;
        io::Result::Ok(log)
    };
    let log = read().map_err(Error::io("read", paths.log))?;
    Ok(Diagnostics::of(&String::from_utf8_lossy(&log), paths.tree, paths.objects))
}
