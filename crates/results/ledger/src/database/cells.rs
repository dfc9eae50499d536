//! What ran on which kernel: the cells of a matrix.

use std::collections::{BTreeMap, HashSet};

use lab::event::Session;
use lab::request::RunPolicy;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, named_params};

use super::query::{COLUMNS, KnownRun, TABLES, run};
use super::take_in::setup;
use super::tallies::NAME;
use super::{Error, Ledger, sqlite};
use crate::past::Past;

/// All that decides about the Runs of a session: those of two sessions with the same key answer the same question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionKey {
    /// The suite's name.
    pub suite: String,
    /// A hash over the kernel and its parameters.
    identity: String,
    /// A hash over what ran.
    content: String,
    /// A hash over all else; empty where an earlier kiln did not note it.
    setup: String,
}

/// A kernel that ran a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyedKernel {
    /// The locator by which the very same kernel is found.
    pub kernel: String,
    /// Its release, if it was known before the boot.
    pub release: Option<String>,
    /// Its parameters, as the user gave them.
    pub parameters: String,
    /// All that decides about the Runs of its newest session.
    pub key: SessionKey,
}

/// The conditions of a key.
const OF_KEY: &str =
    "suite = :suite AND identity = :identity AND content = :content AND coalesce(setup, '') = :setup";

/// Runs that say nothing since something else than the kernel or the case broke them.
const FINAL: &str = "(blame IS NULL OR blame NOT IN ('host', 'kiln', 'machine'))";

/// The latest Runs of sessions that are taken in turns, the one that counts most first.
#[derive(Default)]
struct Latest {
    cases: BTreeMap<String, Known>,
    boots: BTreeMap<String, Known>,
}

/// A Run, and whether it says something.
type Known = (KnownRun, bool);

impl Latest {
    /// Takes those of a session that are later than what is known. As a rule there are none, and then only names are read.
    fn take(&mut self, connection: &Connection, session: &str) -> rusqlite::Result<()> {
        let names = format!("SELECT is_boot, case_name, {FINAL} FROM run WHERE session = ?1");
        let mut names = connection.prepare_cached(&names)?;
        let mut names = names.query([session])?;
        while let Some(row) = names.next()? {
            if self.lacks(row.get(0)?, row.get_ref(1)?.as_str()?, row.get(2)?) {
                return self.read(connection, session);
            }
        }
        Ok(())
    }

    fn read(&mut self, connection: &Connection, session: &str) -> rusqlite::Result<()> {
        let runs = format!("SELECT {COLUMNS}, {FINAL} AS is_final {TABLES} WHERE session.name = ?1");
        let mut runs = connection.prepare_cached(&runs)?;
        let mut runs = runs.query([session])?;
        while let Some(row) = runs.next()? {
            let (known, is_final) = (run(row)?, row.get("is_final")?);
            if self.lacks(known.is_boot, &known.case, is_final) {
                self.of(known.is_boot).insert(known.case.clone(), (known, is_final));
            }
        }
        Ok(())
    }

    fn lacks(&mut self, is_boot: bool, case: &str, is_final: bool) -> bool {
        self.of(is_boot).get(case).is_none_or(|(_, known)| is_final && !known)
    }

    fn of(&mut self, is_boot: bool) -> &mut BTreeMap<String, Known> {
        if is_boot { &mut self.boots } else { &mut self.cases }
    }

    fn into_runs(self) -> Vec<KnownRun> {
        self.boots.into_values().chain(self.cases.into_values()).map(|(run, _)| run).collect()
    }
}

impl SessionKey {
    /// The key of a session; none of one that runs no cases.
    #[must_use]
    pub fn of(session: &Session) -> Option<Self> {
        Some(Self {
            suite: session.suite.clone(),
            identity: session.identity.clone(),
            content: session.content.clone(),
            setup: setup(session)?,
        })
    }

    /// A hash over it and some cases.
    #[must_use]
    pub fn digest(&self, cases: &[String]) -> String {
        let Self { suite, identity, content, setup } = self;
        kernel::files::hash(
            serde_json::json!([suite, identity, content, setup, cases]).to_string().as_bytes(),
        )
    }

    fn values(&self) -> [(&str, &dyn ToSql); 4] {
        [
            (":suite", &self.suite),
            (":identity", &self.identity),
            (":content", &self.content),
            (":setup", &self.setup),
        ]
    }
}

impl Ledger {
    /// The key of the newest session that ran this suite on a kernel, as a request with this [`setup`](lab::RunRequest::setup) does. The
    /// kernel is named by a locator, as it was typed or the exact one.
    ///
    /// # Errors
    ///
    /// When SQLite refuses.
    pub fn newest(&mut self, kernel: &str, suite: &str, setup: &str) -> Result<Option<SessionKey>, Error> {
        let select = "SELECT identity, content FROM session
            WHERE suite = :suite AND setup = :setup AND (kernel = :kernel OR locator = :kernel)
            ORDER BY started DESC, name DESC LIMIT 1";
        self.asked(|ledger| {
            let values = named_params! { ":suite": suite, ":setup": setup, ":kernel": kernel };
            let found = ledger.connection.query_row(select, values, |row| {
                let (identity, content) = (row.get(0)?, row.get(1)?);
                Ok(SessionKey { suite: suite.to_owned(), identity, content, setup: setup.to_owned() })
            });
            found.optional().map_err(sqlite(&ledger.path()))
        })
    }

