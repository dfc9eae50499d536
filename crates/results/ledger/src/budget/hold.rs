//! Sessions that somebody still needs: a list of their names, on which a lock is held.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::recorder::{Error, prepare};

/// How the name of a list begins, and that of one that is not locked yet.
const HELD: &str = ".held-";
const BEGUN: &str = ".hold-";

/// Keeps sessions from being removed as long as it lives.
#[derive(Debug)]
pub struct Hold {
    path: PathBuf,
    file: File,
}

impl Hold {
    /// One for sessions below `root`, of none yet. A process has one for each folder.
    ///
    /// # Errors
    ///
    /// When the folder cannot be written.
    pub fn new(root: &Path) -> Result<Self, Error> {
        prepare(root)?;
        let name = |start: &str| root.join(format!("{start}{}", std::process::id()));
        let (begun, path) = (name(BEGUN), name(HELD));
        let open = || -> io::Result<File> {
            let file = OpenOptions::new().create(true).append(true).open(&begun)?;
            file.lock()?;
            // Without a lock it would be taken for that of a kiln that was killed.
            std::fs::rename(&begun, &path)?;
            Ok(file)
        };
        let file = open().map_err(|why| Error::Io { path: root.to_path_buf(), why })?;
        Ok(Self { path, file })
    }

    /// From now on the session of this name stays.
    ///
    /// # Errors
    ///
    /// When that cannot be written.
    pub fn add(&self, session: &str) -> Result<(), Error> {
        let line = format!("{session}\n");
        (&self.file).write_all(line.as_bytes()).map_err(|why| Error::Io { path: self.path.clone(), why })
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether somebody needs the session of this name; the list of a kiln that was killed is removed.
pub(crate) fn is_held(root: &Path, session: &str) -> bool {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let lists = entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(HELD)));
    lists.map(|entry| entry.path()).any(|path| {
        if File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = std::fs::remove_file(&path);
            return false;
        }
        std::fs::read_to_string(&path).is_ok_and(|names| names.lines().any(|name| name == session))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_counts_as_long_as_its_holder_lives() {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("runs");
        let hold = Hold::new(&place).unwrap();
        hold.add("a").unwrap();
        hold.add("b").unwrap();
        assert!(is_held(&place, "a") && is_held(&place, "b") && !is_held(&place, "c"));
        std::fs::write(place.join(".held-0"), "c\n").unwrap();
        assert!(!is_held(&place, "c"), "its holder was killed");
        drop(hold);
        assert!(!is_held(&place, "a"));
        assert_eq!(std::fs::read_dir(place).unwrap().count(), 0);
    }
}
