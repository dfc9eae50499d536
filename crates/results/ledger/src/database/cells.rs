//! What ran on which kernel: the cells of a matrix.

use rusqlite::named_params;

use super::query::{KnownRun, TABLES, run};
use super::{Error, Ledger, sqlite};

/// What a session tested, besides its kernel.
#[derive(Debug, Clone, Copy)]
pub struct Tested<'a> {
    /// The suite's name.
    pub suite: &'a str,
    /// A hash over what ran.
    pub content: &'a str,
    /// Kernel parameters that the user gave.
    pub parameters: &'a str,
    /// Names of the cases.
    pub cases: &'a [String],
}

impl Ledger {
    /// The latest Run of each case of a suite on each of these kernels, and of each boot that went badly there, with these
    /// parameters of the user. A kernel is named by a locator, as it was typed or the exact one.
    ///
    /// # Errors
    ///
    /// When SQLite refuses.
    pub fn latest(
        &mut self,
        suite: &str,
        kernels: &[String],
        parameters: &str,
    ) -> Result<Vec<KnownRun>, Error> {
        self.asked(|ledger| ledger.select_latest(suite, kernels, parameters).map_err(sqlite(&ledger.path())))
    }

    fn select_latest(
        &self,
        suite: &str,
        kernels: &[String],
        parameters: &str,
    ) -> rusqlite::Result<Vec<KnownRun>> {
        // Of a group with max(), SQLite gives the row that has it: https://sqlite.org/lang_select.html#bareagg.
        let select = format!(
            "SELECT session.name, max(started), locator, kernel, release, machine, suite, case_name, is_boot, outcome, reason,
                duration, runs, failures {TABLES}
             WHERE suite = :suite AND parameters = :parameters
                AND (kernel IN (SELECT value FROM json_each(:kernels)) OR locator IN (SELECT value FROM json_each(:kernels)))
             GROUP BY iif(kernel = '', locator, kernel), case_name, is_boot"
        );
        let kernels = serde_json::Value::from(kernels).to_string();
        let values = named_params! { ":suite": suite, ":parameters": parameters, ":kernels": kernels };
        self.connection.prepare(&select)?.query_map(values, run)?.collect()
    }

    /// Whether a session that ended has tested all of this on a kernel, which is named by its exact locator, or has found that it
    /// does not come up.
    ///
    /// # Errors
    ///
    /// When SQLite refuses.
    pub fn has(&self, kernel: &str, tested: &Tested<'_>) -> Result<bool, Error> {
        let select = "SELECT EXISTS (
            SELECT 1 FROM session WHERE kernel = :kernel AND suite = :suite AND content = :content
                AND parameters = :parameters AND has_ended
                AND (EXISTS (SELECT 1 FROM run WHERE session = session.name AND is_boot)
                    OR NOT EXISTS (
                        SELECT 1 FROM json_each(:cases) AS wanted WHERE NOT EXISTS (
                            SELECT 1 FROM run
                            WHERE session = session.name AND case_name = wanted.value AND NOT is_boot))))";
        let values = named_params! {
            ":kernel": kernel,
            ":suite": tested.suite,
            ":content": tested.content,
            ":parameters": tested.parameters,
            ":cases": serde_json::Value::from(tested.cases).to_string(),
        };
        self.connection.query_row(select, values, |row| row.get(0)).map_err(sqlite(&self.path()))
    }
}
