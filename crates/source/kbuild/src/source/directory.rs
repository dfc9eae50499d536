//! A source tree that no git knows: built where it lies, never written to.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::Error;
use kernel::Context;
use kernel::PartsHash;

/// Several times what a kernel has.
const FILES_MAX: usize = 1_000_000;

/// The kernel's makefiles refuse to build elsewhere what was once built in place; they look at these.
const LEFT_BY_MAKE: [&str; 3] = [".config", "include/config", "include/generated"];

/// Refuses a tree in which make has run.
pub(super) fn check_clean(tree: &Path) -> Result<(), Error> {
    let left = LEFT_BY_MAKE.iter().find(|name| tree.join(name).exists());
    match left {
        Some(left) => Err(Error::NotClean { path: tree.to_owned(), left }),
        None => Ok(()),
    }
}

/// A name for the state of all files that costs no reading: path, size and time of change.
pub(super) fn fingerprint(tree: &Path, context: &mut Context<'_>) -> Result<String, Error> {
    context.progress(&format!("looking at {}", tree.display()));
    let mut lines = Vec::new();
    let mut waiting = vec![tree.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).map_err(Error::io("list", &directory))? {
            let entry = entry.map_err(Error::io("list", &directory))?;
            let path = entry.path();
            let state = entry.metadata().map_err(Error::io("look at", &path))?;
            if state.is_dir() {
                waiting.push(path);
                continue;
            }
            lines.push((path, state.len(), state.mtime(), state.mtime_nsec()));
            if lines.len() > FILES_MAX {
                return Err(Error::NotAKernelTree { path: tree.to_owned() });
            }
        }
    }
    lines.sort();
    let mut hash = PartsHash::default();
    for (path, size, seconds, nanoseconds) in lines {
        hash.part(path.as_os_str().as_encoded_bytes());
        hash.part([size.to_le_bytes(), seconds.to_le_bytes(), nanoseconds.to_le_bytes()].concat());
    }
    Ok(format!("directory {}", hash.finish()))
}
