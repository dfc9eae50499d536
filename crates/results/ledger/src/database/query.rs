//! From what is asked to Runs.

use std::time::Duration;

use jiff::Timestamp;
use judge::Outcome;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ValueRef};
use rusqlite::{Row, params_from_iter};
use script::nearest::nearest;
use serde::Serialize;

use super::{Error, Ledger, sqlite};

/// What is common to the Runs that are asked for. Patterns know `*` and `?`.
#[derive(Debug, Clone, Default)]
pub struct RunsQuery {
    /// A pattern for the kernel: its release, or one of its locators.
    pub kernel: Option<String>,
    /// A pattern for the case.
    pub case: Option<String>,
    /// A pattern for the suite.
    pub suite: Option<String>,
    /// Outcomes; any if there are none.
    pub outcomes: Vec<Outcome>,
    /// What failures have in common, literally.
    pub signature: Option<String>,
    /// Names of sessions; any if there are none.
    pub sessions: Vec<String>,
    /// The earliest start of their sessions.
    pub since: Option<Timestamp>,
    /// Most Runs that are given.
    pub limit: Option<usize>,
}

/// Runs that were asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// Those within the limit, the newest session first, and in a session by their names.
    pub runs: Vec<KnownRun>,
    /// How many there are.
    pub total: usize,
}

/// A Run, as far as it is known without its folder.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KnownRun {
    /// The name of its session.
    pub session: String,
    /// When that began.
    pub started: Timestamp,
    /// The kernel's locator, as it was typed.
    pub locator: String,
    /// The locator by which the very same kernel is found.
    pub kernel: String,
    /// The kernel's release, if it was known before the boot.
    pub release: Option<String>,
    /// The machine, for people.
    pub machine: String,
    /// The suite, or the program.
    pub suite: String,
    /// The case.
    pub case: String,
    /// It is the boot of the machine.
    pub is_boot: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// Why.
    pub reason: String,
    /// How long it took.
    #[serde(with = "judge::json::seconds")]
    pub duration: Duration,
    /// How many Runs it stands for.
    pub runs: u32,
    /// How many of those failed.
    pub failures: u32,
    /// Who broke it, if it is broken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blame: Option<String>,
    /// What a failure has in common with others like it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// Hash over the kernel and its parameters.
    pub identity: String,
    /// The kernel's parameters, as the user gave them; not known of sessions of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<String>,
    /// The host that ran it, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

impl KnownRun {
    /// What its kernel is called: its release, or else how it was named.
    #[must_use]
    pub fn kernel_name(&self) -> &str {
        self.release.as_deref().unwrap_or(&self.locator)
    }
}

/// Most names among which the nearest is looked for.
const NAMED_MAX: usize = 10_000;

/// The tables of a query: sessions first, as their order is that of the answer, which SQLite then need not sort. It keeps the order of
/// a cross join: <https://sqlite.org/optoverview.html#crossjoin>.
pub(super) const TABLES: &str = "FROM session CROSS JOIN run ON run.session = session.name";

/// What [`run`] reads.
pub(super) const COLUMNS: &str =
    "session.name, started, locator, kernel, release, machine, suite, case_name, is_boot, outcome,
    reason, duration, runs, failures, blame, nullif(signature, ''), identity, parameters, origin";

/// What a pattern for kernels is held against.
const KERNEL: [&str; 3] = ["session.release", "session.locator", "session.kernel"];

impl Ledger {
    /// The Runs that are asked for.
    ///
    /// # Errors
    ///
    /// When no session has such a kernel, case or suite, and when SQLite refuses.
    pub fn runs(&mut self, query: &RunsQuery) -> Result<Found, Error> {
        self.asked(|ledger| ledger.ask(query))
    }

    /// The names of the sessions that are asked for, the oldest first, also of those without Runs. Cases and Outcomes do not count.
    ///
    /// # Errors
    ///
    /// When no session has such a kernel or suite, and when SQLite refuses.
    pub fn sessions(&mut self, query: &RunsQuery) -> Result<Vec<String>, Error> {
        let query = RunsQuery { case: None, outcomes: Vec::new(), ..query.clone() };
        self.asked(|ledger| {
            let names = ledger.select_sessions(&query).map_err(sqlite(&ledger.path()))?;
            if names.is_empty() {
                ledger.check_name("kernel", query.kernel.as_deref(), &KERNEL)?;
                ledger.check_name("suite", query.suite.as_deref(), &["session.suite"])?;
            }
            Ok(names)
        })
    }

    fn select_sessions(&self, query: &RunsQuery) -> rusqlite::Result<Vec<String>> {
        let (clause, values) = query.clause();
        let select = format!("SELECT name FROM session {clause} ORDER BY started, name");
        let mut statement = self.connection.prepare(&select)?;
        let values = params_from_iter(values.iter().map(AsRef::as_ref));
        statement.query_map(values, |row| row.get(0))?.collect()
    }

    fn ask(&self, query: &RunsQuery) -> Result<Found, Error> {
        let found = self.select(query).map_err(sqlite(&self.path()))?;
        if found.total == 0 {
            self.check_name("kernel", query.kernel.as_deref(), &KERNEL)?;
            self.check_name("case", query.case.as_deref(), &["run.case_name"])?;
            self.check_name("suite", query.suite.as_deref(), &["session.suite"])?;
        }
        Ok(found)
    }

