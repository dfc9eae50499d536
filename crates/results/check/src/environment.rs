//! Where patches are checked.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use kernel::{Context, News};
use lab::backend::with_store;
use lab::{Backend, Waiting};
use ledger::Progress;

use crate::Error;

/// Where kernels, machines and earlier results are.
pub struct Environment<'a> {
    /// Where kernels and machines come from.
    pub backend: &'a dyn Backend,
    /// The user wants to stop.
    pub interrupt: &'a AtomicBool,
    /// The folder of this check, for what its commands need.
    pub folder: PathBuf,
    /// The folder of all sessions.
    pub sessions: PathBuf,
    /// The folder of all bisections.
    pub bisections: PathBuf,
    /// The folder of all measurements.
    pub measurements: PathBuf,
}

impl std::fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("sessions", &self.sessions).finish_non_exhaustive()
    }
}

/// Who hears what happens.
pub(crate) type Emit<'e> = &'e mut dyn FnMut(Progress);

impl Environment<'_> {
    /// Does what may take long and reports it.
    pub(crate) fn waiting<T>(&self, emit: Emit<'_>, work: impl FnOnce(&mut Waiting<'_>) -> T) -> T {
        let mut progress = |news: News<'_>| emit(news.into());
        work(&mut Waiting { interrupt: self.interrupt, progress: &mut progress })
    }

    /// The same with the store of this host.
    pub(crate) fn with_store<T>(&self, emit: Emit<'_>, work: impl FnOnce(&mut Context<'_>) -> T) -> T {
        self.waiting(emit, |waiting| with_store(waiting, work))
    }

    /// What was done, unless the user wants to stop: then it may be incomplete, or no error of anybody.
    pub(crate) fn unless_interrupted<T>(&self, done: Result<T, Error>) -> Result<T, Error> {
        if self.interrupt.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { done }
    }
}
