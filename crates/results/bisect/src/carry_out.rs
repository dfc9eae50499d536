//! From a request to what is known in the end: the axis, the Kernels on it, their machines.

use std::path::Path;

use kernel::News;
use lab::Waiting;
use ledger::{Budget, Journal, REQUEST};

use crate::asking::Kept;
use crate::axis::Axis;
use crate::axis::open::{Walked, open};
use crate::bisection::{Bisection, Conclusion, Evidence, StateReport};
use crate::environment::Environment;
use crate::error::Error;
use crate::event::Progress;
use crate::identity;
use crate::procedure::{Parts, bisect};
use crate::request::BisectRequest;
use crate::settings::Settings;
use crate::tester::experiments;
use crate::tester::kernels::KernelTester;

/// A search that can begin: both ends and all candidates are known.
pub struct Opened<'a> {
    request: &'a BisectRequest,
    environment: &'a Environment<'a>,
    walked: Walked<'a>,
}

impl std::fmt::Debug for Opened<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened").field("request", &self.request).finish_non_exhaustive()
    }
}

/// What came of a search, and its folder, which nobody else writes as long as this lives.
#[derive(Debug)]
pub struct Done {
    /// What is known.
    pub bisection: Bisection,
    journal: Journal,
}

impl Done {
    /// The folder of the bisection.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.journal.directory()
    }
}

impl<'a> Opened<'a> {
    /// Checks the request and finds out what is walked.
    ///
    /// # Errors
    ///
    /// When something that it names is not there.
    pub fn new(
        request: &'a BisectRequest,
        environment: &'a Environment<'a>,
        progress: &mut dyn FnMut(News<'_>),
    ) -> Result<Self, Error> {
        request.check()?;
        let mut waiting = Waiting { interrupt: environment.interrupt, progress };
        let walked = open(request, environment, &mut waiting)?;
        Ok(Self { request, environment, walked })
    }

    /// The same along another axis than the one of the request.
    #[must_use]
    pub fn along(
        request: &'a BisectRequest,
        environment: &'a Environment<'a>,
        axis: Box<dyn Axis + 'a>,
    ) -> Self {
        Self { request, environment, walked: Walked { axis, kernel: None, notes: Vec::new() } }
    }

    /// Finds the change; goes on from the answers of an earlier call.
    ///
    /// # Errors
    ///
    /// When the ends are not what they should be, when kiln or the host fails, and when the user wants to stop. What was
    /// learnt is in the journal.
    pub fn search(self, emit: &mut dyn FnMut(Progress)) -> Result<Done, Error> {
        let Self { request, environment, walked: Walked { mut axis, kernel, notes } } = self;
        let name = identity::name(request, axis.as_ref(), kernel.as_deref())?;
        let (mut journal, mut kept) = Journal::open::<Kept>(&environment.bisections.join(name))?;
        journal.keep(REQUEST, request)?;
        let directory = journal.directory().to_owned();
        if request.search.fresh {
            journal.clear()?;
            kept.clear();
            experiments::forget(&directory)?;
        }
        let counted: Vec<&Evidence> = kept.iter().map(Kept::evidence).collect();
        let mut tester = KernelTester::new(request, environment, directory, &counted)?;
        // The journal of this one is open, so it stays.
        let room = Budget::Bisections.make_room(&environment.bisections);
        notes.iter().chain(&room).for_each(|note| emit(Progress::Note(note.clone())));
        let search = &request.search;
        let settings = Settings { confidence: search.confidence, fixed: search.fixed, tries: search.tries };
        let parts = Parts { tester: &mut tester, journal: &mut journal, kept, emit };
        let bisection = bisect(axis.as_mut(), &request.question, &settings, parts)?;
        let reproduce = reproduce(&bisection);
        let notes = notes.into_iter().chain(bisection.notes).collect();
        Ok(Done { bisection: Bisection { notes, reproduce, ..bisection }, journal })
    }
}

/// The commands that show both sides of what was found, or else both ends.
fn reproduce(bisection: &Bisection) -> Vec<String> {
    let sides: Vec<&StateReport> = match &bisection.conclusion {
        Conclusion::Culprits { .. } => {
            bisection.proof.iter().take(2).filter_map(|check| check.state.as_ref()).collect()
        }
        _ => vec![&bisection.first.state, &bisection.last.state],
    };
    sides.into_iter().map(|state| state.evidence.command.clone()).collect()
}
