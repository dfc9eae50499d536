//! What shows a failure, for longer than the folder of its session.
//!
//! ```text
//! artefacts/2026-11-20T10-07-31Z-4711.json    the files of a session, by their paths in its folder
//! artefacts/3f/3f06a7b1...                    what is in them
//! artefacts/lock                              held while something is added or removed
//! ```
//!
//! A list is written once its files are there, and a file that is on no list is nobody's: whenever kiln is killed, what is listed can be
//! had. Nothing here depends on `ledger.sqlite`.

use std::collections::{HashMap, HashSet};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use judge::Run;
use serde::{Deserialize, Serialize};

use crate::artefacts::Artefacts;
use crate::document;
use crate::files::files;
use crate::past::{BOOT_RUN, CASES, EVENTS, EXPERIMENT, PROGRAM, Past, SESSION, read};

/// Most that files take, in bytes; those of the oldest sessions go first.
const BYTES_MAX: u64 = 1 << 30;

/// Most that the files of a session have, in bytes, before they are compressed.
const SESSION_BYTES: u64 = 64 << 20;

/// Most files of a session; a test that fails everywhere shows no more by the next one.
const FILES_MAX: usize = 1_000;

/// How the name of a folder begins that is being filled.
pub(crate) const HALF: &str = ".restoring-";

/// What is kept of failures for longer than their folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Sessions whose files are kept.
    pub sessions: usize,
    /// Files.
    pub files: usize,
    /// What they take on the disk, in bytes.
    pub bytes: u64,
    /// What they may take, in bytes.
    pub limit: u64,
}

/// A file of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Listed {
    path: String,
    hash: String,
    is_program: bool,
}

/// What shows failures of the sessions below a folder.
#[derive(Debug, Clone)]
pub struct Evidence {
    sessions: PathBuf,
    artefacts: Artefacts,
}

impl Evidence {
    /// That of the sessions below `sessions`.
    #[must_use]
    pub fn of(sessions: &Path) -> Self {
        Self { sessions: sessions.to_owned(), artefacts: Artefacts::beside(sessions) }
    }

