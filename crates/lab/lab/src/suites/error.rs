//! What can be wrong with a suite of others.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::select::UnknownCase;

/// A suite that cannot be had.
#[derive(Debug, Error)]
pub enum Error {
    /// A name that nothing has.
    #[error(transparent)]
    Unknown(#[from] UnknownCase),
    /// The folder cannot be read, or holds too many files.
    #[error(transparent)]
    Folder(#[from] machine::Error),
    /// What was named is not there.
    #[error("{path}: {source}")]
    Path {
        /// What was named.
        path: PathBuf,
        /// What the host said.
        source: io::Error,
    },
    /// A file was named.
    #[error("{path}: is not a folder: --exec runs a single program")]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// Nothing to run.
    #[error("{path}: {why}")]
    NoCases {
        /// The folder or list.
        path: PathBuf,
        /// What was looked for.
        why: &'static str,
    },
    /// More than a machine can hold.
    #[error("{path}: holds {mib} MiB, at most {most} can be shipped into a machine: name a part of it")]
    TooLarge {
        /// The folder.
        path: PathBuf,
        /// Its size.
        mib: u64,
        /// The limit in MiB.
        most: u64,
    },
    /// A list that cannot be understood.
    #[error("{path}:{line}: {why}")]
    List {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// LTP's library would refuse it in each test.
    #[error("LTP_RUNTIME_MUL={value}: not a number from {least} to {most}")]
    RuntimeFactor {
        /// The value of the variable.
        value: String,
        /// The smallest number that LTP takes.
        least: f64,
        /// The largest.
        most: f64,
    },
    /// Neither of the places in which selftests are.
    #[error(
        "{path}: is neither an installed kselftest (it has no kselftest-list.txt) nor in a kernel's tools/testing/selftests"
    )]
    NoSelftests {
        /// The folder.
        path: PathBuf,
    },
    /// The tree has no such group.
    #[error("{tree} has no selftests {group:?}{hint}")]
    NoGroup {
        /// The kernel tree.
        tree: PathBuf,
        /// What was asked for.
        group: String,
        /// Names that are close, or nothing.
        hint: String,
    },
    /// A group alone, and no tree to take it from.
    #[error(
        "--kselftest {group}: the source of this kernel is unknown: name a folder, such as ~/linux/tools/testing/selftests/{group}"
    )]
    NoTree {
        /// What was asked for.
        group: String,
    },
    /// Makefiles pass paths to shells as they are.
    #[error(
        "{path}: the selftests' makefiles take no blanks and quotes in the path of a folder: choose another"
    )]
    OddPath {
        /// The path.
        path: PathBuf,
    },
    /// Selftests that cannot be built.
    #[error("building the selftests failed: {error}; the output of make is in {log}")]
    Build {
        /// The first error of make.
        error: String,
        /// Its whole output.
        log: PathBuf,
    },
    /// A program that is needed for the building is not there.
    #[error("{program} is not installed and is needed to build the selftests: apt-get install {program}")]
    NoProgram {
        /// Its name, and that of its package.
        program: &'static str,
    },
    /// The host refused something on the way.
    #[error("building the selftests: {what}: {source}")]
    Host {
        /// What was tried.
        what: String,
        /// What the host said.
        source: io::Error,
    },
    /// The user did not want to wait.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Whether the user asked for something that cannot be.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Folder(error) => error.is_usage(),
            Self::Build { .. } | Self::NoProgram { .. } | Self::Host { .. } | Self::Interrupted => false,
            _ => true,
        }
    }

    /// A refusal of the host while something was done with a file.
    pub(super) fn host(verb: &str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let what = format!("cannot {verb} {}", path.display());
        move |source| Self::Host { what, source }
    }
}
