//! The cache: unpacked packages, and indexes of module trees. All of it can be deleted at any time.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::TempDir;

use crate::error::Error;
use crate::index::Index;
use crate::survey::Survey;
use crate::version;

/// Where kernels are kept between runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    directory: PathBuf,
}

/// The right to change the packages of a store, given back when dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// Changed when an index or a manifest is written in another form; older ones are then made anew.
pub(crate) const FORMAT: u32 = 1;
const LOCK_WAIT: Duration = Duration::from_secs(30 * 60);
const KEPT_INDEXES: usize = 64;
const TEMPORARY: &str = "tmp-";

impl Store {
    /// A store in a directory, which is made when something is to be kept.
    pub fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// `$XDG_CACHE_HOME/kiln`, or `~/.cache/kiln`.
    pub fn default_dir() -> PathBuf {
        // The XDG specification has relative paths ignored.
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let below_home = || std::env::home_dir().unwrap_or_else(|| "/".into()).join(".cache");
        cache.unwrap_or_else(below_home).join("kiln")
    }

    fn packages(&self) -> PathBuf {
        self.directory.join("deb")
    }

    /// Where an unpacked package stands, or will.
    pub(crate) fn package(&self, package: &str, version: &str) -> PathBuf {
        self.packages().join(format!("{package}_{version}"))
    }

    /// Where is kept which packages names meant.
    pub(crate) fn meanings(&self) -> PathBuf {
        self.packages().join("meanings.json")
    }

    /// The newest version of a package that is here.
    pub(crate) fn newest_package(&self, package: &str) -> Option<PathBuf> {
        let entries = fs::read_dir(self.packages()).ok()?;
        let version = |name: &str| Some(name.strip_prefix(package)?.strip_prefix('_')?.to_owned());
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let newest = names.filter_map(|name| version(&name)).max_by(|a, b| version::compare(a, b))?;
        Some(self.package(package, &newest))
    }

    /// Waits until no other kiln changes the packages, and clears what dead ones left.
    pub(crate) fn lock(&self, progress: &mut dyn FnMut(&str)) -> Result<Lock, Error> {
        let packages = self.packages();
        fs::create_dir_all(&packages).map_err(Error::io("make", &packages))?;
        let path = packages.join(".lock");
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(Error::io("open", &path))?;
        wait_for(&file, &path, progress)?;
        clear(&packages)?;
        Ok(Lock { _file: file })
    }

    /// A place to prepare a package in; on the same file system, so that it can be renamed.
    pub(crate) fn workshop(&self, _lock: &Lock) -> Result<TempDir, Error> {
        let packages = self.packages();
        tempfile::Builder::new()
            .prefix(TEMPORARY)
            .tempdir_in(&packages)
            .map_err(Error::io("write in", &packages))
    }

    /// Puts a prepared package where others find it, in one step.
    pub(crate) fn publish(&self, _lock: &Lock, prepared: &Path, place: &Path) -> Result<(), Error> {
        if place.exists() {
            // A damaged one. It goes aside first, for a rename replaces only empty directories.
            let aside = self.packages().join(format!("{TEMPORARY}old-{}", std::process::id()));
            fs::rename(place, &aside).map_err(Error::io("replace", place))?;
        }
        // Otherwise a power cut could leave the name in place and the content unwritten.
        let flush = || rustix::fs::syncfs(File::open(prepared)?).map_err(io::Error::from);
        flush().map_err(Error::io("write to disk", prepared))?;
        fs::rename(prepared, place).map_err(Error::io("rename to", place))
    }

    /// The index of a tree, from an earlier run if nothing changed since.
    pub(crate) fn index(&self, survey: &Survey, progress: &mut dyn FnMut(&str)) -> Result<Index, Error> {
        let kept =
            survey.fingerprint().map(|print| self.directory.join("index").join(format!("{print}.json")));
        if let Some(index) = kept.as_deref().and_then(read_json) {
            return Ok(index);
        }
        progress(&format!("reading {} modules of {}", survey.files.len(), survey.root.display()));
        let index = Index::build(survey)?;
        if let Some(path) = kept {
            // A cache that cannot be written costs time only.
            let _ = keep_index(&path, &index);
        }
        Ok(index)
    }
}

fn wait_for(file: &File, path: &Path, progress: &mut dyn FnMut(&str)) -> Result<(), Error> {
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
        progress("waiting for another kiln that fetches a package");
        sleep(Duration::from_millis(200));
    }
}

/// Removes the workshops of processes that died: whoever holds the lock has none yet.
fn clear(packages: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(packages).map_err(Error::io("list", packages))?.flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(TEMPORARY.as_bytes()) {
            // An orphaned apt may still write there; then the next kiln clears it.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

/// Reads a file of the store; whatever is wrong with it, it is made anew.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Writes a file of the store.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_vec(value).map_err(io::Error::other);
    text.and_then(|text| fs::write(path, text)).map_err(Error::io("write", path))
}

/// Writes a file of the store that others may read at any time: it is there as a whole or not at all.
pub(crate) fn persist_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    serde_json::to_writer(io::BufWriter::new(&mut file), value)?;
    file.persist(path)?;
    Ok(())
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
mod tests {
    use super::*;
    use crate::fixture::{package_root, write};
    use crate::survey::Layout;

    #[test]
    fn the_newest_package_by_debians_order() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().into());
        assert_eq!(store.newest_package("a"), None);
        for name in ["a_6.1.99-1", "a_6.1.192-2", "a_6.1.192-2~bpo1", "a-unsigned_7-1", "tmp-a_9-1"] {
            fs::create_dir_all(directory.path().join("deb").join(name)).unwrap();
        }
        assert_eq!(store.newest_package("a"), Some(store.package("a", "6.1.192-2")));
    }

    #[test]
    fn who_holds_the_lock_has_cleared_what_the_dead_left() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().into());
        let stale = directory.path().join("deb/tmp-dead/half.deb");
        write(&stale, "half");
        let lock = store.lock(&mut |_| {}).unwrap();
        assert!(!stale.exists());
        let second = File::options().write(true).open(directory.path().join("deb/.lock")).unwrap();
        assert!(matches!(second.try_lock(), Err(TryLockError::WouldBlock)));
        drop(lock);
        second.try_lock().unwrap();
    }

    #[test]
    fn publishing_replaces_a_damaged_one() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().into());
        let lock = store.lock(&mut |_| {}).unwrap();
        let place = store.package("a", "1");
        for content in ["first", "second"] {
            let workshop = store.workshop(&lock).unwrap();
            write(&workshop.path().join("entry/file"), content);
            store.publish(&lock, &workshop.path().join("entry"), &place).unwrap();
            assert_eq!(fs::read_to_string(place.join("file")).unwrap(), content);
        }
    }

    #[test]
    fn an_index_is_kept_until_the_tree_changes() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().join("store"));
        let root = directory.path().join("root");
        package_root(&root, "6.1");
        let look = || {
            let mut readings = 0;
            let survey = Survey::make(&root.join("lib/modules/6.1"), Layout::Installed).unwrap();
            (store.index(&survey, &mut |_| readings += 1).unwrap(), readings)
        };
        assert_eq!(look().1, 1, "too fresh to be kept");
        sleep(Duration::from_millis(3100));
        let (index, readings) = look();
        assert_eq!((readings, look()), (1, (index, 0)));
        write(&root.join("lib/modules/6.1/kernel/new.ko"), "x");
        assert_eq!(look().1, 1);
    }
}
