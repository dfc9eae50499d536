//! The newest sessions. Those that run are followed by what they report; what has ended is read once.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use judge::{Outcome, Run, Summary};
use lab::Event;
use lab::event::Session;
use ledger::{Following, KnownRun, Ledger, Past, RunsQuery, sessions};
use report::Pace;

use super::Error;
use crate::look::{RunRow, SessionRow, SessionState};

/// Sessions that are listed.
const LISTED_MAX: usize = 200;

/// Outcomes of what went wrong.
const WRONG: [Outcome; 4] = [Outcome::Crash, Outcome::Hang, Outcome::Fail, Outcome::Broken];

/// Cases of an ended session that are named.
const WRONG_MAX: usize = 10;

/// What is known of sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    running: HashMap<String, Running>,
    /// Those that do not run, by their names.
    known: HashMap<String, SessionRow>,
}

/// A session that another kiln records.
#[derive(Debug)]
struct Running {
    following: Following,
    pace: Pace,
    runs: Vec<RunRow>,
}

impl Sessions {
    pub(super) fn any_runs(&self) -> bool {
        !self.running.is_empty()
    }

    /// The Runs of a session that runs, as far as it has told.
    pub(super) fn runs(&self, session: &str) -> Option<&[RunRow]> {
        self.running.get(session).map(|running| running.runs.as_slice())
    }

    /// The newest sessions.
    pub(super) fn look(
        &mut self,
        root: &Path,
        ledger: &mut Ledger,
        now: Timestamp,
    ) -> Result<Vec<SessionRow>, Error> {
        let (mut rows, mut is_fresh) = (Vec::new(), false);
        let (mut known, mut running) = (HashMap::new(), HashMap::new());
        for past in sessions(root).into_iter().take(LISTED_MAX) {
            let name = past.name();
            let before = self.known.remove(&name);
            if let Some(row) = before.filter(|row| is_final(row, &past)) {
                known.insert(name, row.clone());
                rows.push(row);
            } else if past.is_recorded() {
                let before = self.running.remove(&name);
                let mut followed = before.unwrap_or_else(|| Running::new(past.clone()));
                followed.read();
                rows.extend(past.session().ok().map(|session| followed.row(&past, &session, now)));
                running.insert(name, followed);
            } else {
                if !std::mem::replace(&mut is_fresh, true) {
                    ledger.refresh()?;
                }
                let row = ended(&past, ledger)?;
                known.extend(row.clone().map(|row| (name, row)));
                rows.extend(row);
            }
        }
        (self.known, self.running) = (known, running);
        Ok(rows)
    }
}

/// Whether nothing can have changed since a session was read: one that was stopped may go on.
fn is_final(row: &SessionRow, past: &Past) -> bool {
    matches!(row.state, SessionState::Ended { .. }) || !past.is_recorded()
}

impl Running {
    fn new(past: Past) -> Self {
        Self { following: Following::new(past), pace: Pace::default(), runs: Vec::new() }
    }

    fn read(&mut self) {
        for event in self.following.news() {
            self.pace.on_event(&event);
            match event {
                Event::Planned(_) => self.runs.clear(),
                Event::Finished(run) => self.runs.push(RunRow::from(&*run)),
                _ => {}
            }
        }
    }

    fn row(&self, past: &Past, session: &Session, now: Timestamp) -> SessionRow {
        let elapsed = Duration::try_from(now.duration_since(session.started)).unwrap_or_default();
        let wrong = self.runs.iter().filter(|run| WRONG.contains(&run.outcome));
        let (done, cases) = self.pace.done();
        SessionRow {
            state: SessionState::Running {
                cases: self.pace.running().to_vec(),
                left: self.pace.left(elapsed),
            },
            done,
            cases,
            summary: self.pace.summary(),
            wrong: wrong.map(|run| (run.case.clone(), run.why.clone())).collect(),
            ..described(past, session)
        }
    }
}

/// A session that does not run; nothing if it cannot be read.
fn ended(past: &Past, ledger: &mut Ledger) -> Result<Option<SessionRow>, Error> {
    let Ok(session) = past.session() else { return Ok(None) };
    let query = RunsQuery { sessions: vec![past.name()], ..RunsQuery::default() };
    let runs = ledger.runs(&query)?.runs;
    let mut summary = Summary::default();
    runs.iter().for_each(|run| summary.count(run.outcome));
    let wrong = runs.iter().filter(|run| WRONG.contains(&run.outcome)).take(WRONG_MAX);
    let took = past.took().filter(|_| past.ended());
    Ok(Some(SessionRow {
        state: took.map_or(SessionState::Stopped, |took| SessionState::Ended { took }),
        done: runs.iter().filter(|run| !run.is_boot).count(),
        wrong: wrong.map(|run| (run.case.clone(), run.reason.clone())).collect(),
        summary,
        ..described(past, &session)
    }))
}

/// What a session says of itself.
fn described(past: &Past, session: &Session) -> SessionRow {
    let Session { started, locator, kernel, release, machine, suite, cases, origin, .. } = session;
    let exact = if kernel.is_empty() { locator } else { kernel };
    // A word that could be taken for an option is no kernel.
    let is_kernel = origin.is_none() && !exact.starts_with('-') && !exact.is_empty();
    SessionRow {
        name: past.name(),
        locator: is_kernel.then(|| exact.clone()),
        kernel: release.clone().unwrap_or_else(|| locator.clone()),
        suite: suite.clone(),
        machine: machine.clone(),
        started: *started,
        state: SessionState::Stopped,
        done: 0,
        cases: cases.len(),
        summary: Summary::default(),
        wrong: Vec::new(),
    }
}

impl From<&Run> for RunRow {
    fn from(run: &Run) -> Self {
        let (case, why) = (run.case.clone(), report::why(run));
        Self { case, outcome: run.outcome, duration: run.duration, why }
    }
}

impl From<KnownRun> for RunRow {
    fn from(run: KnownRun) -> Self {
        Self { case: run.case, outcome: run.outcome, duration: run.duration, why: run.reason }
    }
}
