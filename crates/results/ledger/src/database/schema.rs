//! The tables. A number in the file counts the steps that made them; a later kiln adds steps and changes none.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::{Error, sqlite};

/// Marks the file as kiln's: `kiln`.
const APPLICATION: i64 = 0x6b69_6c6e;

/// The steps.
const STEPS: [&str; 5] = [
    "
    CREATE TABLE session (
        name TEXT PRIMARY KEY,      -- of its folder
        started INTEGER NOT NULL,   -- milliseconds since 1970
        version TEXT NOT NULL,      -- of kiln
        locator TEXT NOT NULL,      -- as the user typed it
        kernel TEXT NOT NULL,       -- by which the very same is found
        release TEXT,
        identity TEXT NOT NULL,
        machine TEXT NOT NULL,
        suite TEXT NOT NULL,
        content TEXT NOT NULL,      -- a hash over what ran
        has_ended INTEGER NOT NULL,
        changed INTEGER NOT NULL    -- when its events were last written, in milliseconds since 1970
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX session_by_start ON session (started);
    CREATE TABLE run (
        session TEXT NOT NULL REFERENCES session (name) ON DELETE CASCADE,
        case_name TEXT NOT NULL,
        is_boot INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        blame TEXT,
        accused TEXT,
        reason TEXT NOT NULL,
        signature TEXT NOT NULL,    -- of a failure: what others like it have in common
        duration INTEGER NOT NULL,  -- microseconds
        runs INTEGER NOT NULL,      -- that this one stands for
        failures INTEGER NOT NULL,  -- among them
        PRIMARY KEY (session, case_name, is_boot)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX run_by_case ON run (case_name);
    CREATE INDEX run_by_outcome ON run (outcome);
",
    // What a failure has in common with others is more than its reason: the folders that are still there are read again.
    "
    UPDATE run SET signature = CASE
        WHEN outcome NOT IN ('fail', 'crash', 'hang') THEN ''
        ELSE iif(is_boot, 'the boot', case_name) || ': ' || outcome || ': ' || signature END;
    UPDATE session SET has_ended = 0, changed = -1;
    ALTER TABLE session ADD COLUMN parameters TEXT;    -- of the kernel, as the user gave them; not known of older sessions
    ALTER TABLE session ADD COLUMN setup TEXT;         -- a hash over all that decides how cases run besides the kernel
    CREATE INDEX session_by_identity ON session (identity, suite);
    CREATE INDEX run_by_signature ON run (signature) WHERE signature != '';
    CREATE TABLE closing (
        signature TEXT PRIMARY KEY,
        closed INTEGER NOT NULL,    -- milliseconds since 1970
        was_gone INTEGER NOT NULL   -- later kernels passed by then
    ) STRICT, WITHOUT ROWID;
",
    "
    ALTER TABLE session ADD COLUMN origin TEXT;        -- the host that ran it, if that is another one
",
    "
    ALTER TABLE session ADD COLUMN policy TEXT;        -- a hash over how often cases ran and in which boots; not known of older sessions
",
    "
    ALTER TABLE session ADD COLUMN commit_hash TEXT;   -- from which the kernel was built; not known of older sessions
    ALTER TABLE session ADD COLUMN tree TEXT;          -- of this host, which has the commit
    ALTER TABLE session ADD COLUMN build TEXT;         -- how the kernel was built
",
];

/// Takes the steps that the file lacks.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), Error> {
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    let read = |name: &str| {
        connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(sqlite(path))
    };
    // As a rule there is nothing to do, and nobody to wait for.
    if (read("application_id")?, read("user_version")?) == (APPLICATION, known) {
        return Ok(());
    }
    // Of two kilns that find a new file one makes the tables.
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sqlite(path))?;
    let number = |name: &str| {
        transaction.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(sqlite(path))
    };
    let (application, found) = (number("application_id")?, number("user_version")?);
    let tables = "SELECT count(*) FROM sqlite_schema";
    let is_new = application == 0
        && transaction.query_row(tables, [], |row| row.get::<_, i64>(0)).map_err(sqlite(path))? == 0;
    if application != APPLICATION && !is_new {
        return Err(Error::Foreign { path: path.to_owned() });
    }
    if found > known {
        return Err(Error::Future { path: path.to_owned(), found, known });
    }
    let done = usize::try_from(found).unwrap_or(0);
    if done < STEPS.len() {
        for step in &STEPS[done..] {
            transaction.execute_batch(step).map_err(sqlite(path))?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION).map_err(sqlite(path))?;
        transaction.pragma_update(None, "user_version", known).map_err(sqlite(path))?;
    }
    transaction.commit().map_err(sqlite(path))
}
