//! Where Kernels are measured, and what is reported meanwhile.

use std::cell::RefCell;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use kernel::News;
use lab::event::stamp;
use lab::prepare::measure::{Found, Side, find};
use lab::prepare::{self, Context};
use lab::request::MachineRequest;
use lab::{Backend, Waiting};
use ledger::{Budget, Figures, REQUEST};
use measure::{Candidate, Counting, Failure, Measurement, Profiling};
use serde::Serialize;
use verdict::Comparison;

use crate::error::Error;

/// Where Kernels are measured.
pub struct Environment<'a> {
    /// Where Kernels and machines come from.
    pub backend: &'a dyn Backend,
    /// The user wants to stop.
    pub interrupt: &'a AtomicBool,
    /// The folder of all measurements.
    pub measurements: PathBuf,
}

impl fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").field("measurements", &self.measurements).finish_non_exhaustive()
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// A line about what takes long before anything is measured: a download, a step of a build.
    Preparing(String),
    /// Worth knowing about that.
    Note(String),
    /// Kernels are being measured.
    Measuring(measure::Progress),
}

/// What came of all Kernels, and where it is kept.
pub(crate) type Kept = (Comparison, Vec<Measurement>, Figures);

/// Who hears it; several places say something.
pub(crate) struct Listener<'a>(RefCell<&'a mut dyn FnMut(Progress)>);

impl<'a> Listener<'a> {
    pub(crate) fn new(on_event: &'a mut dyn FnMut(Progress)) -> Self {
        Self(RefCell::new(on_event))
    }

    /// Something happened while Kernels are measured.
    pub(crate) fn measuring(&self, progress: measure::Progress) {
        (self.0.borrow_mut())(Progress::Measuring(progress));
    }

    fn preparing(&self, news: News<'_>) {
        (self.0.borrow_mut())(match news {
            News::Step(text) => Progress::Preparing(text.to_string()),
            News::Note(text) => Progress::Note(text.to_string()),
        });
    }
}

impl Environment<'_> {
    /// Finds or builds the Kernels, and the root of the machine.
    pub(crate) fn find(
        &self,
        sides: Vec<Side>,
        machine: &MachineRequest,
        listener: &Listener<'_>,
    ) -> Result<Vec<Found>, prepare::Error> {
        self.preparing(listener, |context| find(sides, machine, context))
    }

    /// Does what may take long before, or while, something is measured.
    pub(crate) fn preparing<T>(
        &self,
        listener: &Listener<'_>,
        work: impl FnOnce(&mut Context<'_>) -> T,
    ) -> T {
        let mut on_news = |news: News<'_>| listener.preparing(news);
        let waiting = Waiting { interrupt: self.interrupt, progress: &mut on_news };
        work(&mut Context { backend: self.backend, waiting })
    }

    /// What was measured, unless the user wants to stop: then it may be incomplete, or no error of anybody.
    pub(crate) fn unless_interrupted<T>(&self, measured: Result<T, Error>) -> Result<T, Error> {
        if self.interrupt.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { measured }
    }

    /// Counts the instructions of all candidates, in so many boots of each.
    pub(crate) fn count(
        &self,
        candidates: &[Candidate<'_>],
        boots: u32,
        profiling: Profiling,
        listener: &Listener<'_>,
    ) -> Result<Vec<Measurement>, Failure> {
        let how = Counting { boots, profiling };
        self.backend.count(candidates, how, self.interrupt, &mut |progress| listener.measuring(progress))
    }

    /// Times candidates; `next` says which of them is booted next.
    pub(crate) fn time(
        &self,
        candidates: &[Candidate<'_>],
        listener: &Listener<'_>,
        next: &mut dyn FnMut(&[Measurement]) -> Option<usize>,
    ) -> Result<Vec<Measurement>, Failure> {
        self.backend.time(candidates, self.interrupt, &mut |progress| listener.measuring(progress), next)
    }

    /// Makes sure that figures can be kept, before minutes are spent on them.
    pub(crate) fn check_place(&self, listener: &Listener<'_>) -> Result<(), ledger::Error> {
        let notes = Budget::Figures.make_room(&self.measurements);
        notes.into_iter().for_each(|note| listener.measuring(measure::Progress::Note(note)));
        Figures::check(&self.measurements)
    }

    /// Makes a folder for figures, and keeps the request in it.
    pub(crate) fn keep(&self, request: &impl Serialize) -> Result<Figures, ledger::Error> {
        let kept = Figures::create(&self.measurements, &stamp(jiff::Timestamp::now()))?;
        kept.keep(REQUEST, request)?;
        Ok(kept)
    }
}
