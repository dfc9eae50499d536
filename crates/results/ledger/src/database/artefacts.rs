//! Whose the files are that are kept by their content: those of sessions with failures whose folders are gone.

use std::collections::HashSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior, params};

use super::{Error, Ledger, NAME, sqlite};
use crate::artefacts::{Artefacts, Lock, end_of};
use crate::past::{CASES, EXPERIMENT, Past, SESSION, document_of};
use crate::recorder::EVENTS;

/// Most that files take, in bytes; those of the oldest sessions go first.
const BYTES_MAX: u64 = 1 << 30;

/// Most files of a session; a test that fails everywhere shows no more by the next one.
const FILES_MAX: usize = 1_000;

/// How the name of a folder begins that is being filled.
pub(crate) const HALF: &str = ".restoring-";

/// What is kept of failures for longer than their folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evidence {
    /// Sessions whose files are kept.
    pub sessions: usize,
    /// Files.
    pub files: usize,
    /// What they take, in bytes.
    pub bytes: u64,
    /// What they may take, in bytes.
    pub limit: u64,
}

/// A file of a session.
struct Artefact {
    path: String,
    hash: String,
    mode: u32,
}

impl Ledger {
    /// Keeps what shows the failures of a session, before its folder is removed.
    pub(super) fn keep_evidence(&mut self, past: &Past) -> Result<(), Error> {
        if !past.has_failure() {
            return Ok(());
        }
        let artefacts = Artefacts::beside(&self.root);
        let kept = || -> std::io::Result<(Lock, Vec<Artefact>)> {
            let lock = artefacts.lock()?;
            let files = telling(past).into_iter().take(FILES_MAX);
            let all = files.filter_map(|path| artefact(past, &path, &artefacts, &lock).transpose());
            let all = all.collect::<Result<_, _>>()?;
            Ok((lock, all))
        };
        // A disk that takes no files takes no rows either: the Runs are known all the same.
        let Ok((lock, all)) = kept() else { return Ok(()) };
        let path = self.path();
        insert(&mut self.connection, &past.name(), &all).map_err(sqlite(&path))?;
        self.keep_evidence_within(&artefacts, &lock, BYTES_MAX).map_err(sqlite(&path))?;
        Ok(())
    }

    /// Forgets the files of the oldest sessions until the others fit, and those that are nobody's; gives how many bytes that freed.
    fn keep_evidence_within(&self, artefacts: &Artefacts, lock: &Lock, limit: u64) -> rusqlite::Result<u64> {
        let mut total: u64 = artefacts.all().iter().map(|(_, size)| size).sum();
        let mut freed = 0;
        while total > limit {
            let oldest = "DELETE FROM artefact WHERE session = (
                SELECT session FROM artefact JOIN session ON session.name = artefact.session ORDER BY started LIMIT 1)";
            if self.connection.execute(oldest, [])? == 0 {
                break;
            }
            let gone = artefacts.keep_only(&self.wanted()?, lock);
            (freed, total) = (freed + gone, total.saturating_sub(gone));
        }
        Ok(freed + artefacts.keep_only(&self.wanted()?, lock))
    }

    /// The names of all files that are somebody's.
    fn wanted(&self) -> rusqlite::Result<HashSet<String>> {
        let mut statement = self.connection.prepare("SELECT DISTINCT hash FROM artefact")?;
        statement.query_map([], |row| row.get(0))?.collect()
    }

    /// What is kept of failures whose folders are gone.
    ///
    /// # Errors
    ///
    /// When SQLite refuses.
    pub fn evidence(&mut self) -> Result<Evidence, Error> {
        let sessions = "SELECT count(DISTINCT session) FROM artefact";
        let sessions = self.asked(|ledger| {
            let count = ledger.connection.query_row(sessions, [], |row| row.get::<_, i64>(0));
            count.map_err(sqlite(&ledger.path()))
        })?;
        let all = Artefacts::beside(&self.root).all();
        Ok(Evidence {
            sessions: usize::try_from(sessions).unwrap_or(0),
            files: all.len(),
            bytes: all.iter().map(|(_, size)| size).sum(),
            limit: BYTES_MAX,
        })
    }

    /// Removes files that are nobody's; gives how many bytes that freed.
    ///
    /// # Errors
    ///
    /// When SQLite refuses.
    pub fn prune_evidence(&mut self) -> Result<u64, Error> {
        let artefacts = Artefacts::beside(&self.root);
        // Where nothing can be written there is nothing to remove.
        let Ok(lock) = artefacts.lock() else { return Ok(0) };
        self.asked(|ledger| {
            ledger.keep_evidence_within(&artefacts, &lock, BYTES_MAX).map_err(sqlite(&ledger.path()))
        })
    }

    /// Looks at all of the database, and reads all files again; removes those that are not what was kept, and gives their names. A
    /// damaged database is set aside and saved from, as when it is opened.
    ///
    /// # Errors
    ///
    /// When SQLite refuses.
    pub fn verify_evidence(&mut self, progress: &mut dyn FnMut(usize, usize)) -> Result<Vec<String>, Error> {
        self.asked(Self::check)?;
        let artefacts = Artefacts::beside(&self.root);
        let all = artefacts.all();
        let mut damaged = Vec::new();
        for (number, (name, _)) in all.iter().enumerate() {
            progress(number, all.len());
            if artefacts.read(name).is_err() {
                artefacts.remove(name);
                damaged.push(name.clone());
            }
        }
        Ok(damaged)
    }

    /// Makes the folders again of sessions whose names begin so, of what was kept of them: of one, unless there are several.
    pub(crate) fn restored(root: &Path, beginning: &str) -> Vec<String> {
        let ledger = root.join(NAME).exists().then(|| Self::written(root).ok()).flatten();
        let Some(ledger) = ledger.filter(|_| !beginning.is_empty()) else { return Vec::new() };
        let mut names = ledger.restorable(beginning).unwrap_or_default();
        if names.iter().any(|name| name == beginning) {
            names = vec![beginning.to_owned()];
        }
        if let [name] = &names[..]
            && ledger.restore(name).is_none()
        {
            names.clear();
        }
        names
    }

    /// Makes the folder of a session again of what was kept of it; nothing if nothing was.
    fn restore(&self, name: &str) -> Option<Past> {
        let artefacts = Artefacts::beside(&self.root);
        let all = self.artefacts(name).ok().filter(|all| all.iter().any(|file| file.path == SESSION))?;
        let half = tempfile::Builder::new().prefix(HALF).tempdir_in(&self.root).ok()?;
        for Artefact { path, hash, mode } in &all {
            let place = half.path().join(inside(path)?);
            // One that is damaged does not take the others with it.
            let Ok(content) = artefacts.read(hash) else { continue };
            place.parent().map_or(Ok(()), fs::create_dir_all).ok()?;
            fs::write(&place, content).ok()?;
            fs::set_permissions(&place, Permissions::from_mode(*mode)).ok()?;
        }
        // The name may be a stranger's, too.
        let folder = self.root.join(inside(name).filter(|name| name.components().count() == 1)?);
        fs::set_permissions(half.path(), Permissions::from_mode(0o755)).ok()?;
        let half = half.keep();
        if fs::rename(&half, &folder).is_err() {
            let _ = fs::remove_dir_all(&half);
        }
        Past::open(&folder)
    }

    /// The sessions whose names begin so and of which files are kept.
    fn restorable(&self, beginning: &str) -> rusqlite::Result<Vec<String>> {
        let select = "SELECT DISTINCT session FROM artefact WHERE substr(session, 1, length(?1)) = ?1";
        self.connection.prepare(select)?.query_map([beginning], |row| row.get(0))?.collect()
    }

    fn artefacts(&self, session: &str) -> rusqlite::Result<Vec<Artefact>> {
        let mut statement =
            self.connection.prepare("SELECT path, hash, mode FROM artefact WHERE session = ?1")?;
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Artefact { path: row.get(0)?, hash: row.get(1)?, mode: row.get(2)? })
        };
        statement.query_map([session], read)?.collect()
    }
}