    fn select(&self, query: &RunsQuery) -> rusqlite::Result<Found> {
        let (clause, values) = query.clause();
        let values = || params_from_iter(values.iter().map(AsRef::as_ref));
        let count = format!("SELECT count(*) {TABLES} {clause}");
        let total = self.connection.query_row(&count, values(), |row| row.get::<_, i64>(0))?;
        let limit = query.limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
        let select = format!(
            "SELECT {COLUMNS} {TABLES} {clause}
             ORDER BY started DESC, session.name DESC, is_boot DESC, case_name LIMIT {limit}"
        );
        let mut statement = self.connection.prepare(&select)?;
        let runs = statement.query_map(values(), run)?.collect::<rusqlite::Result<_>>()?;
        Ok(Found { runs, total: usize::try_from(total).unwrap_or(usize::MAX) })
    }

    /// Whether any session has this name at all; if there are sessions, one that has none was mistyped.
    fn check_name(&self, what: &str, pattern: Option<&str>, columns: &[&str]) -> Result<(), Error> {
        let Some(pattern) = pattern else { return Ok(()) };
        let names = self.names(columns).map_err(sqlite(&self.path()))?;
        let is_known = |name: &String| {
            let matches = "SELECT ?1 GLOB ?2";
            let asked = self.connection.query_row(matches, [name, &glob(pattern)], |row| row.get(0));
            asked.unwrap_or(false)
        };
        if names.is_empty() || names.iter().any(is_known) {
            return Ok(());
        }
        let near = nearest(pattern, names.iter().map(String::as_str).take(NAMED_MAX));
        let hint = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        Err(Error::Unknown(format!("no session has a {what} {pattern:?}{hint}")))
    }

    fn names(&self, columns: &[&str]) -> rusqlite::Result<Vec<String>> {
        let parts = columns.iter().map(|column| format!("SELECT {column} AS word {TABLES} WHERE word != ''"));
        let mut statement = self.connection.prepare(&parts.collect::<Vec<_>>().join(" UNION "))?;
        statement.query_map([], |row| row.get(0))?.collect()
    }
}

impl RunsQuery {
    /// The condition in SQL, and the values in it.
    fn clause(&self) -> (String, Vec<Box<dyn ToSql>>) {
        let mut conditions = Vec::new();
        let mut values: Vec<Box<dyn ToSql>> = Vec::new();
        let mut any = |columns: &[&str], pattern: &Option<String>| {
            let Some(pattern) = pattern else { return };
            let each = columns.iter().map(|column| {
                values.push(Box::new(glob(pattern)));
                format!("{column} GLOB ?{}", values.len())
            });
            conditions.push(format!("({})", each.collect::<Vec<_>>().join(" OR ")));
        };
        any(&KERNEL, &self.kernel);
        any(&["case_name"], &self.case);
        any(&["suite"], &self.suite);
        if !self.outcomes.is_empty() {
            let names: Vec<String> =
                self.outcomes.iter().map(|outcome| format!("'{}'", outcome.name())).collect();
            conditions.push(format!("outcome IN ({})", names.join(", ")));
        }
        if let Some(signature) = &self.signature {
            values.push(Box::new(signature.clone()));
            conditions.push(format!("signature = ?{}", values.len()));
        }
        if !self.sessions.is_empty() {
            let marks: Vec<String> =
                (1..=self.sessions.len()).map(|number| format!("?{}", values.len() + number)).collect();
            conditions.push(format!("session.name IN ({})", marks.join(", ")));
            values.extend(self.sessions.iter().map(|name| Box::new(name.clone()) as Box<dyn ToSql>));
        }
        if let Some(since) = self.since {
            conditions.push(format!("started >= {}", since.as_millisecond()));
        }
        let clause = conditions.join(" AND ");
        (if clause.is_empty() { clause } else { format!("WHERE {clause}") }, values)
    }
}

/// A pattern as SQLite reads it: there a bracket begins a set, and in names it stands for itself.
fn glob(pattern: &str) -> String {
    pattern.replace('[', "[[]")
}

pub(super) fn run(row: &Row<'_>) -> rusqlite::Result<KnownRun> {
    let micros = u64::try_from(row.get::<_, i64>(11)?).unwrap_or(0);
    Ok(KnownRun {
        session: row.get(0)?,
        started: timestamp(row, 1)?,
        locator: row.get(2)?,
        kernel: row.get(3)?,
        release: row.get(4)?,
        machine: row.get(5)?,
        suite: row.get(6)?,
        case: row.get(7)?,
        is_boot: row.get(8)?,
        outcome: row.get::<_, Named>(9)?.0,
        reason: row.get(10)?,
        duration: Duration::from_micros(micros),
        runs: row.get(12)?,
        failures: row.get(13)?,
        blame: row.get(14)?,
        signature: row.get(15)?,
        identity: row.get(16)?,
        parameters: row.get(17)?,
        origin: row.get(18)?,
    })
}

/// The time in a column that counts milliseconds.
pub(super) fn timestamp(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    Ok(Timestamp::from_millisecond(row.get(column)?).unwrap_or_default())
}

/// An Outcome by its name.
pub(super) struct Named(pub(super) Outcome);

impl FromSql for Named {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Outcome::named(value.as_str()?).map(Self).ok_or(FromSqlError::InvalidType)
    }
}
