//! From the Runs of all sessions to the problems that they show.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use jiff::Timestamp;
use rusqlite::{Row, ToSql};

use super::query::{Named, timestamp};
use super::{Error, Ledger, sqlite};
use crate::problem::{Closing, OnKernel, Problem, Sighting, Source};

/// A case by its name, whether it is the boot, and the kernel parameters with which it ran: none where they are not known.
type Case = (String, bool, Option<String>);

/// The release of a session, with its commit: `6.12.0-rc3 (1f2e3d4c5b6a)`.
const RELEASE: &str = "coalesce(release, locator) || coalesce(' (' || substr(commit_hash, 1, 12) || ')', '')";

/// What is equal here is one kernel: the release, and the commit with how it was built.
type Key = (String, Option<(String, String)>);

/// A session, as far as problems go.
struct Session {
    kernel: String,
    release: String,
    source: Option<Source>,
    parameters: Option<String>,
    started: Timestamp,
}

/// A failure.
struct Seen {
    signature: String,
    accused: Option<String>,
    failures: u64,
    sighting: Sighting,
}

/// What is collected of a problem.
struct Collected {
    problem: Problem,
    cases: BTreeSet<Case>,
    /// The sessions that show it.
    failing: BTreeSet<usize>,
}

/// The sessions by number, and those in which each case passed. One that failed in another way says nothing about a problem.
struct Passed {
    sessions: Vec<Session>,
    numbers: HashMap<String, usize>,
    by_case: HashMap<Case, Vec<usize>>,
}

/// The one of `problems` whose id begins so.
///
/// # Errors
///
/// When there is none, or more than one.
pub fn named<'p, P>(all: &'p [P], problem: impl Fn(&P) -> &Problem, id: &str) -> Result<&'p P, Error> {
    let mut found = all.iter().filter(|one| !id.is_empty() && problem(one).id.starts_with(id));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(one), Some(other)) => {
            let ids = [one, other].map(|one| problem(one).id.as_str());
            let text = format!("{id:?} begins the ids of several problems: {}", ids.join(" and "));
            Err(Error::Unknown(text))
        }
        (None, _) => {
            let text = format!("no problem {id:?}: `kiln problems --all` lists their ids");
            Err(Error::Unknown(text))
        }
    }
}

impl Ledger {
    /// All problems, those that were seen last first.
    ///
    /// # Errors
    ///
    /// When SQLite refuses.
    pub fn problems(&mut self) -> Result<Vec<Problem>, Error> {
        self.asked(|ledger| ledger.collect_problems().map_err(sqlite(&ledger.path())))
    }

    /// Notes a user's word that a problem is gone.
    ///
    /// # Errors
    ///
    /// When SQLite refuses, or the file cannot be written.
    pub fn close(&self, problem: &Problem, closing: Closing) -> Result<(), Error> {
        let closed = closing.closed.as_millisecond();
        let values: [&dyn ToSql; 3] = [&problem.signature, &closed, &closing.was_gone];
        self.write("INSERT OR REPLACE INTO closing VALUES (?1, ?2, ?3)", &values)
    }

    /// Takes that back.
    ///
    /// # Errors
    ///
    /// When SQLite refuses, or the file cannot be written.
    pub fn reopen(&self, problem: &Problem) -> Result<(), Error> {
        self.write("DELETE FROM closing WHERE signature = ?1", &[&problem.signature])
    }

    fn write(&self, statement: &str, values: &[&dyn ToSql]) -> Result<(), Error> {
        if self.is_in_memory {
            return Err(Error::ReadOnly { path: self.path() });
        }
        self.connection.execute(statement, values).map(drop).map_err(sqlite(&self.path()))
    }

    fn collect_problems(&self) -> rusqlite::Result<Vec<Problem>> {
        let passed = self.passed()?;
        let mut closings = self.closings()?;
        let mut all: HashMap<String, Collected> = HashMap::new();
        for seen in self.seen()? {
            let Some(&session) = passed.numbers.get(&seen.sighting.session) else { continue };
            let parameters = passed.sessions[session].parameters.clone();
            let collected = all.entry(seen.signature.clone()).or_insert_with(|| Collected::begin(&seen));
            collected.add(seen, session, parameters);
        }
        let mut tallies = HashMap::new();
        let mut problems: Vec<Problem> = all
            .into_values()
            .map(|collected| Problem {
                closing: closings.remove(&collected.problem.signature),
                kernels: passed.kernels(&collected, &mut tallies),
                ..collected.problem
            })
            .collect();
        problems.sort_by(|a, b| b.last.started.cmp(&a.last.started).then_with(|| a.id.cmp(&b.id)));
        Ok(problems)
    }

