//! Makes room in the store: what nobody used for longest goes first.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::context::Context;
use crate::error::Error;
use crate::store::{Lock, Shelf, Store, TEMPORARY, claim};

/// The folders whose sub-folders are entries: packages, builds, checkouts, objects, unpacked sources, user spaces, booted
/// machines.
const KINDS: [&str; 7] = ["deb", "built", "trees", "work", "sources", "roots", "templates"];

/// The folders whose entries are no longer wanted once nobody has written to them for so long: objects of git for trees that were built,
/// builds of selftests, which build a request led to, mails of servers. Who uses one takes no lease.
const AGING: [&str; 4] = ["objects", "kselftest", "asked", "mails"];

/// How long entries that age are kept.
const AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// What a folder of the store takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// Its name.
    pub name: String,
    /// How many entries it has.
    pub entries: usize,
    /// What they take on the disk, in bytes.
    pub bytes: u64,
}

/// Something in the store that can be fetched or made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Kind and name, such as `deb/linux-image-6.1.0-56-cloud-amd64-unsigned_6.1.192-2`.
    pub name: String,
    /// What it takes on the disk, in bytes.
    pub size: u64,
    /// When it was last used.
    pub last_used: SystemTime,
    path: PathBuf,
}

/// What a prune did, or would do.
#[derive(Debug, Default)]
pub struct Pruned {
    /// What was removed, the oldest first.
    pub removed: Vec<Entry>,
    /// What would have gone, were it not in use.
    pub in_use: Vec<Entry>,
    /// What is left, in bytes.
    pub kept: u64,
    /// What could not be removed, and why.
    pub failed: Vec<Error>,
}

impl Pruned {
    /// How much was freed, in bytes.
    pub fn freed(&self) -> u64 {
        self.removed.iter().map(|entry| entry.size).sum()
    }
}

impl Store {
    /// Removes entries until the store takes no more than `keep` bytes: oldest use first, and none in use.
    ///
    /// `dry_run` only finds out what would go.
    ///
    /// # Errors
    ///
    /// When the store cannot be locked or listed. What fails with a single entry is in [`Pruned::failed`].
    pub fn prune(keep: u64, dry_run: bool, context: &mut Context<'_>) -> Result<Pruned, Error> {
        let store = context.store;
        if !store.directory().exists() {
            return Ok(Pruned::default());
        }
        // Nobody fetches or prunes meanwhile, and what an earlier prune left half done is cleared.
        let lock = |kind: &&str| Shelf::new(store.directory().join(kind)).lock(&mut context.caller());
        let _locks = KINDS.iter().map(lock).collect::<Result<Vec<Lock>, _>>()?;
        context.progress("measuring the store");
        let entries = store.entries()?;
        let mut pruned = Pruned { kept: entries.iter().map(|entry| entry.size).sum(), ..Pruned::default() };
        for entry in entries {
            if pruned.kept <= keep {
                break;
            }
            context.progress(&format!("removing {}", entry.name));
            match take(&entry, dry_run) {
                Ok(true) => {
                    pruned.kept -= entry.size;
                    pruned.removed.push(entry);
                }
                Ok(false) => pruned.in_use.push(entry),
                Err(source) => pruned.failed.push(Error::io("remove", &entry.path)(source)),
            }
        }
        Ok(pruned)
    }

    /// What each folder takes, by their names.
    #[must_use]
    pub fn usage(&self) -> Vec<Usage> {
        let folders = fs::read_dir(self.directory()).into_iter().flatten().flatten();
        let usage = |folder: fs::DirEntry| {
            let path = folder.path();
            Some(Usage {
                name: folder.file_name().into_string().ok()?,
                entries: fs::read_dir(&path).ok()?.count(),
                bytes: disk_usage(&path),
            })
        };
        let mut all: Vec<Usage> = folders.filter_map(usage).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// Removes what has aged: what can be made again and nobody has written to for 30 days. Gives the bytes that were freed.
    #[must_use]
    pub fn prune_aged(&self) -> u64 {
        let folders = AGING.iter().map(|kind| self.directory().join(kind));
        let entries = folders.flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
        let old = entries.map(|entry| entry.path()).filter(|path| has_aged(path));
        old.map(|path| removed(&path)).sum()
    }

    /// All entries, the one that was used longest ago first.
    fn entries(&self) -> Result<Vec<Entry>, Error> {
        let mut entries = Vec::new();
        for kind in KINDS {
            entries.extend(entries_in(&self.directory().join(kind), kind)?);
        }
        sort(&mut entries);
        Ok(entries)
    }
}

impl Shelf {
    /// Removes all but the `count` entries that were used last, and none in use.
    ///
    /// # Errors
    ///
    /// When the shelf cannot be listed; an entry that cannot be removed is left.
    pub fn keep_newest(&self, lock: &Lock, count: usize) -> Result<(), Error> {
        let mut kept = 0;
        self.keep_while(lock, |_| {
            kept += 1;
            kept <= count
        })
    }

