//! From the Runs of all sessions to the problems that they show.

use std::collections::{BTreeSet, HashMap, HashSet};

use jiff::Timestamp;
use rusqlite::{Row, ToSql};

use super::query::{Named, timestamp};
use super::{Error, Ledger, sqlite};
use crate::problem::{Closing, OnKernel, Problem, Sighting};

/// Outcomes that say something about the kernel.
const JUDGED: &str = "outcome IN ('pass', 'fail', 'crash', 'hang')";

/// A case by its name, and whether it is the boot.
type Case = (String, bool);

/// A session, as far as problems go.
struct Session {
    kernel: String,
    release: String,
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

/// The sessions by number, and which of them judged each case.
struct Judged {
    sessions: Vec<Session>,
    numbers: HashMap<String, usize>,
    by_case: HashMap<Case, Vec<usize>>,
    /// A boot that went well is not recorded: all sessions that judged anything have one.
    booted: Vec<usize>,
}

/// The one of `problems` whose id begins so.
///
/// # Errors
///
/// When there is none, or more than one.
pub fn named<'p>(problems: &'p [Problem], id: &str) -> Result<&'p Problem, Error> {
    let mut found = problems.iter().filter(|problem| !id.is_empty() && problem.id.starts_with(id));
    match (found.next(), found.next()) {
        (Some(problem), None) => Ok(problem),
        (Some(one), Some(other)) => {
            let text = format!("{id:?} begins the ids of several problems: {} and {}", one.id, other.id);
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
        let judged = self.judged()?;
        let mut closings = self.closings()?;
        let mut all: HashMap<String, Collected> = HashMap::new();
        for seen in self.seen()? {
            let session = judged.numbers.get(&seen.sighting.session).copied();
            all.entry(seen.signature.clone()).or_insert_with(|| Collected::begin(&seen)).add(seen, session);
        }
        let mut tallies = HashMap::new();
        let mut problems: Vec<Problem> = all
            .into_values()
            .map(|collected| Problem {
                closing: closings.remove(&collected.problem.signature),
                kernels: judged.kernels(&collected, &mut tallies),
                ..collected.problem
            })
            .collect();
        problems.sort_by(|a, b| b.last.started.cmp(&a.last.started).then_with(|| a.id.cmp(&b.id)));
        Ok(problems)
    }

    /// All failures, the oldest first.
    fn seen(&self) -> rusqlite::Result<Vec<Seen>> {
        let mut statement = self.connection.prepare(
            "SELECT signature, accused, failures, session, started, suite, case_name, is_boot, outcome, reason,
                iif(kernel = '', locator, kernel), coalesce(release, locator)
             FROM run JOIN session ON run.session = session.name WHERE signature != ''
             ORDER BY started, session, case_name, is_boot",
        )?;
        statement.query_map([], seen)?.collect()
    }

    fn closings(&self) -> rusqlite::Result<HashMap<String, Closing>> {
        let mut statement = self.connection.prepare("SELECT signature, closed, was_gone FROM closing")?;
        let closing =
            |row: &Row<'_>| Ok((row.get(0)?, Closing { closed: timestamp(row, 1)?, was_gone: row.get(2)? }));
        statement.query_map([], closing)?.collect()
    }

    fn judged(&self) -> rusqlite::Result<Judged> {
        let mut sessions = self.connection.prepare(
            "SELECT name, iif(kernel = '', locator, kernel), coalesce(release, locator), started FROM session",
        )?;
        let session = |row: &Row<'_>| {
            Ok((
                row.get(0)?,
                Session { kernel: row.get(1)?, release: row.get(2)?, started: timestamp(row, 3)? },
            ))
        };
        let (names, sessions): (Vec<String>, Vec<Session>) =
            sessions.query_map([], session)?.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().unzip();
        let numbers: HashMap<String, usize> =
            names.into_iter().enumerate().map(|(number, name)| (name, number)).collect();
        let mut by_case: HashMap<Case, Vec<usize>> = HashMap::new();
        let mut booted = HashSet::new();
        let mut runs = self
            .connection
            .prepare(&format!("SELECT session, case_name, is_boot FROM run WHERE {JUDGED}"))?;
        let mut rows = runs.query([])?;
        while let Some(row) = rows.next()? {
            let Some(&number) = numbers.get(row.get_ref(0)?.as_str()?) else { continue };
            booted.insert(number);
            by_case.entry((row.get(1)?, row.get(2)?)).or_default().push(number);
        }
        Ok(Judged { sessions, numbers, by_case, booted: booted.into_iter().collect() })
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

    fn add(&mut self, seen: Seen, session: Option<usize>) {
        self.problem.failures += seen.failures;
        self.problem.cases.insert(seen.sighting.case.clone());
        self.cases.insert((seen.sighting.case.clone(), seen.sighting.is_boot));
        self.problem.last = seen.sighting;
        self.failing.extend(session);
    }
}