    /// All failures, the oldest first.
    fn seen(&self) -> rusqlite::Result<Vec<Seen>> {
        let mut statement = self.connection.prepare(&format!(
            "SELECT signature, accused, failures, session, started, suite, case_name, is_boot, outcome, reason,
                iif(kernel = '', locator, kernel), {RELEASE}
             FROM run JOIN session ON run.session = session.name
             WHERE signature != '' AND outcome IN ('fail', 'crash', 'hang')
             ORDER BY started, session, case_name, is_boot"
        ))?;
        statement.query_map([], seen)?.collect()
    }

    fn closings(&self) -> rusqlite::Result<HashMap<String, Closing>> {
        let mut statement = self.connection.prepare("SELECT signature, closed, was_gone FROM closing")?;
        let closing =
            |row: &Row<'_>| Ok((row.get(0)?, Closing { closed: timestamp(row, 1)?, was_gone: row.get(2)? }));
        statement.query_map([], closing)?.collect()
    }

    fn passed(&self) -> rusqlite::Result<Passed> {
        let mut sessions = self.connection.prepare(&format!(
            "SELECT name, iif(kernel = '', locator, kernel), {RELEASE}, parameters, started, commit_hash, tree,
                coalesce(build, '') FROM session"
        ))?;
        let (names, sessions): (Vec<String>, Vec<Session>) =
            sessions.query_map([], named_session)?.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().unzip();
        let numbers: HashMap<String, usize> =
            names.into_iter().enumerate().map(|(number, name)| (name, number)).collect();
        let mut by_case: HashMap<Case, Vec<usize>> = HashMap::new();
        // Nothing records a boot that went well: it did where a case passed and no boot went badly.
        let mut runs = self.connection.prepare(
            "SELECT session, case_name, 0 FROM run WHERE outcome = 'pass' AND NOT is_boot
                AND case_name IN (SELECT case_name FROM run WHERE signature != '')
             UNION ALL
             SELECT DISTINCT session, ?1, 1 FROM run WHERE outcome = 'pass' AND NOT is_boot
                AND session NOT IN (SELECT session FROM run WHERE is_boot)",
        )?;
        let mut rows = runs.query([judge::run::BOOT])?;
        while let Some(row) = rows.next()? {
            let Some(&number) = numbers.get(row.get_ref(0)?.as_str()?) else { continue };
            let case = (row.get(1)?, row.get(2)?, sessions[number].parameters.clone());
            by_case.entry(case).or_default().push(number);
        }
        Ok(Passed { sessions, numbers, by_case })
    }
}

impl Collected {
    fn begin(seen: &Seen) -> Self {
        Self {
            problem: Problem::begin(&seen.signature, seen.accused.clone(), &seen.sighting),
            cases: BTreeSet::new(),
            failing: BTreeSet::new(),
        }
    }

    fn add(&mut self, seen: Seen, session: usize, parameters: Option<String>) {
        let Sighting { case, is_boot, .. } = &seen.sighting;
        self.problem.failures += seen.failures;
        self.problem.cases.insert(case.clone());
        self.cases.insert((case.clone(), *is_boot, parameters));
        self.problem.last = seen.sighting;
        self.failing.insert(session);
    }
}

