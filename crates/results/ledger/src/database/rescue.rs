//! What a file still holds that is damaged, or that cannot be written.

use std::fs::{self, File};
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::{Error, Ledger, NAME, sqlite};

/// On which a lock is held meanwhile.
const LOCK: &str = ".ledger.lock";

/// How the names of the files end: two lie beside the file itself, and belong to it alone.
const ENDS: [&str; 3] = ["-wal", "-shm", ""];

/// The tables, those first to which others refer.
const TABLES: [&str; 3] = ["session", RUNS, "closing"];

/// Whose rows are counted.
const RUNS: &str = "run";

impl Ledger {
    /// Sets the file aside and makes another, of what can be read of it and what the folders have.
    pub(super) fn rescued(root: &Path, progress: &mut dyn FnMut(usize, usize)) -> Result<Self, Error> {
        let lock = File::create(root.join(LOCK)).and_then(|file| file.lock().map(|()| file));
        // Another kiln may have done it while this one waited.
        match Self::in_file(root, progress).and_then(Self::whole) {
            Err(error) if error.is_damage() && lock.is_ok() => {}
            done => return done,
        }
        let aside = format!("{NAME}.damaged-{}", jiff::Timestamp::now().as_second());
        for end in ENDS {
            // There need not be all of them.
            let _ = fs::rename(root.join(format!("{NAME}{end}")), root.join(format!("{aside}{end}")));
        }
        let mut ledger = Self::in_file(root, progress)?;
        let saved = ledger.copy_from(&root.join(&aside)).map_err(sqlite(&ledger.path()))?;
        ledger.notes.push(format!(
            "{}: is damaged, and now {aside}; {saved} Runs whose folders are gone were saved from it",
            ledger.path().display()
        ));
        Ok(ledger)
    }

    /// The same where the damage is met later.
    pub(super) fn rescue(&mut self) -> Result<(), Error> {
        let none = Connection::open_in_memory().map_err(sqlite(&self.path()))?;
        // When it is closed, SQLite removes what lies beside a file of this name: that of the next one must not be there yet.
        drop(std::mem::replace(&mut self.connection, none));
        *self = Self::rescued(&self.root, &mut |_, _| {})?;
        Ok(())
    }

    /// The same, after a look at all of it.
    fn whole(self) -> Result<Self, Error> {
        self.check().map(|()| self)
    }

    /// Looks at all of it.
    pub(super) fn check(&self) -> Result<(), Error> {
        let check = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
        let found =
            self.connection.query_row("PRAGMA quick_check(1)", [], check).map_err(sqlite(&self.path()))?;
        if found == "ok" {
            return Ok(());
        }
        let corrupt = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        Err(sqlite(&self.path())(rusqlite::Error::SqliteFailure(corrupt, Some(found))))
    }

    /// Adds what is missing from a file that may end anywhere, and that nobody writes; gives the number of Runs.
    pub(super) fn copy_from(&mut self, path: &Path) -> rusqlite::Result<usize> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        // Where nothing can be written, a lock cannot be taken either.
        let uri = |text: String| {
            format!("file:{}?immutable=1", text.replace('%', "%25").replace('?', "%3f").replace('#', "%23"))
        };
        let opened = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .and_then(|from| {
                from.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map(|()| from)
            })
            .or_else(|_| Connection::open_with_flags(uri(path.display().to_string()), flags));
        // What cannot even be opened holds nothing.
        let Ok(from) = opened else { return Ok(0) };
        let transaction = self.connection.transaction()?;
        let mut saved = 0;
        for table in TABLES {
            let mut add = |names: &str, row: Vec<Value>| {
                let marks = vec!["?"; row.len()].join(", ");
                let insert = format!("INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})");
                transaction.prepare_cached(&insert)?.execute(params_from_iter(row))
            };
            // The damage is somewhere between.
            let added = rows(&from, table, "ASC", &mut add) + rows(&from, table, "DESC", &mut add);
            saved += if table == RUNS { added } else { 0 };
        }
        transaction.commit()?;
        Ok(saved)
    }
}

/// Gives each row that can be read in this order to `add`, with the names of its columns; sums what that returns.
fn rows(
    from: &Connection,
    table: &str,
    order: &str,
    add: &mut dyn FnMut(&str, Vec<Value>) -> rusqlite::Result<usize>,
) -> usize {
    let Ok(mut statement) = from.prepare(&format!("SELECT * FROM {table} ORDER BY 1 {order}")) else {
        return 0;
    };
    let names = statement.column_names().collect::<Vec<_>>().join(", ");
    if !names.chars().all(|c| c.is_ascii_lowercase() || "_, ".contains(c)) {
        return 0;
    }
    let count = statement.column_count();
    let Ok(mut found) = statement.query([]) else { return 0 };
    let mut sum = 0;
    // The first row that cannot be read is the end.
    while let Ok(Some(row)) = found.next() {
        let values: rusqlite::Result<Vec<Value>> = (0..count).map(|column| row.get(column)).collect();
        // A Run without its session, or one that is no Run, stays behind.
        sum += values.and_then(|values| add(&names, values)).unwrap_or(0);
    }
    sum
}
