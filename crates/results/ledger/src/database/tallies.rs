//! Sessions with how their Runs ended, without reading these one by one.

use jiff::Timestamp;
use judge::Summary;
use rusqlite::{Row, ToSql, params_from_iter};

use super::query::{Named, timestamp};
use super::{Error, Ledger, sqlite};

/// A session, as far as it is known without its folder.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    /// The name of the session.
    pub session: String,
    /// When it began.
    pub started: Timestamp,
    /// The kernel's locator, as it was typed.
    pub locator: String,
    /// The kernel's release, if it was known before the boot.
    pub release: Option<String>,
    /// The suite, or the program.
    pub suite: String,
    /// It came to its end.
    pub has_ended: bool,
    /// The host that ran it, if that is another one.
    pub origin: Option<String>,
    /// How its Runs ended, as far as they have.
    pub summary: Summary,
}

/// Which sessions are counted.
#[derive(Debug, Clone, Copy)]
pub enum Tallied<'a> {
    /// The newest so many.
    Newest(usize),
    /// Those on a kernel, by its release or, where that is not known, the locator; at most so many.
    Kernel(&'a str, usize),
    /// Those that ran a suite, at most so many.
    Suite(&'a str, usize),
    /// Of the newest so many kernels, the newest session of each suite.
    Latest(usize),
}

/// The kernel of a session, for people.
pub(super) const NAME: &str = "coalesce(release, locator)";

impl Tally {
    /// What the kernel is called: its release, or else how it was named.
    #[must_use]
    pub fn kernel_name(&self) -> &str {
        self.release.as_deref().unwrap_or(&self.locator)
    }
}

impl Ledger {
    /// Sessions with their counts, the newest first.
    ///
    /// # Errors
    ///
    /// When SQLite refuses.
    pub fn tallies(&mut self, which: Tallied<'_>) -> Result<Vec<Tally>, Error> {
        self.asked(|ledger| ledger.select_tallies(which).map_err(sqlite(&ledger.path())))
    }

    fn select_tallies(&self, which: Tallied<'_>) -> rusqlite::Result<Vec<Tally>> {
        let (names, values): (String, Vec<&dyn ToSql>) = match &which {
            Tallied::Newest(limit) => (
                format!("SELECT name FROM session ORDER BY started DESC, name DESC LIMIT {limit}"),
                Vec::new(),
            ),
            Tallied::Kernel(kernel, limit) => (newest(NAME, *limit), vec![kernel]),
            Tallied::Suite(suite, limit) => (newest("suite", *limit), vec![suite]),
            Tallied::Latest(kernels) => (latest(*kernels), Vec::new()),
        };
        let select = format!(
            "SELECT name, started, locator, release, suite, has_ended, origin, outcome, count(outcome)
             FROM session LEFT JOIN run ON run.session = session.name
             WHERE name IN ({names}) GROUP BY name, outcome ORDER BY started DESC, name DESC"
        );
        let mut statement = self.connection.prepare(&select)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut tallies: Vec<Tally> = Vec::new();
        while let Some(row) = rows.next()? {
            let name: String = row.get(0)?;
            if tallies.last().is_none_or(|last| last.session != name) {
                tallies.push(tally(name, row)?);
            }
            let Some(Named(outcome)) = row.get::<_, Option<Named>>(7)? else { continue };
            if let Some(last) = tallies.last_mut() {
                last.summary.add(outcome, row.get(8)?);
            }
        }
        Ok(tallies)
    }
}

/// The newest sessions in which this is the first value.
fn newest(column: &str, limit: usize) -> String {
    format!("SELECT name FROM session WHERE {column} = ?1 ORDER BY started DESC, name DESC LIMIT {limit}")
}

/// The newest session of each suite on the kernels that were tested last. SQLite takes the other columns from the row with the
/// maximum: <https://sqlite.org/lang_select.html#bareagg>.
fn latest(kernels: usize) -> String {
    format!(
        "SELECT name FROM (SELECT name, max(started) FROM session
            WHERE {NAME} IN (SELECT {NAME} FROM session GROUP BY {NAME} ORDER BY max(started) DESC LIMIT {kernels})
            GROUP BY {NAME}, suite)"
    )
}

fn tally(session: String, row: &Row<'_>) -> rusqlite::Result<Tally> {
    Ok(Tally {
        session,
        started: timestamp(row, 1)?,
        locator: row.get(2)?,
        release: row.get(3)?,
        suite: row.get(4)?,
        has_ended: row.get(5)?,
        origin: row.get(6)?,
        summary: Summary::default(),
    })
}

#[cfg(test)]
mod tests {
    use judge::Outcome;

    use super::*;
    use crate::past::tests::{keep, keep_session, session};

    fn said(tallies: &[Tally]) -> Vec<String> {
        let line = |tally: &Tally| {
            let Summary { pass, fail, crash, .. } = tally.summary;
            format!("{} {} {pass}/{fail}/{crash} {}", tally.kernel_name(), tally.suite, tally.has_ended)
        };
        tallies.iter().map(line).collect()
    }

    #[test]
    fn sessions_are_counted_by_their_outcomes() {
        let root = tempfile::tempdir().expect("a directory");
        keep(root.path(), "deb:6.1.0-47-amd64", &[("a", Outcome::Pass), ("b", Outcome::Fail)], Some(false));
        let kept = |day: &str, release: &str, suite: &str, cases: &[(&str, Outcome)], ended| {
            let mut new = session("deb:x");
            new.started = format!("2026-11-{day}T10:00:00Z").parse().expect("a time");
            new.release = Some(release.to_owned());
            new.suite = suite.to_owned();
            keep_session(root.path(), new, cases, ended);
        };
        kept("21", "6.12.1-amd64", "smoke", &[("a", Outcome::Pass), ("c", Outcome::Pass)], Some(false));
        kept("22", "6.12.1-amd64", "smoke", &[("a", Outcome::Crash)], Some(false));
        kept("23", "6.12.1-amd64", "full", &[], None);
        let mut ledger = Ledger::open(root.path(), &mut |_, _| {}).expect("a ledger");
        let mut tallies = |which| said(&ledger.tallies(which).expect("tallies"));
        let [full, smoke, older] = [
            "6.12.1-amd64 full 0/0/0 false",
            "6.12.1-amd64 smoke 0/0/1 true",
            "6.12.1-amd64 smoke 2/0/0 true",
        ];
        assert_eq!(tallies(Tallied::Newest(2)), [full, smoke]);
        assert_eq!(tallies(Tallied::Kernel("6.12.1-amd64", 9)), [full, smoke, older]);
        assert_eq!(tallies(Tallied::Kernel("6.12.*", 9)), [""; 0], "a name is no pattern");
        assert_eq!(tallies(Tallied::Suite("full", 9)), [full]);
        let old = tallies(Tallied::Newest(9)).pop().expect("four sessions");
        assert_eq!(tallies(Tallied::Latest(9)), [full, smoke, &old], "the newest of each suite");
        assert_eq!(tallies(Tallied::Latest(1)), [full, smoke]);
    }
}
