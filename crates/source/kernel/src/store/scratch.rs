//! Folders for as long as something is made in them.
//!
//! A folder of a kiln that was killed is cleared by the next one: each has a file that its owner keeps locked.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The file in a folder that is locked while its owner lives.
const OWNED: &str = ".owned";

/// The file beside the folders that is locked while one is made or cleared.
const LOCK: &str = ".lock";

/// A folder of one's own, which is removed when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _owned: File,
}

impl Scratch {
    /// A new folder in `directory`, from which those of the dead are cleared.
    pub(super) fn make(directory: &Path) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        let lock = File::create(directory.join(LOCK))?;
        lock.lock()?;
        clear(directory)?;
        let path = tempfile::Builder::new().prefix("").tempdir_in(directory)?.keep();
        let owned = File::create(path.join(OWNED))?;
        owned.lock()?;
        // Whoever clears next finds it owned.
        drop(lock);
        Ok(Self { path, _owned: owned })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays is cleared by the next kiln.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn clear(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)?.flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_owned = File::open(entry.path().join(OWNED)).is_ok_and(|file| file.try_lock().is_err());
        if is_folder && !is_owned {
            // What cannot be removed is tried again the next time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_its_owner_and_those_of_the_dead_with_the_next() {
        let store = tempfile::tempdir().unwrap();
        let first = Scratch::make(store.path()).unwrap();
        fs::create_dir(store.path().join("dead")).unwrap();
        fs::write(store.path().join("dead").join(OWNED), "").unwrap();
        let second = Scratch::make(store.path()).unwrap();
        assert!(first.path().is_dir() && second.path().is_dir() && !store.path().join("dead").exists());
        let path = first.path().to_owned();
        fs::write(path.join("file"), "").unwrap();
        drop(first);
        assert!(!path.exists() && second.path().is_dir());
    }
}