impl Passed {
    /// The releases of a problem. A case may have as many problems as failures: `tallies` keeps what is the same for all.
    fn kernels(&self, of: &Collected, tallies: &mut HashMap<Case, BTreeMap<Key, OnKernel>>) -> Vec<OnKernel> {
        let passed = |case: &Case| self.by_case.get(case).map_or(&[][..], Vec::as_slice).iter().copied();
        let mut kernels = match of.cases.first() {
            Some(case) if of.cases.len() == 1 => {
                tallies.entry(case.clone()).or_insert_with(|| self.tally(passed(case))).clone()
            }
            // A session in which one case shows it is none without it.
            _ => self.tally(
                of.cases.iter().flat_map(passed).collect::<BTreeSet<_>>().difference(&of.failing).copied(),
            ),
        };
        for &number in &of.failing {
            let Session { started, .. } = &self.sessions[number];
            let on = self.sessions[number].entry(&mut kernels);
            on.sessions += 1;
            on.failing += 1;
            on.first_failed = Some(on.first_failed.map_or(*started, |first| first.min(*started)));
            on.last_failed = on.last_failed.max(Some(*started));
        }
        let mut kernels: Vec<OnKernel> = kernels.into_values().collect();
        kernels.sort_by(|a, b| kernel::version::compare(&a.release, &b.release));
        kernels
    }

    /// How many of these sessions each release had.
    fn tally(&self, numbers: impl IntoIterator<Item = usize>) -> BTreeMap<Key, OnKernel> {
        let mut kernels: BTreeMap<Key, OnKernel> = BTreeMap::new();
        for number in numbers {
            self.sessions[number].entry(&mut kernels).sessions += 1;
        }
        kernels
    }
}

impl Session {
    /// Its kernel among others.
    fn entry<'k>(&self, kernels: &'k mut BTreeMap<Key, OnKernel>) -> &'k mut OnKernel {
        let source = self.source.as_ref().map(|source| (source.commit.clone(), source.build.clone()));
        let on = kernels.entry((self.release.clone(), source)).or_insert_with(|| OnKernel {
            kernel: self.kernel.clone(),
            release: self.release.clone(),
            source: self.source.clone(),
            sessions: 0,
            failing: 0,
            first_failed: None,
            last_failed: None,
        });
        if let (Some(known), Some(source)) = (&mut on.source, &self.source) {
            known.tree = known.tree.take().or_else(|| source.tree.clone());
        }
        on
    }
}

/// A session with its name.
fn named_session(row: &Row<'_>) -> rusqlite::Result<(String, Session)> {
    let source = match row.get(5)? {
        Some(commit) => {
            let tree = row.get::<_, Option<String>>(6)?.map(PathBuf::from);
            Some(Source { commit, tree, build: row.get(7)? })
        }
        None => None,
    };
    let session = Session {
        kernel: row.get(1)?,
        release: row.get(2)?,
        source,
        parameters: row.get(3)?,
        started: timestamp(row, 4)?,
    };
    Ok((row.get(0)?, session))
}

fn seen(row: &Row<'_>) -> rusqlite::Result<Seen> {
    let sighting = Sighting {
        session: row.get(3)?,
        started: timestamp(row, 4)?,
        suite: row.get(5)?,
        case: row.get(6)?,
        is_boot: row.get(7)?,
        outcome: row.get::<_, Named>(8)?.0,
        reason: row.get(9)?,
        kernel: row.get(10)?,
        release: row.get(11)?,
    };
    Ok(Seen {
        signature: row.get(0)?,
        accused: row.get(1)?,
        failures: row.get::<_, u32>(2)?.into(),
        sighting,
    })
}

#[cfg(test)]
mod tests {
    use judge::Outcome;

    use super::*;

    fn problem(signature: &str) -> Problem {
        let seen = Sighting {
            session: String::new(),
            started: Timestamp::UNIX_EPOCH,
            suite: String::new(),
            case: String::new(),
            is_boot: false,
            outcome: Outcome::Fail,
            reason: String::new(),
            kernel: String::new(),
            release: String::new(),
        };
        Problem::begin(signature, None, &seen)
    }

    #[test]
    fn an_id_may_be_abbreviated_as_long_as_it_is_one() {
        let problems: Vec<Problem> = (0..40).map(|number| problem(&number.to_string())).collect();
        let first = &problems[0];
        assert_eq!(named(&problems, |it| it, &first.id).expect("whole").signature, "0");
        assert_eq!(named(&problems, |it| it, &first.id[..8]).expect("enough").signature, "0");
        let error = |id: &str| named(&problems, |it| it, id).expect_err("no such").to_string();
        assert!(error("").starts_with("no problem") && error("zzz").contains("--all"));
        let shared = problems.iter().filter(|other| other.id[..1] == first.id[..1]).count();
        assert!(shared > 1 && error(&first.id[..1]).contains("several problems"), "{shared}");
    }
}
