//! Why a locator did not become a Root. Each message is one line: what, with what, what to do.

use std::io;
use std::path::PathBuf;

use host::task::Failure;

/// What can go wrong between a locator and a Root.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing was named.
    #[error("the root is empty: name debian:PACKAGES, host, a directory or an image")]
    EmptyLocator,
    /// The text after `debian` is no suite or no list of packages.
    #[error(
        "{locator}: {part:?} is not the name of a package: write debian:fio,iproute2 or debian/trixie:fio"
    )]
    DebianLocator {
        /// The whole text.
        locator: String,
        /// What does not fit.
        part: String,
    },
    /// The path leads nowhere.
    #[error("{path}: no such file or directory: name a root directory, an image or debian:PACKAGES")]
    NotFound {
        /// As it was typed.
        path: PathBuf,
    },
    /// A file that holds no file system that a stock kernel mounts.
    #[error("{path}: not an image of a file system: EROFS, SquashFS, ext4, XFS and Btrfs are known")]
    NotAnImage {
        /// As it was typed.
        path: PathBuf,
    },
    /// An image that cannot become memory.
    #[error(
        "{path}: a machine that measures has the image in its memory, which comes in pieces of 2 MiB: `truncate -s %2M {path}` makes it a multiple of that"
    )]
    Unaligned {
        /// Where it is.
        path: PathBuf,
    },
    /// Files of this host, in a machine that measures.
    #[error(
        "root {locator}: figures would depend on when this host answers for its files, and on what is in them: measure with packages, a directory or an image"
    )]
    HostFiles {
        /// The locator.
        locator: String,
    },
    /// A directory in which no program is.
    #[error("{path}: not a root directory: it has neither bin nor usr/bin")]
    NotARoot {
        /// As it was typed.
        path: PathBuf,
    },
    /// The text after `host` is no list of directories.
    #[error("{locator}: not a list of at most eight directories to write to: write host:./results,/srv/data")]
    HostLocator {
        /// The whole text.
        locator: String,
    },
    /// There is no root whose init could run.
    #[error("systemd needs a root of its own: name debian:systemd-sysv, a directory or an image")]
    NoInit,
    /// What programs should write to is no directory.
    #[error("{locator}: {path}: {reason}: name directories of this host to which programs may write")]
    NoDirectory {
        /// The locator.
        locator: String,
        /// As it was typed.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The archive has no such package.
    #[error("{locator}: {suite} has no package {package}: check the name with `apt-cache search`")]
    NoSuchPackage {
        /// The locator.
        locator: String,
        /// Where it was looked for.
        suite: String,
        /// Its name.
        package: String,
    },
    /// The archive has no such suite.
    #[error("{locator}: {archive} has no suite {suite}")]
    NoSuchSuite {
        /// The locator.
        locator: String,
        /// Where it was looked for.
        archive: String,
        /// Its name.
        suite: String,
    },
    /// The archive did not answer.
    #[error("{locator}: cannot reach the archive: {reason}: check the network and the proxy of apt")]
    Unreachable {
        /// The locator.
        locator: String,
        /// What apt says.
        reason: String,
    },
    /// There was no room for it.
    #[error(
        "{locator}: no space left while it was made: it is put together in memory, of which {percent} % were allowed"
    )]
    NoSpace {
        /// The locator.
        locator: String,
        /// Share of the memory.
        percent: u32,
    },
    /// A program that is needed is not there.
    #[error("{locator}: needs {program}: apt-get install {package}")]
    Missing {
        /// The locator.
        locator: String,
        /// The program.
        program: &'static str,
        /// Where it comes from.
        package: &'static str,
    },
    /// An ordinary user without user ids to give to a root.
    #[error(
        "{locator}: this user has no subordinate ids, with which packages are unpacked: add a line to /etc/subuid and /etc/subgid with `usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER`"
    )]
    NoSubordinateIds {
        /// The locator.
        locator: String,
    },
    /// A program failed.
    #[error("{action} failed: {reason}")]
    Command {
        /// What was tried.
        action: String,
        /// What it says.
        reason: String,
    },
    /// The host refused something.
    #[error("{0}")]
    Task(Failure),
    /// A file, a package or the store.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// A file.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// The refusal.
        source: io::Error,
    },
    /// The user wanted to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// The user can mend it with other words on the command line.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::EmptyLocator
                | Self::DebianLocator { .. }
                | Self::NotFound { .. }
                | Self::NotAnImage { .. }
                | Self::Unaligned { .. }
                | Self::HostFiles { .. }
                | Self::NotARoot { .. }
                | Self::NoInit
                | Self::HostLocator { .. }
                | Self::NoDirectory { .. }
                | Self::NoSuchPackage { .. }
                | Self::NoSuchSuite { .. }
        )
    }

    /// The user wanted to stop.
    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::Interrupted => true,
            Self::Kernel(error) => error.is_interrupt(),
            _ => false,
        }
    }

    /// What goes wrong with a file.
    pub(crate) fn io(action: &'static str, path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Interrupted { .. } => Self::Interrupted,
            other => Self::Task(other),
        }
    }
}
