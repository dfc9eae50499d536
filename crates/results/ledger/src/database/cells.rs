//! What ran on which kernel: the cells of a matrix.

use std::collections::HashSet;

use lab::event::Session;
use lab::request::RunPolicy;
use rusqlite::{OptionalExtension, ToSql, named_params};

use super::query::{COLUMNS, KnownRun, TABLES, run};
use super::take_in::setup;
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
    /// A hash over all else.
    setup: String,
}

/// The conditions of a key.
const OF_KEY: &str = "suite = :suite AND identity = :identity AND content = :content AND setup = :setup";

/// By how many milliseconds what another host ran counts as older: its clock may say anything.
const AGES: i64 = 1 << 50;

/// Runs that say nothing since something else than the kernel or the case broke them.
const FINAL: &str = "(blame IS NULL OR blame NOT IN ('host', 'kiln', 'machine'))";

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

    /// The latest Run of each case in the sessions with a key, and of a boot that went badly; rather one that says something, and of these
    /// rather one of this host.
    ///
    /// # Errors
    ///
    /// When SQLite refuses.
    pub fn latest(&mut self, key: &SessionKey) -> Result<Vec<KnownRun>, Error> {
        // Of a group with max(), SQLite gives the row that has it: https://sqlite.org/lang_select.html#bareagg.
        let select = format!(
            "SELECT {COLUMNS}, max(started - iif(origin IS NULL, 0, {AGES}) - iif({FINAL}, 0, 2 * {AGES})) {TABLES}
                WHERE {OF_KEY} GROUP BY case_name, is_boot"
        );
        self.asked(|ledger| {
            let select = || -> rusqlite::Result<Vec<KnownRun>> {
                ledger.connection.prepare(&select)?.query_map(key.values().as_slice(), run)?.collect()
            };
            select().map_err(sqlite(&ledger.path()))
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

    /// Whether sessions with a key have Runs of all these cases that say something, or one of them found that the kernel does
    /// not come up.
    ///
    /// # Errors
    ///
    /// When SQLite refuses.
    pub fn has(&mut self, key: &SessionKey, cases: &[String]) -> Result<bool, Error> {
        let runs = format!("SELECT case_name {TABLES} WHERE {OF_KEY} AND NOT is_boot AND {FINAL}");
        let dead = format!(
            "SELECT EXISTS (SELECT 1 {TABLES} WHERE {OF_KEY} AND is_boot AND outcome IN ('crash', 'hang') AND NOT EXISTS (
                SELECT 1 FROM run AS other WHERE other.session = run.session AND NOT other.is_boot))"
        );
        self.asked(|ledger| {
            let select = || -> rusqlite::Result<bool> {
                let mut runs = ledger.connection.prepare(&runs)?;
                let known: HashSet<String> = runs
                    .query_map(key.values().as_slice(), |row| row.get(0))?
                    .collect::<rusqlite::Result<_>>()?;
                let is_dead =
                    || ledger.connection.query_row(&dead, key.values().as_slice(), |row| row.get(0));
                if cases.iter().all(|case| known.contains(case)) { Ok(true) } else { is_dead() }
            };
            select().map_err(sqlite(&ledger.path()))
        })
    }
}