/// Replaces what is known of the files of a session.
fn insert(connection: &mut Connection, session: &str, all: &[Artefact]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for Artefact { path, hash, mode } in all {
        let insert = "INSERT OR REPLACE INTO artefact VALUES (?1, ?2, ?3, ?4)";
        transaction.prepare_cached(insert)?.execute(params![session, path, hash, mode])?;
    }
    transaction.commit()
}

fn artefact(
    past: &Past,
    path: &Path,
    artefacts: &Artefacts,
    lock: &Lock,
) -> std::io::Result<Option<Artefact>> {
    let place = past.directory().join(path);
    let Some(text) = path.to_str() else { return Ok(None) };
    let mode = place.metadata()?.permissions().mode() & 0o777;
    let hash = artefacts.add(&end_of(&place)?, lock)?;
    Ok(Some(Artefact { path: text.to_owned(), hash, mode }))
}

/// The files of a session that show its failures, by their paths in its folder: those about Runs that went well do not, and what
/// is only a copy does not.
fn telling(past: &Past) -> Vec<PathBuf> {
    let well: HashSet<PathBuf> =
        past.runs().iter().filter(|run| run.outcome.is_well()).map(|run| document_of(&run.case)).collect();
    let is_telling = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_of_case = path.starts_with(CASES);
        let is_well = is_of_case && well.contains(&path.with_extension("json"));
        let is_copy = *path == Path::new(EVENTS) || *path == Path::new("kernel.log");
        let is_large = name.contains(".vmcore") || path.starts_with(EXPERIMENT);
        !is_well && !is_copy && !is_large
    };
    let mut all = Vec::new();
    walk(past.directory(), Path::new(""), &mut all);
    all.retain(is_telling);
    // What it was about comes first, whatever follows it.
    all.sort_by_key(|path| (path != Path::new(SESSION), path.clone()));
    all
}

/// All plain files below a folder; links are not followed.
fn walk(folder: &Path, below: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder.join(below)).into_iter().flatten().flatten() {
        let path = below.join(entry.file_name());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(folder, &path, found),
            Ok(kind) if kind.is_file() => found.push(path),
            _ => {}
        }
    }
}

/// A path that stays below where it is put: the file of SQLite may be a stranger's.
fn inside(path: &str) -> Option<&Path> {
    let path = Path::new(path);
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    (is_plain && path.components().next().is_some()).then_some(path)
}

#[cfg(test)]
mod tests;