    /// Removes all but the entries that were used last and together take no more than `bytes`, and none in use.
    ///
    /// # Errors
    ///
    /// When the shelf cannot be listed; an entry that cannot be removed is left.
    pub fn keep_within(&self, lock: &Lock, bytes: u64) -> Result<(), Error> {
        let mut total = 0;
        self.keep_while(lock, |entry| {
            total += entry.size;
            total <= bytes
        })
    }

    /// Keeps entries, the one that was used last first, until one does not fit.
    fn keep_while(&self, _lock: &Lock, mut fits: impl FnMut(&Entry) -> bool) -> Result<(), Error> {
        let mut entries = entries_in(self.directory(), "")?;
        sort(&mut entries);
        let kept = entries.iter().rev().take_while(|entry| fits(entry)).count();
        for entry in &entries[..entries.len() - kept] {
            // The next time it is tried again.
            let _ = take(entry, false);
        }
        Ok(())
    }
}

/// The entries of one folder, which need not be there.
fn entries_in(directory: &Path, kind: &str) -> Result<Vec<Entry>, Error> {
    match fs::read_dir(directory) {
        Ok(found) => Ok(found.flatten().filter_map(|found| entry(kind, &found)).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::io("list", directory)(error)),
    }
}

/// Whether an entry and all that is in it were last written long ago.
fn has_aged(path: &Path) -> bool {
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        let written = path.symlink_metadata().and_then(|found| found.modified()).ok();
        if written.and_then(|written| written.elapsed().ok()).is_none_or(|age| age <= AGE) {
            return false;
        }
        if path.is_dir() && !path.is_symlink() {
            open.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
    true
}

/// Removes an entry; gives how many bytes that freed.
fn removed(path: &Path) -> u64 {
    let bytes = disk_usage(path);
    let done = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    if done.is_ok() { bytes } else { 0 }
}

fn sort(entries: &mut [Entry]) {
    entries.sort_by(|a, b| (a.last_used, &a.name).cmp(&(b.last_used, &b.name)));
}

/// Links and files are nobody's entries, whoever put them there.
fn entry(kind: &str, found: &fs::DirEntry) -> Option<Entry> {
    let name = found.file_name().into_string().ok()?;
    if name.starts_with(TEMPORARY) || !found.file_type().ok()?.is_dir() {
        return None;
    }
    let path = found.path();
    let last_used = found.metadata().and_then(|found| found.modified()).ok()?;
    Some(Entry { name: format!("{kind}/{name}"), size: disk_usage(&path), last_used, path })
}

/// Takes an entry away, in one step for all others; false if it is in use.
fn take(entry: &Entry, dry_run: bool) -> io::Result<bool> {
    let Some(claim) = claim(&entry.path)? else { return Ok(false) };
    if dry_run {
        return Ok(true);
    }
    let beside = entry.path.parent().unwrap_or(Path::new("/"));
    let aside = tempfile::Builder::new().prefix(TEMPORARY).tempdir_in(beside)?;
    fs::rename(&entry.path, aside.path().join("entry"))?;
    drop(claim);
    aside.close()?;
    Ok(true)
}

/// What a directory and all in it take on the disk, in bytes; what cannot be read counts nothing.
pub(crate) fn disk_usage(directory: &Path) -> u64 {
    const BLOCK: u64 = 512;
    let mut total = directory.symlink_metadata().map_or(0, |found| found.blocks() * BLOCK);
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata() else { continue };
            total += found.blocks() * BLOCK;
            if found.is_dir() {
                open.push(entry.path());
            }
        }
    }
    total
}

#[cfg(test)]
mod tests;
