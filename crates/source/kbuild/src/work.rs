//! Directories that builds come back to: a checkout for each origin, and objects for each configuration of one.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use crate::Error;
use kernel::store::{Lease, Lock, Shelf, Store};
use kernel::{Context, PartsHash};

/// Most that all checkouts take, and all objects, in bytes.
const BUDGET: u64 = 8 << 30;

/// Hexadecimal digits in the name of a directory.
const KEY_LENGTH: usize = 16;

/// Exists while something is written: nothing beside it can be trusted then.
const UNFINISHED: &str = "unfinished";

/// A directory that no other kiln uses meanwhile.
#[derive(Debug)]
pub(crate) struct Work {
    directory: PathBuf,
    _lock: Lock,
    /// Against pruning.
    lease: Option<Lease>,
}

impl Work {
    /// Waits for the directory of `key`, and empties it if its last user died over it. One more is paid for by
    /// those that were used longest ago.
    pub(crate) fn enter(shelf: &Shelf, key: PartsHash, context: &mut Context<'_>) -> Result<Self, Error> {
        let directory = shelf.entry(&key.finish()[..KEY_LENGTH]);
        let lock = Lock::take(&directory.with_extension("lock"), &mut context.caller())?;
        let work = Self { directory, _lock: lock, lease: None };
        if work.mark().exists() {
            work.clear()?;
        }
        if !work.directory.exists() {
            make_room(shelf)?;
        }
        let work = work.with_lease()?;
        File::create(work.mark()).map_err(Error::io("write", &work.mark()))?;
        Ok(work)
    }

    /// Makes the directory, and keeps it from being pruned.
    fn with_lease(mut self) -> Result<Self, Error> {
        loop {
            fs::create_dir_all(&self.directory).map_err(Error::io("make", &self.directory))?;
            match Store::lease(&self.directory) {
                // It was pruned between the two.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                lease => {
                    self.lease = lease.ok();
                    return Ok(self);
                }
            }
        }
    }

    /// What is in order may be built upon: make has ended by itself, also when it failed.
    pub(crate) fn leave<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        if result.as_ref().err().is_none_or(Error::leaves_order) {
            self.is_in_order()?;
        } else {
            self.clear()?;
        }
        result
    }

    /// All that was begun has been ended.
    fn is_in_order(&self) -> Result<(), Error> {
        fs::remove_file(self.mark()).map_err(Error::io("remove", &self.mark()))
    }

    /// Removes everything.
    fn clear(&self) -> Result<(), Error> {
        fs::remove_dir_all(&self.directory).map_err(Error::io("remove", &self.directory))
    }

    /// For a checkout.
    pub(crate) fn tree(&self) -> PathBuf {
        self.directory.join("tree")
    }

    /// For what make makes.
    pub(crate) fn objects(&self) -> Result<PathBuf, Error> {
        let objects = self.directory.join("objects");
        fs::create_dir_all(&objects).map_err(Error::io("make", &objects))?;
        Ok(objects)
    }

    /// For what make prints.
    pub(crate) fn log(&self) -> PathBuf {
        self.directory.join("build.log")
    }

    /// For the warnings about what was compiled here.
    pub(crate) fn warnings(&self) -> PathBuf {
        self.directory.join("warnings.json")
    }

    /// For what is known of the last configuration here.
    pub(crate) fn earlier(&self) -> PathBuf {
        self.directory.join("configured.json")
    }

    fn mark(&self) -> PathBuf {
        self.directory.join(UNFINISHED)
    }
}

/// Whoever prunes meanwhile makes room as well.
fn make_room(shelf: &Shelf) -> Result<(), Error> {
    if let Some(lock) = shelf.try_lock()? {
        shelf.keep_within(&lock, BUDGET)?;
    }
    Ok(())
}
