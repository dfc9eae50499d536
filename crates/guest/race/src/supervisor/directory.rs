//! An empty directory of the race's own.

use std::fs::{DirBuilder, remove_dir_all};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use harness::check::{Checked, broken};

/// Names that may be taken.
const TRIES: u32 = 100;

/// A directory that is removed when it is dropped.
#[derive(Debug)]
pub(super) struct Directory(PathBuf);

impl Directory {
    /// A new one, for this user only.
    pub(super) fn new() -> Checked<Self> {
        let (parent, process) = (std::env::temp_dir(), std::process::id());
        for number in 0..TRIES {
            let path = parent.join(format!("kiln-race-{process}-{number}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return broken(&format!("cannot make {}: {error}", path.display())),
            }
        }
        broken(&format!("{} has too many directories kiln-race-*: remove them", parent.display()))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Where it is still in use, by a process that cannot be killed, it stays.
        let _ = remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_with_all_that_is_in_it() {
        let (first, second) = (Directory::new().expect("it is made"), Directory::new().expect("it is made"));
        assert_ne!(first.path(), second.path());
        std::fs::write(first.path().join("file"), "").expect("it is ours");
        let path = first.path().to_path_buf();
        drop(first);
        assert!(!path.exists() && second.path().exists());
    }
}