impl Judged {
    /// The sessions that judged a case.
    fn of(&self, case: &Case) -> &[usize] {
        if case.1 { &self.booted } else { self.by_case.get(case).map_or(&[], Vec::as_slice) }
    }

    /// The kernels of a problem. A case may have as many problems as failures: `tallies` keeps what is the same for all.
    fn kernels(&self, of: &Collected, tallies: &mut HashMap<Case, Vec<OnKernel>>) -> Vec<OnKernel> {
        let mut kernels = match of.cases.first() {
            Some(case) if of.cases.len() == 1 => tallies
                .entry(case.clone())
                .or_insert_with(|| self.tally(self.of(case).iter().copied()))
                .clone(),
            _ => self.tally(of.cases.iter().flat_map(|case| self.of(case)).copied().collect::<BTreeSet<_>>()),
        };
        for &number in &of.failing {
            let session = &self.sessions[number];
            let Some(on) = kernels.iter_mut().find(|on| on.kernel == session.kernel) else { continue };
            on.failing += 1;
            on.first_failed =
                Some(on.first_failed.map_or(session.started, |first| first.min(session.started)));
            on.last_failed = on.last_failed.max(Some(session.started));
        }
        kernels
    }

    /// How many of these sessions each kernel had, in the order of the kernels.
    fn tally(&self, numbers: impl IntoIterator<Item = usize>) -> Vec<OnKernel> {
        let mut kernels: HashMap<&str, OnKernel> = HashMap::new();
        for number in numbers {
            let session = &self.sessions[number];
            let on = kernels.entry(&session.kernel).or_insert_with(|| session.on_kernel());
            on.sessions += 1;
            on.first_judged = on.first_judged.min(session.started);
        }
        let mut kernels: Vec<OnKernel> = kernels.into_values().collect();
        kernels.sort_by(|a, b| {
            let time = || a.first_judged.cmp(&b.first_judged).then_with(|| a.kernel.cmp(&b.kernel));
            kernel::version::compare(&a.release, &b.release).then_with(time)
        });
        kernels
    }
}

impl Session {
    fn on_kernel(&self) -> OnKernel {
        OnKernel {
            kernel: self.kernel.clone(),
            release: self.release.clone(),
            sessions: 0,
            failing: 0,
            first_judged: self.started,
            first_failed: None,
            last_failed: None,
        }
    }
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
        assert_eq!(named(&problems, &first.id).expect("whole").signature, "0");
        assert_eq!(named(&problems, &first.id[..8]).expect("enough").signature, "0");
        let error = |id: &str| named(&problems, id).expect_err("no such").to_string();
        assert!(error("").starts_with("no problem") && error("zzz").contains("--all"));
        let shared = problems.iter().filter(|other| other.id[..1] == first.id[..1]).count();
        assert!(shared > 1 && error(&first.id[..1]).contains("several problems"), "{shared}");
    }
}
