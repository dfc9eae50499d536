//! All Runs of the sessions below a folder, to be asked for, in SQLite: <https://sqlite.org/fileformat2.html>.
//!
//! Sessions are taken in from their folders when somebody asks, whoever wrote them and however that ended; their Runs stay when
//! the folders are removed.
//!
//! * `schema`: its tables, and how those of an earlier kiln become these
//! * `take_in`: from a folder to rows; `rescue`: what a damaged file still holds
//! * [`query`]: from what is asked to Runs; `problems`: from Runs to problems; [`cells`]: what ran on which kernel; [`tallies`]: how
//!   the Runs of sessions ended

mod cells;
mod problems;
mod query;
mod rescue;
mod schema;
mod take_in;
mod tallies;

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};
use thiserror::Error;

use crate::past::{Past, sessions};

pub use cells::{KeyedKernel, SessionKey};
pub use problems::named;
pub use query::{Found, KnownRun, RunsQuery};
pub use tallies::{Tallied, Tally};

/// The file, beside the folders of the sessions.
const NAME: &str = "ledger.sqlite";

/// How long one kiln waits for another that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// How often it looks where SQLite does not wait by itself.
const INTERVAL: Duration = Duration::from_millis(20);

/// Why the Runs cannot be asked for.
#[derive(Debug, Error)]
pub enum Error {
    /// The file is that of a later kiln.
    #[error("{path}: was written by a newer kiln (version {found}, this one knows {known}): update kiln")]
    Future {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The latest version that is known.
        known: i64,
    },
    /// The file is of another program.
    #[error("{path}: is a database of another program: move it away")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The user named something that no session has.
    #[error("{0}")]
    Unknown(String),
    /// What a user says cannot be noted.
    #[error("{path}: cannot be written, so that nothing can be noted there")]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// SQLite refuses.
    #[error("{path}: {source}")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// The refusal.
        source: rusqlite::Error,
    },
}

impl Error {
    /// Whether the user asked for something that there is not.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }

    /// The code by which SQLite refuses.
    fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Sqlite { source, .. } => source.sqlite_error_code(),
            _ => None,
        }
    }

    fn is_damage(&self) -> bool {
        matches!(self.code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
    }

    /// Whether the place takes no files, or no more of them.
    fn is_of_place(&self) -> bool {
        let codes = [
            ErrorCode::ReadOnly,
            ErrorCode::CannotOpen,
            ErrorCode::DiskFull,
            ErrorCode::PermissionDenied,
            ErrorCode::SystemIoFailure,
        ];
        self.code().is_some_and(|code| codes.contains(&code))
    }
}

/// The Runs below a folder.
#[derive(Debug)]
pub struct Ledger {
    connection: Connection,
    root: PathBuf,
    /// Nothing of it is written to the file.
    is_in_memory: bool,
    /// Worth knowing about the file.
    pub notes: Vec<String>,
}

impl Ledger {
    /// The Runs of all sessions below `root`. Those that are new are taken in first; `progress` is called with how many of how
    /// many were.
    ///
    /// A damaged file is set aside, and what can be read of it is kept. Where nothing can be written, or there is no session, nothing
    /// is.
    ///
    /// # Errors
    ///
    /// When the file is of a later kiln or another program, and when SQLite refuses.
    pub fn open(root: &Path, progress: &mut dyn FnMut(usize, usize)) -> Result<Self, Error> {
        if !root.join(NAME).exists() && sessions(root).is_empty() {
            return Self::in_memory(root, None, progress);
        }
        let done = match Self::in_file(root, progress) {
            Err(error) if error.is_damage() => Self::rescued(root, progress),
            done => done,
        };
        match done {
            Err(error) if error.is_of_place() => Self::in_memory(root, Some(&error), progress),
            done => done,
        }
    }

    /// Takes in what is new since it was opened.
    ///
    /// # Errors
    ///
    /// When SQLite refuses.
    pub fn refresh(&mut self) -> Result<(), Error> {
        self.take_in(&mut |_, _| {})
    }

