//! What is asked of the ledger.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use bisect::Changes;
use bisect::problem::KnownProblems;
use kernel::catalogue::releases_kept;
use lab::backend::{Waiting, store, with_store};
use ledger::{FoundRuns, KeptMeasurement, Ledger, LedgerError, Past, RunsQuery, Tallied, Tally};
use matrix::Grid;
use outbox::Outbox;
use post::Posts;
use report::Pace;

use watch::Difference;

use crate::kept::{Kind, is_name};
use crate::measured::Measured;
use crate::running::Running;

/// How old an answer may be: many browsers ask at once.
const AGE: Duration = Duration::from_secs(1);

/// The folders of which pages are made.
#[derive(Debug, Clone)]
pub struct Folders {
    /// Of sessions.
    pub sessions: PathBuf,
    /// Of measurements and comparisons.
    pub figures: PathBuf,
    /// Of bisections.
    pub bisections: PathBuf,
    /// Of checks of patches.
    pub checks: PathBuf,
    /// The mails that wait.
    pub outbox: Outbox,
    /// The posts that wait.
    pub posts: Posts,
}

impl Folders {
    /// Those of what is kept beside sessions.
    pub(crate) fn of(&self, kind: Kind) -> &Path {
        match kind {
            Kind::Comparison => &self.figures,
            Kind::Bisection => &self.bisections,
            Kind::Check => &self.checks,
        }
    }
}

/// The ledger and the folders.
#[derive(Debug)]
pub(crate) struct Store {
    folders: Arc<Folders>,
    ledger: Ledger,
    /// When it was asked what is new; nothing if something is.
    refreshed: Option<Instant>,
    /// The last news that it knows of.
    news: u64,
    /// As they were then, once somebody asked: many pages show some of them.
    problems: Option<Arc<KnownProblems>>,
    running: Running,
    measured: Measured,
}

impl Store {
    /// What is known of the sessions in these folders.
    pub(crate) fn open(folders: Arc<Folders>) -> Result<Self, LedgerError> {
        let ledger = Ledger::open(&folders.sessions, &mut |_, _| {})?;
        Ok(Self {
            folders,
            ledger,
            refreshed: Some(Instant::now()),
            news: 0,
            problems: None,
            running: Running::default(),
            measured: Measured::default(),
        })
    }

    /// Takes notice of news, by its number: a browser that learned of it asks at once, and must get no answer from before.
    pub(crate) fn notice(&mut self, news: u64) {
        if std::mem::replace(&mut self.news, news) != news {
            self.refreshed = None;
        }
    }

    pub(crate) fn folders(&self) -> &Folders {
        &self.folders
    }

    /// The folder of the sessions.
    pub(crate) fn root(&self) -> &Path {
        &self.folders.sessions
    }

    /// The Runs that are asked for.
    pub(crate) fn runs(&mut self, query: &RunsQuery) -> Result<FoundRuns, LedgerError> {
        self.fresh()?.runs(query)
    }

    /// Sessions with their counts.
    pub(crate) fn tallies(&mut self, which: Tallied<'_>) -> Result<Vec<Tally>, LedgerError> {
        self.fresh()?.tallies(which)
    }

    /// A suite on the kernels that ran it last, at most so many.
    pub(crate) fn grid(&mut self, suite: &str, columns: usize) -> Result<Grid, LedgerError> {
        matrix::latest(suite, columns, self.fresh()?)
    }

    /// The newest figures of a kernel, by its release; nothing if it was not measured.
    pub(crate) fn figures(&mut self, release: &str) -> Option<KeptMeasurement> {
        self.measured.newest(&self.folders.figures, release)
    }

    /// All problems, those that were seen last first.
    pub(crate) fn problems(&mut self) -> Result<Arc<KnownProblems>, LedgerError> {
        self.fresh()?;
        if let Some(known) = &self.problems {
            return Ok(Arc::clone(known));
        }
        let waiting = &mut Waiting { interrupt: &AtomicBool::new(false), progress: &mut |_| {} };
        let (ledger, bisections) = (&mut self.ledger, &self.folders.bisections);
        let problems = with_store(waiting, |context| KnownProblems::read(ledger, bisections, context))?;
        let problems = Arc::new(problems);
        self.problems = Some(Arc::clone(&problems));
        Ok(problems)
    }

    /// The session of this name, which no request can have be another file.
    pub(crate) fn session(&self, name: &str) -> Option<Past> {
        is_name(name).then(|| Past::open(&self.root().join(name)))?
    }

    /// What the package of a kernel says is new since the kernel before it, if both are packages that this host keeps.
    pub(crate) fn changes(&self, differences: &[Difference]) -> Option<Changes> {
        let first = differences.first()?;
        let before = &first.before.as_ref()?.kernel;
        let (since, releases) = releases_kept(&store(), before, &first.after.kernel)?;
        Some(Changes::of(&since, &releases))
    }

    /// How far a session is; nothing of one that does not run.
    pub(crate) fn pace(&mut self, session: &str) -> Option<&Pace> {
        let past = self.session(session)?;
        self.running.pace(&past)
    }

    fn fresh(&mut self) -> Result<&mut Ledger, LedgerError> {
        if self.refreshed.is_none_or(|refreshed| refreshed.elapsed() >= AGE) {
            self.ledger.refresh()?;
            self.refreshed = Some(Instant::now());
            self.problems = None;
            self.running.keep_below(&self.folders.sessions);
        }
        Ok(&mut self.ledger)
    }
}
