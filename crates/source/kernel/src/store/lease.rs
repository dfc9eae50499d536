//! Leases: a user of an entry holds one, so that it is not pruned.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

/// Keeps an entry of the store in its place as long as it lives, also against other processes.
///
/// It is a shared lock (flock) on the entry's directory, so it goes with the process however that dies.
#[derive(Debug)]
pub struct Lease {
    _directory: File,
}

/// Uses an entry: it is not pruned while the lease lives, and was last used now.
///
/// # Errors
///
/// `NotFound` where there is no such entry, or where it was just pruned; others where the file system cannot
/// lock, and then nothing keeps the entry.
pub(super) fn take(entry: &Path) -> io::Result<Lease> {
    let directory = File::open(entry)?;
    // A prune holds its lock for no longer than a rename takes.
    directory.lock_shared()?;
    if !is_at(&directory, entry) {
        return Err(io::ErrorKind::NotFound.into());
    }
    // Of a store that is only readable nothing is pruned, so the date does not matter.
    let _ = directory.set_modified(SystemTime::now());
    Ok(Lease { _directory: directory })
}

/// The right to take an entry away; nothing while somebody uses it, or when it has gone.
pub(crate) fn claim(entry: &Path) -> io::Result<Option<File>> {
    let directory = File::open(entry)?;
    match directory.try_lock() {
        Ok(()) => Ok(is_at(&directory, entry).then_some(directory)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether what was opened is still what the path names.
fn is_at(open: &File, path: &Path) -> bool {
    let identity = |found: &std::fs::Metadata| (found.dev(), found.ino());
    match (open.metadata(), path.metadata()) {
        (Ok(open), Ok(there)) => identity(&open) == identity(&there),
        _ => false,
    }
}
