//! The cache: unpacked packages, builds, and indexes of module trees. All of it can be deleted at any time.
//!
//! [`shelf`] puts entries in place, [`lease`] keeps what is in use, [`scratch`] is for what is being made.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::caller::Caller;
use crate::error::Error;
use crate::modules::index::Index;
use crate::modules::survey::Survey;
use crate::version;

mod lease;
mod scratch;
mod shelf;

pub use lease::Lease;
pub(crate) use lease::claim;
pub use scratch::Scratch;
pub(crate) use shelf::TEMPORARY;
pub use shelf::{Lock, Shelf};

/// Where kernels are kept between runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    directory: PathBuf,
}

/// Changed when an index or a manifest is written in another form; older ones are then made anew.
pub const FORMAT: u32 = 2;
const KEPT_INDEXES: usize = 64;

impl Store {
    /// A store in a directory, which is made when something is to be kept.
    pub fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// kiln's folder of cached files.
    pub fn default_dir() -> PathBuf {
        host::cache_folder()
    }

    /// Where it is.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Mails of servers, for some minutes.
    pub fn mails(&self) -> PathBuf {
        self.directory.join("mails")
    }

    /// Unpacked packages.
    pub(crate) fn packages(&self) -> Shelf {
        Shelf::new(self.directory.join("deb"))
    }

    /// Unpacked packages of source.
    pub fn sources(&self) -> Shelf {
        Shelf::new(self.directory.join("sources"))
    }

    /// Finished builds, by their identity.
    pub fn builds(&self) -> Shelf {
        Shelf::new(self.directory.join("built"))
    }

    /// User spaces for machines.
    pub fn roots(&self) -> Shelf {
        Shelf::new(self.directory.join("roots"))
    }

    /// Booted machines that others are cloned from.
    pub fn templates(&self) -> Shelf {
        Shelf::new(self.directory.join("templates"))
    }

    /// Checkouts of sources, one for each origin, which only change where the next one differs.
    pub fn trees(&self) -> Shelf {
        Shelf::new(self.directory.join("trees"))
    }

    /// Objects of builds, so that the next build has less to do.
    pub fn work(&self) -> Shelf {
        Shelf::new(self.directory.join("work"))
    }

    /// Objects of git that a checkout has beyond its commits.
    pub fn objects(&self, repository: &str) -> PathBuf {
        self.directory.join("objects").join(repository)
    }

    /// A folder for as long as something is made in it.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn scratch(&self) -> Result<Scratch, Error> {
        let directory = self.directory.join("scratch");
        Scratch::make(&directory).map_err(Error::io("make a folder in", &directory))
    }

    /// Where is kept which build a request led to.
    pub fn asked(&self, key: &str) -> PathBuf {
        self.directory.join("asked").join(format!("{key}.json"))
    }

    /// Where an unpacked package stands, or will.
    pub(crate) fn package(&self, package: &str, version: &str) -> PathBuf {
        self.packages().entry(&format!("{package}_{version}"))
    }

    /// Where is kept which packages names meant.
    pub(crate) fn meanings(&self) -> PathBuf {
        self.packages().entry("meanings.json")
    }

    /// Where is kept what apt offers.
    pub(crate) fn offers(&self) -> PathBuf {
        self.packages().entry("offers.json")
    }

    /// The newest version of a package that is here.
    pub(crate) fn newest_package(&self, package: &str) -> Option<PathBuf> {
        let version = |name: &str| Some(name.strip_prefix(package)?.strip_prefix('_')?.to_owned());
        let versions = self.packages().names().filter_map(|name| version(&name));
        let newest = versions.max_by(|a, b| version::debian::compare(a, b))?;
        Some(self.package(package, &newest))
    }

    /// Uses an entry: it is not pruned while the lease lives, and was last used now.
    ///
    /// # Errors
    ///
    /// `NotFound` where there is no such entry, or where it was just pruned; others where the file system cannot
    /// lock, and then nothing keeps the entry.
    pub fn lease(entry: &Path) -> io::Result<Lease> {
        lease::take(entry)
    }

    /// The index of a tree, from an earlier run if nothing changed since.
    pub(crate) fn index(&self, survey: &Survey, caller: &mut Caller<'_>) -> Result<Index, Error> {
        let kept =
            survey.fingerprint().map(|print| self.directory.join("index").join(format!("{print}.json")));
        if let Some(index) = kept.as_deref().and_then(read_json) {
            return Ok(index);
        }
        caller.progress(&format!("reading {} modules of {}", survey.files.len(), survey.root.display()));
        let index = Index::build(survey)?;
        if let Some(path) = kept {
            // A cache that cannot be written costs time only.
            let _ = keep_index(&path, &index);
        }
        Ok(index)
    }
}

/// Reads a file of the store; whatever is wrong with it, it is made anew.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Writes a file of the store.
///
/// # Errors
///
/// When it cannot be written.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_vec(value).map_err(io::Error::other);
    text.and_then(|text| fs::write(path, text)).map_err(Error::io("write", path))
}

/// Writes a file of the store that others may read at any time: it is there as a whole or not at all.
///
/// # Errors
///
/// When it cannot be written.
pub fn persist_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(directory)?;
    host::write_atomically(path, &serde_json::to_vec(value)?)
}

fn keep_index(path: &Path, index: &Index) -> io::Result<()> {
    persist_json(path, index)?;
    forget_old_indexes(path.parent().unwrap_or(Path::new("/")))
}

/// Each build of a tree leaves an index; the oldest ones go.
fn forget_old_indexes(directory: &Path) -> io::Result<()> {
    let dated = |entry: fs::DirEntry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()));
    let mut kept: Vec<(SystemTime, PathBuf)> = fs::read_dir(directory)?.flatten().filter_map(dated).collect();
    kept.sort();
    let surplus = kept.len().saturating_sub(KEPT_INDEXES);
    kept.drain(..surplus).try_for_each(|(_, path)| fs::remove_file(path))
}

#[cfg(test)]
mod tests;
