//! Suites: kiln's own, and those of others.
//!
//! * [`select`]: choosing cases by their names
//! * [`external`]: what the suites of others have in common; [`folder`]: any executables
//! * [`ltp`]: the Linux Test Project
//! * [`kselftest`]: the kernel's own selftests, installed or built from a tree
//! * [`ship`]: from a suite to a plan; [`modprobe`]: the modules that programs load themselves

mod error;
pub mod external;
mod folder;
pub mod kselftest;
pub mod ltp;
mod modprobe;
pub mod select;
mod ship;

use std::path::Path;

use protocol::catalogue::Case;

pub use error::Error;
pub use external::External;

/// The cases of a session.
#[derive(Debug)]
pub enum Suite {
    /// Cases that are built into kiln.
    Own {
        /// The suite's name.
        name: String,
        /// In the order in which they run.
        cases: Vec<&'static Case>,
    },
    /// A suite of others.
    External(Box<External>),
}

impl Suite {
    /// The suite that `text` names, a folder where it holds a slash or is a dot, with the cases that match
    /// one of `patterns`.
    ///
    /// # Errors
    ///
    /// When there is no such suite, it has no cases, or a pattern matches nothing.
    pub fn open(text: &str, patterns: &[String]) -> Result<Self, Error> {
        if text.contains('/') || text == "." || text == ".." {
            let external = at(Path::new(text))?.select(patterns)?;
            return Ok(Self::External(Box::new(external)));
        }
        Ok(Self::Own { name: text.to_string(), cases: select::select(text, patterns)? })
    }
}

/// The suite that lies at `path`.
fn at(path: &Path) -> Result<External, Error> {
    let found = path.metadata().map_err(|source| Error::Path { path: path.to_owned(), source })?;
    if let Some(wanted) = ltp::recognise(path) {
        return ltp::open(&wanted);
    }
    match found.is_dir() {
        true if kselftest::is_installed(path) => kselftest::open(path),
        true => folder::open(path),
        false => Err(Error::NoFolder { path: path.to_owned() }),
    }
}
