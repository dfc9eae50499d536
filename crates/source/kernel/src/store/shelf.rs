//! A folder of the store whose entries are put in place as a whole or not at all.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::caller::Caller;
use crate::error::Error;

/// A folder of entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shelf {
    directory: PathBuf,
}

/// The right to change a shelf or a work directory, given back when dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

const LOCK_WAIT: Duration = Duration::from_secs(4 * 60 * 60);
/// What is on its way in or out has a name that begins like this.
pub(crate) const TEMPORARY: &str = "tmp-";

impl Shelf {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// The folder.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where the entry of this name stands, or will.
    pub fn entry(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The names of all entries.
    pub fn names(&self) -> impl Iterator<Item = String> + use<> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter(|name| !name.starts_with(['.']) && !name.starts_with(TEMPORARY))
    }

    /// Waits until no other kiln changes the shelf, and clears what dead ones left.
    ///
    /// # Errors
    ///
    /// When it cannot be made or locked, or the user does not want to wait.
    pub fn lock(&self, caller: &mut Caller<'_>) -> Result<Lock, Error> {
        let lock = Lock::take(&self.directory.join(".lock"), caller)?;
        clear(&self.directory)?;
        Ok(lock)
    }

    /// The same without waiting: nothing if another kiln changes it.
    ///
    /// # Errors
    ///
    /// When it cannot be made or locked.
    pub fn try_lock(&self) -> Result<Option<Lock>, Error> {
        let path = self.directory.join(".lock");
        let file = Lock::open(&path)?;
        match file.try_lock() {
            Ok(()) => {
                clear(&self.directory)?;
                Ok(Some(Lock { _file: file }))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(Error::io("lock", &path)(source)),
        }
    }

    /// A place to prepare an entry in; on the same file system, so that it can be renamed.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn workshop(&self, _lock: &Lock) -> Result<TempDir, Error> {
        let workshop = tempfile::Builder::new().prefix(TEMPORARY).tempdir_in(&self.directory);
        workshop.map_err(Error::io("write in", &self.directory))
    }

    /// Puts a prepared entry where others find it, in one step, so that a power cut leaves all of it or nothing.
    ///
    /// # Errors
    ///
    /// When the file system refuses it.
    pub fn publish(&self, lock: &Lock, prepared: &Path, place: &Path) -> Result<(), Error> {
        // Otherwise the name could be in place and the content unwritten.
        let flush = || rustix::fs::syncfs(File::open(prepared)?).map_err(io::Error::from);
        flush().map_err(Error::io("write to disk", prepared))?;
        self.place(lock, prepared, place)
    }

    /// Puts a prepared entry where others find it, in one step for them, but not for a power cut.
    ///
    /// # Errors
    ///
    /// When the file system refuses it.
    pub fn place(&self, _lock: &Lock, prepared: &Path, place: &Path) -> Result<(), Error> {
        let aside = self.directory.join(format!("{TEMPORARY}old-{}", std::process::id()));
        if place.exists() {
            // A damaged one. It goes aside first, for a rename replaces only empty directories.
            fs::rename(place, &aside).map_err(Error::io("replace", place))?;
        }
        fs::rename(prepared, place).map_err(Error::io("rename to", place))?;
        // What is left of it the next kiln clears.
        let _ = fs::remove_dir_all(&aside);
        Ok(())
    }
}

impl Lock {
    /// Waits until no other kiln holds the lock file, which is made if need be.
    ///
    /// # Errors
    ///
    /// When it cannot be made or locked, or the user does not want to wait.
    pub fn take(path: &Path, caller: &mut Caller<'_>) -> Result<Self, Error> {
        let file = Self::open(path)?;
        wait_for(&file, path, caller)?;
        Ok(Self { _file: file })
    }

    fn open(path: &Path) -> Result<File, Error> {
        let directory = path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(directory).map_err(Error::io("make", directory))?;
        let file = File::options().create(true).truncate(false).write(true).open(path);
        file.map_err(Error::io("open", path))
    }
}

fn wait_for(file: &File, path: &Path, caller: &mut Caller<'_>) -> Result<(), Error> {
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(source)) => return Err(Error::io("lock", path)(source)),
            Err(TryLockError::WouldBlock) if start.elapsed() > LOCK_WAIT => {
                return Err(Error::Locked { path: path.to_owned(), minutes: LOCK_WAIT.as_secs() / 60 });
            }
            Err(TryLockError::WouldBlock) => {}
        }
        if caller.is_interrupted() {
            return Err(Error::Interrupted);
        }
        caller.progress("waiting for another kiln that fetches or builds the same");
        sleep(Duration::from_millis(200));
    }
}

/// Removes the workshops of processes that died: whoever holds the lock has none yet.
fn clear(directory: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(directory).map_err(Error::io("list", directory))?.flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(TEMPORARY.as_bytes()) {
            // An orphaned apt may still write there; then the next kiln clears it.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixture::{NEVER, write};

    fn lock(shelf: &Shelf) -> Lock {
        shelf.lock(&mut Caller { listener: &mut |_| {}, interrupt: &NEVER }).unwrap()
    }

    #[test]
    fn who_holds_the_lock_has_cleared_what_the_dead_left() {
        let directory = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(directory.path().join("deb"));
        let stale = directory.path().join("deb/tmp-dead/half.deb");
        write(&stale, "half");
        let lock = lock(&shelf);
        assert!(!stale.exists());
        let second = File::options().write(true).open(directory.path().join("deb/.lock")).unwrap();
        assert!(matches!(second.try_lock(), Err(TryLockError::WouldBlock)));
        drop(lock);
        second.try_lock().unwrap();
    }

    #[test]
    fn publishing_replaces_a_damaged_one() {
        let directory = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(directory.path().into());
        let lock = lock(&shelf);
        let place = shelf.entry("a");
        for content in ["first", "second"] {
            let workshop = shelf.workshop(&lock).unwrap();
            write(&workshop.path().join("entry/file"), content);
            shelf.publish(&lock, &workshop.path().join("entry"), &place).unwrap();
            assert_eq!(fs::read_to_string(place.join("file")).unwrap(), content);
        }
        let left = fs::read_dir(directory.path()).unwrap().flatten().map(|entry| entry.file_name());
        let left: Vec<_> = left.filter(|name| name != ".lock").collect();
        assert_eq!(left, ["a"], "the damaged one has gone");
    }
}