    /// Where it is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.artefacts.root()
    }

    /// Keeps what shows the failures of a session of this host, before its folder is removed.
    pub(crate) fn keep(&self, past: &Past) -> io::Result<()> {
        let list = self.list(&past.name());
        // What was restored is listed with all that there was.
        if list.exists() || !past.is_own() || !past.has_failure() {
            return Ok(());
        }
        let lock = self.artefacts.lock()?;
        let mut left = SESSION_BYTES;
        let mut all = Vec::new();
        for path in telling(past).into_iter().take(FILES_MAX) {
            // One that cannot be read does not take the others with it.
            let Some(content) = content(&past.directory().join(&path)) else { continue };
            let Some(rest) = left.checked_sub(content.len() as u64) else { continue };
            left = rest;
            let hash = self.artefacts.add(&content, &lock)?;
            let is_program = path.starts_with(PROGRAM);
            all.extend(path.to_str().map(|path| Listed { path: path.to_owned(), hash, is_program }));
        }
        document::write(&list, &all)
    }

    /// Removes the lists of the oldest sessions until the files of the others fit, and the files that are on no list; gives how many
    /// bytes that freed.
    ///
    /// # Errors
    ///
    /// When nobody may write there.
    pub fn prune(&self) -> io::Result<u64> {
        self.keep_within(BYTES_MAX)
    }

    fn keep_within(&self, limit: u64) -> io::Result<u64> {
        if !self.folder().exists() {
            return Ok(0);
        }
        let lock = self.artefacts.lock()?;
        let sizes: HashMap<String, u64> = self.artefacts.all().into_iter().collect();
        let (mut wanted, mut total) = (HashSet::new(), 0);
        // The newest first.
        for name in self.names().iter().rev() {
            let files = self.listed(name).unwrap_or_default();
            let new: HashSet<String> =
                files.into_iter().map(|file| file.hash).filter(|hash| !wanted.contains(hash)).collect();
            let more: u64 = new.iter().filter_map(|hash| sizes.get(hash)).sum();
            if total + more > limit {
                fs::remove_file(self.list(name))?;
                continue;
            }
            total += more;
            wanted.extend(new);
        }
        Ok(self.artefacts.keep_only(&wanted, &lock))
    }

    /// What it takes.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let all = self.artefacts.all();
        Usage {
            sessions: self.names().len(),
            files: all.len(),
            bytes: all.iter().map(|(_, size)| size).sum(),
            limit: BYTES_MAX,
        }
    }

    /// Reads all files that are listed again; removes those whose content is not what their names say, and gives a line for each file
    /// that is damaged or missing.
    ///
    /// # Errors
    ///
    /// When nobody may write there.
    pub fn verify(&self, progress: &mut dyn FnMut(usize, usize)) -> io::Result<Vec<String>> {
        if !self.folder().exists() {
            return Ok(Vec::new());
        }
        let _lock = self.artefacts.lock()?;
        let mut faults = Vec::new();
        let mut seen: HashMap<String, bool> = HashMap::new();
        let names = self.names();
        for (number, name) in names.iter().enumerate() {
            progress(number, names.len());
            let Some(files) = self.listed(name) else {
                faults.push(format!("{name}: its list cannot be read"));
                continue;
            };
            for Listed { path, hash, .. } in files {
                let is_well = *seen.entry(hash.clone()).or_insert_with(|| self.artefacts.is_well(&hash));
                if !is_well {
                    faults.push(format!("{name}/{path}: is damaged or missing"));
                }
            }
        }
        Ok(faults)
    }

    /// Makes the folders again of sessions whose names begin so: of one, unless there are several. Gives their names.
    pub(crate) fn restored(&self, beginning: &str) -> Vec<String> {
        let mut names = self.names();
        names.retain(|name| !beginning.is_empty() && name.starts_with(beginning));
        if let [name] = &names[..]
            && self.restore(name).is_none()
        {
            names.clear();
        }
        names
    }

    /// Makes the folder of a session again of what was kept of it; nothing if that is not enough.
    pub(crate) fn restore(&self, name: &str) -> Option<Past> {
        let name = inside(name).filter(|name| name.components().count() == 1)?;
        let all = self.listed(name.to_str()?)?;
        let half = tempfile::Builder::new().prefix(HALF).tempdir_in(&self.sessions).ok()?;
        for Listed { path, hash, is_program } in &all {
            let place = half.path().join(inside(path)?);
            // One that is damaged does not take the others with it.
            let Ok(content) = self.artefacts.read(hash) else { continue };
            place.parent().map_or(Ok(()), fs::create_dir_all).ok()?;
            fs::write(&place, content).ok()?;
            let mode = if *is_program { 0o755 } else { 0o644 };
            fs::set_permissions(&place, Permissions::from_mode(mode)).ok()?;
        }
        Past::open(half.path())?.session().ok()?;
        let folder = self.sessions.join(name);
        fs::set_permissions(half.path(), Permissions::from_mode(0o755)).ok()?;
        let half = half.keep();
        if fs::rename(&half, &folder).is_err() {
            let _ = fs::remove_dir_all(&half);
        }
        Past::open(&folder)
    }

    /// The sessions that have a list, the oldest first.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder()).into_iter().flatten().flatten();
        let name = |entry: fs::DirEntry| Some(entry.file_name().to_str()?.strip_suffix(".json")?.to_owned());
        let mut names: Vec<String> = entries.filter_map(name).collect();
        names.sort();
        names
    }

    fn list(&self, name: &str) -> PathBuf {
        self.folder().join(format!("{name}.json"))
    }

    fn listed(&self, name: &str) -> Option<Vec<Listed>> {
        let path = self.list(name);
        let is_plain = path.symlink_metadata().is_ok_and(|found| found.is_file());
        is_plain.then(|| read(&path).ok()).flatten()
    }
}

/// The content of a file of a session. Of a console the end is enough, where its reason is; other files are there as a whole or not at
/// all.
fn content(path: &Path) -> Option<Vec<u8>> {
    let is_console = path.extension().is_some_and(|end| end == "console") || path.ends_with("console.log");
    crate::artefacts::read_file(path, is_console).ok()
}

/// The files of a session that show its failures, by their paths in its folder, the most telling first. Those about Runs that went well
/// do not, and what is only a copy does not.
fn telling(past: &Past) -> Vec<PathBuf> {
    let files = files(past.directory()).into_iter();
    let mut all: Vec<PathBuf> =
        files.filter_map(|(path, _)| path.strip_prefix(past.directory()).map(Path::to_owned).ok()).collect();
    let is_well = |path: &Path| {
        let run: Option<Run> = read(&past.directory().join(path)).ok();
        run.is_some_and(|run| run.outcome.is_well())
    };
    let is_telling = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let document = path.with_extension("json");
        let is_copy = *path == Path::new(EVENTS) || *path == Path::new("kernel.log");
        let is_large = name.contains(".vmcore") || path.starts_with(EXPERIMENT);
        !(is_copy || is_large || path.starts_with(CASES) && is_well(&document))
    };
    all.retain(is_telling);
    let rank = |path: &PathBuf| match path {
        path if *path == Path::new(SESSION) => 0,
        path if *path == Path::new(BOOT_RUN) => 1,
        path if path.starts_with(CASES) => 2,
        path if path.ends_with("console.log") || path.starts_with(PROGRAM) => 3,
        _ => 4,
    };
    all.sort_by_cached_key(|path| (rank(path), path.clone()));
    all
}

/// A path that stays below where it is put: a list may be a stranger's.
fn inside(path: &str) -> Option<&Path> {
    let path = Path::new(path);
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    (is_plain && path.components().next().is_some()).then_some(path)
}

#[cfg(test)]
mod tests;
