//! From the ledger to what is shown.
//!
//! * [`sessions`](mod@sessions): the newest sessions, those that run by what they report; [`changes`](mod@changes), [`problems`](mod@problems)

mod changes;
mod problems;
mod sessions;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use bisect::problem::KnownProblems;
use jiff::Timestamp;
use lab::backend::{Waiting, with_store};
use ledger::{Ledger, LedgerError, PastError, RunsQuery, Wanted};
use report::{KeptRun, ShownLine};

use crate::look::{ChangeRow, Look, ProblemRow, RunRow};
use sessions::Sessions;

/// How old may be what takes long to find.
const AGE: Duration = Duration::from_secs(2);

/// Why something cannot be read.
pub type Error = LedgerError;

/// Reads what is below a folder of sessions.
#[derive(Debug)]
pub struct Reader {
    root: PathBuf,
    bisections: PathBuf,
    ledger: Ledger,
    sessions: Sessions,
    judged: Judged,
}

/// What is known of all Runs together.
#[derive(Debug, Default)]
struct Judged {
    changes: Vec<ChangeRow>,
    problems: Vec<ProblemRow>,
    /// When that was found.
    at: Option<Instant>,
    /// Something is new since.
    is_old: bool,
}

impl Reader {
    /// Reads sessions that are new to the ledger; `progress` is called with how many of how many were. Bisections are
    /// those below `bisections`.
    ///
    /// # Errors
    ///
    /// When the ledger cannot be read.
    pub fn open(
        root: &Path,
        bisections: PathBuf,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, Error> {
        let ledger = Ledger::open(root, progress)?;
        let (sessions, judged) = (Sessions::default(), Judged { is_old: true, ..Judged::default() });
        Ok(Self { root: root.to_owned(), bisections, ledger, sessions, judged })
    }

    /// What there is now; nothing if that is as it was. `is_news` says that files of sessions have changed.
    ///
    /// # Errors
    ///
    /// When the ledger cannot be read.
    pub fn look(&mut self, is_news: bool, now: Timestamp) -> Result<Option<Look>, Error> {
        self.judged.is_old |= is_news;
        let is_due = self.judged.is_old && self.judged.at.is_none_or(|at| at.elapsed() >= AGE);
        // A kiln that was killed changes no file.
        if !is_news && !is_due && !self.sessions.any_runs() {
            return Ok(None);
        }
        if is_due {
            self.judge()?;
        }
        let sessions = self.sessions.look(&self.root, &mut self.ledger, now)?;
        let Judged { changes, problems, .. } = &self.judged;
        let (changes, problems) = (changes.clone(), problems.clone());
        Ok(Some(Look { sessions, queued: slurm::submitted(&self.root), changes, problems }))
    }

    fn judge(&mut self) -> Result<(), Error> {
        self.ledger.refresh()?;
        let (ledger, bisections) = (&mut self.ledger, &self.bisections);
        let waiting = &mut Waiting { interrupt: &AtomicBool::new(false), progress: &mut |_| {} };
        let problems = with_store(waiting, |context| KnownProblems::read(ledger, bisections, context))?;
        let changes = changes::changes(&mut self.ledger, &problems)?;
        let (at, is_old) = (Some(Instant::now()), false);
        self.judged = Judged { changes, problems: problems::rows(problems), at, is_old };
        Ok(())
    }

    /// The Runs of a session.
    ///
    /// # Errors
    ///
    /// When the ledger cannot be read.
    pub fn runs(&mut self, session: &str) -> Result<Vec<RunRow>, Error> {
        if let Some(runs) = self.sessions.runs(session) {
            return Ok(runs.to_vec());
        }
        self.ledger.refresh()?;
        let query = RunsQuery { sessions: vec![session.to_owned()], ..RunsQuery::default() };
        Ok(self.ledger.runs(&query)?.runs.into_iter().map(RunRow::from).collect())
    }

    /// All about a Run.
    ///
    /// # Errors
    ///
    /// When its session is gone, or cannot be read.
    pub fn run(&self, session: &str, case: &str) -> Result<Vec<ShownLine>, PastError> {
        let past = named(&self.root, session)?;
        let run = past.run(case)?;
        Ok(KeptRun::read(Wanted { past, run })?.shown().lines())
    }
}

/// The session of this name, which cannot be a folder elsewhere.
fn named(root: &Path, session: &str) -> Result<ledger::Past, PastError> {
    if session.contains('/') {
        return Err(PastError::Wanted(format!("{session:?} is no session")));
    }
    ledger::session(root, session)
}

#[cfg(test)]
mod tests;