    /// Looks at all of the file; one that is damaged is set aside and saved from, as when it is opened.
    ///
    /// # Errors
    ///
    /// When SQLite refuses.
    pub fn verify(&mut self) -> Result<(), Error> {
        self.asked(Self::check)
    }

    /// Takes in one session, before its folder is removed.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub(crate) fn keep(root: &Path, past: &Past) -> Result<(), Error> {
        Self::written(root)?.take_in_one(past)
    }

    /// The host that ran a session whose Runs are known, if that was another one; nothing if none are known.
    pub(crate) fn host_of(root: &Path, name: &str) -> Option<Option<String>> {
        let ledger = root.join(NAME).exists().then(|| Self::written(root).ok()).flatten()?;
        let select = "SELECT origin FROM session WHERE name = ?1";
        ledger.connection.query_row(select, [name], |row| row.get(0)).ok()
    }

    /// Forgets a session that goes on under another name.
    pub(crate) fn forget(root: &Path, name: &str) {
        // Without the file there is nothing to forget.
        if let Some(ledger) = root.join(NAME).exists().then(|| Self::written(root).ok()).flatten() {
            let _ = ledger.connection.execute("DELETE FROM session WHERE name = ?1", [name]);
        }
    }

    fn in_file(root: &Path, progress: &mut dyn FnMut(usize, usize)) -> Result<Self, Error> {
        let mut ledger = Self::written(root)?;
        ledger.take_in(progress)?;
        Ok(ledger)
    }

    /// The file as it is.
    fn written(root: &Path) -> Result<Self, Error> {
        let connection = connect(&root.join(NAME))?;
        Ok(Self { connection, root: root.to_owned(), is_in_memory: false, notes: Vec::new() })
    }

    /// What `ask` gives; once more, where the file turns out to be damaged, from what is saved of it.
    fn asked<T>(&mut self, ask: impl Fn(&Self) -> Result<T, Error>) -> Result<T, Error> {
        match ask(self) {
            Err(error) if error.is_damage() => {
                self.rescue()?;
                ask(self)
            }
            done => done,
        }
    }

    /// Its file.
    fn path(&self) -> PathBuf {
        self.root.join(NAME)
    }

    /// What the file and the folders have, of which nothing is written.
    fn in_memory(
        root: &Path,
        why: Option<&Error>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, Error> {
        let path = root.join(NAME);
        let mut connection = Connection::open_in_memory().map_err(sqlite(&path))?;
        schema::migrate(&mut connection, &path)?;
        let mut ledger = Self { connection, root: root.to_owned(), is_in_memory: true, notes: Vec::new() };
        if let Some(why) = why {
            ledger.copy_from(&path).map_err(sqlite(&path))?;
            ledger.notes.push(format!("{why}; what is new in the folders is read each time"));
        }
        ledger.take_in(progress)?;
        Ok(ledger)
    }
}

/// Opens the file, and makes it what this kiln expects.
fn connect(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    // SQLite follows no link to the file, but one to its folder is the user's own.
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    let place = folder.map_or_else(|| path.to_owned(), |folder| folder.join(NAME));
    let mut connection = Connection::open_with_flags(place, flags).map_err(sqlite(path))?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(sqlite(path))?;
    // A folder may be a stranger's: https://sqlite.org/security.html.
    connection.pragma_update(None, "trusted_schema", false).map_err(sqlite(path))?;
    schema::migrate(&mut connection, path)?;
    write_ahead(&connection).map_err(sqlite(path))?;
    connection.pragma_update(None, "synchronous", "NORMAL").map_err(sqlite(path))?;
    connection.pragma_update(None, "foreign_keys", true).map_err(sqlite(path))?;
    Ok(connection)
}

/// Has readers go on while somebody writes: <https://sqlite.org/wal.html>. SQLite does not wait for another who does the same.
fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let begun = Instant::now();
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && begun.elapsed() < BUSY_TIMEOUT =>
            {
                sleep(INTERVAL);
            }
            done => return done,
        }
    }
}

/// From an error of SQLite's to one that names the file.
fn sqlite(path: &Path) -> impl Fn(rusqlite::Error) -> Error {
    |source| Error::Sqlite { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