    /// The kernels that ran a suite last, at most so many, each with the key of its newest session.
    ///
    /// # Errors
    ///
    /// When SQLite refuses.
    pub fn subjects(&mut self, suite: &str, limit: usize) -> Result<Vec<KeyedKernel>, Error> {
        // Of the columns beside a maximum SQLite takes the values of its row: https://sqlite.org/lang_select.html#bareagg.
        let select = format!(
            "SELECT iif(kernel = '', locator, kernel), release, coalesce(parameters, '') AS given, identity, content, coalesce(setup, ''),
                max(started) AS newest FROM session
             WHERE suite = ?1 GROUP BY {NAME}, given ORDER BY newest DESC LIMIT {limit}"
        );
        let keyed = |row: &Row<'_>| {
            let (identity, content, setup) = (row.get(3)?, row.get(4)?, row.get(5)?);
            let key = SessionKey { suite: suite.to_owned(), identity, content, setup };
            Ok(KeyedKernel { kernel: row.get(0)?, release: row.get(1)?, parameters: row.get(2)?, key })
        };
        self.asked(|ledger| {
            let select = || -> rusqlite::Result<Vec<KeyedKernel>> {
                ledger.connection.prepare(&select)?.query_map([suite], keyed)?.collect()
            };
            select().map_err(sqlite(&ledger.path()))
        })
    }

    /// The latest Run of each case in the sessions with a key, and of a boot that went badly; rather one that says something, and of these
    /// rather one of this host.
    ///
    /// # Errors
    ///
    /// When SQLite refuses.
    pub fn latest(&mut self, key: &SessionKey) -> Result<Vec<KnownRun>, Error> {
        // The clock of another host may say anything.
        let sessions = format!(
            "SELECT name FROM session WHERE {OF_KEY} ORDER BY origin IS NOT NULL, started DESC, name DESC"
        );
        self.asked(|ledger| {
            let select = || -> rusqlite::Result<Latest> {
                let mut latest = Latest::default();
                let mut sessions = ledger.connection.prepare_cached(&sessions)?;
                let mut names = sessions.query(key.values().as_slice())?;
                while let Some(row) = names.next()? {
                    latest.take(&ledger.connection, &row.get::<_, String>(0)?)?;
                }
                Ok(latest)
            };
            Ok(select().map_err(sqlite(&ledger.path()))?.into_runs())
        })
    }

    /// The newest session with a key that was asked to run its cases as `policy` says, and did: the same Runs of the same boots, all of
    /// which say something. How many machines there were at a time does not matter.
    ///
    /// # Errors
    ///
    /// When SQLite refuses.
    pub fn carried_out(&mut self, key: &SessionKey, policy: &RunPolicy) -> Result<Option<Past>, Error> {
        let select = format!(
            "SELECT name FROM session WHERE {OF_KEY} AND policy = :policy AND has_ended
                AND NOT EXISTS (SELECT 1 FROM run WHERE session = name AND NOT {FINAL})
                ORDER BY started DESC, name DESC"
        );
        let policy = policy.hash();
        let names = self.asked(|ledger| {
            let select = || -> rusqlite::Result<Vec<String>> {
                let mut values = key.values().to_vec();
                values.push((":policy", &policy));
                let mut names = ledger.connection.prepare_cached(&select)?;
                names.query_map(values.as_slice(), |row| row.get(0))?.collect()
            };
            select().map_err(sqlite(&ledger.path()))
        })?;
        Ok(names.iter().find_map(|name| Past::open(&self.root.join(name))))
    }

    /// Whether no case is [missing](Self::missing).
    ///
    /// # Errors
    ///
    /// When SQLite refuses.
    pub fn has(&mut self, key: &SessionKey, cases: &[String]) -> Result<bool, Error> {
        Ok(self.missing(key, cases)?.is_empty())
    }

    /// Those of these cases of which sessions with a key have no Run that says something; none if one of the sessions found that the kernel
    /// does not come up.
    ///
    /// # Errors
    ///
    /// When SQLite refuses.
    pub fn missing(&mut self, key: &SessionKey, cases: &[String]) -> Result<Vec<String>, Error> {
        let runs = format!("SELECT case_name {TABLES} WHERE {OF_KEY} AND NOT is_boot AND {FINAL}");
        let dead = format!(
            "SELECT EXISTS (SELECT 1 {TABLES} WHERE {OF_KEY} AND is_boot AND outcome IN ('crash', 'hang') AND NOT EXISTS (
                SELECT 1 FROM run AS other WHERE other.session = run.session AND NOT other.is_boot))"
        );
        self.asked(|ledger| {
            let select = || -> rusqlite::Result<Vec<String>> {
                let mut missing: HashSet<&str> = cases.iter().map(String::as_str).collect();
                let mut runs = ledger.connection.prepare(&runs)?;
                let mut runs = runs.query(key.values().as_slice())?;
                while !missing.is_empty() {
                    let Some(row) = runs.next()? else { break };
                    missing.remove(row.get_ref(0)?.as_str()?);
                }
                let is_dead =
                    || ledger.connection.query_row(&dead, key.values().as_slice(), |row| row.get(0));
                if missing.is_empty() || is_dead()? {
                    return Ok(Vec::new());
                }
                Ok(cases.iter().filter(|case| missing.contains(case.as_str())).cloned().collect())
            };
            select().map_err(sqlite(&ledger.path()))
        })
    }
}
