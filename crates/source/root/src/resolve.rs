//! The way from a locator to a Root.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use kernel::{Context, PartsHash};

use crate::error::Error;
use crate::locator::{RootLocator, below_home};
use crate::{Files, Filesystem, Image, Medium, Root, debian, directory, host_files};

/// Finds the Root that a locator names, and makes it if need be.
///
/// # Errors
///
/// When there is none, or it cannot be made.
pub fn resolve(locator: &RootLocator, context: &mut Context<'_>) -> Result<Root, Error> {
    match locator {
        RootLocator::Host { writable } => host_files::find(&locator.to_string(), writable),
        RootLocator::Debian { suite, packages } => {
            debian::find(&locator.to_string(), suite.as_deref(), packages, context)
        }
        RootLocator::Path(typed) => from_path(&below_home(typed), &locator.to_string(), context),
    }
}

fn from_path(path: &Path, typed: &str, context: &mut Context<'_>) -> Result<Root, Error> {
    let found = path.canonicalize().map_err(|source| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::NotFound { path: path.to_owned() },
        _ => Error::Io { action: "find", path: path.to_owned(), source },
    })?;
    if found.is_dir() {
        return directory::find(&found, typed, context);
    }
    let filesystem = Filesystem::of(&found).map_err(Error::io("read", path))?;
    let filesystem = filesystem.ok_or_else(|| Error::NotAnImage { path: path.to_owned() })?;
    let facts = found.metadata().map_err(Error::io("find", path))?;
    let (identity, size) = (stamp(&found, &facts), facts.len());
    let provenance = format!("{filesystem} image {typed}");
    let files = Files::Image(Image { path: found, filesystem, size, medium: Medium::Disk, lease: None });
    Ok(Root { locator: typed.to_owned(), provenance, identity, files })
}

/// Changes with the file. To read gigabytes would take longer than the boot.
fn stamp(path: &Path, found: &Metadata) -> String {
    let mut hash = PartsHash::default();
    hash.part(path.as_os_str().as_encoded_bytes());
    for number in [found.dev(), found.ino(), found.size()] {
        hash.part(number.to_le_bytes());
    }
    for time in [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()] {
        hash.part(time.to_le_bytes());
    }
    hash.finish()
}
