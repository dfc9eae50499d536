//! A directory in which builds of one origin and configuration compile, one after the other.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use crate::Error;
use kernel::Context;
use kernel::store::{Lease, Lock, Store};

/// A work directory that no other kiln uses meanwhile.
#[derive(Debug)]
pub(crate) struct Work {
    directory: PathBuf,
    _lock: Lock,
    /// Against pruning.
    lease: Option<Lease>,
}

/// Exists while something is written: nothing beside it can be trusted then.
const UNFINISHED: &str = "unfinished";

impl Work {
    /// Waits for the directory of `key`, and empties it if its last user died over it.
    pub(crate) fn enter(key: &str, context: &mut Context<'_>) -> Result<Self, Error> {
        let directory = context.store.work(key);
        let lock = Lock::take(&directory.with_extension("lock"), &mut context.caller())?;
        let work = Self { directory, _lock: lock, lease: None };
        if work.mark().exists() {
            work.clear()?;
        }
        let work = work.with_lease()?;
        File::create(work.mark()).map_err(Error::io("write", &work.mark()))?;
        Ok(work)
    }

    /// Makes the directory, and keeps it from being pruned.
    fn with_lease(mut self) -> Result<Self, Error> {
        loop {
            fs::create_dir_all(self.objects()).map_err(Error::io("make", &self.directory))?;
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
    pub(crate) fn is_in_order(&self) -> Result<(), Error> {
        fs::remove_file(self.mark()).map_err(Error::io("remove", &self.mark()))
    }

    /// Removes everything.
    fn clear(&self) -> Result<(), Error> {
        fs::remove_dir_all(&self.directory).map_err(Error::io("remove", &self.directory))
    }

    /// For a checkout of the source.
    pub(crate) fn tree(&self) -> PathBuf {
        self.directory.join("tree")
    }

    /// For what make makes.
    pub(crate) fn objects(&self) -> PathBuf {
        self.directory.join("objects")
    }

    /// For what make prints.
    pub(crate) fn log(&self) -> PathBuf {
        self.directory.join("build.log")
    }

    fn mark(&self) -> PathBuf {
        self.directory.join(UNFINISHED)
    }
}
