//! Cases on a kernel: a session that is kept like any other.

use judge::Run;
use kernel::Kernel;
use lab::event::Session;
use lab::prepare;
use lab::request::{KernelRequest, Selection};
use lab::{Prepared, RunRequest, Waiting};
use ledger::{Hold, KeptSession, Place, run_session};

use crate::Error;
use crate::environment::{Emit, Environment};
use crate::request::CheckRequest;

/// What ran on a kernel.
#[derive(Debug)]
pub(crate) struct Tested {
    /// The name of its session.
    pub(crate) session: String,
    /// The suite's name, or the program's.
    pub(crate) suite: String,
    /// The machine, for people.
    pub(crate) machine: String,
    /// The command that asks the same.
    pub(crate) command: Vec<String>,
    /// A Run for each case, and those of boots that went badly.
    pub(crate) runs: Vec<Run>,
}

/// Runs the cases on a kernel.
pub(crate) fn test(
    request: &CheckRequest,
    cases: &Selection,
    kernel: &Kernel,
    (environment, hold): (&Environment<'_>, &Hold),
    emit: Emit<'_>,
) -> Result<Tested, Error> {
    let exact = kernel.exact_locator().parse().map_err(bisect::Error::from)?;
    let mut wanted = RunRequest::new(KernelRequest::named(exact), cases.clone());
    wanted.case_limit = request.case_limit;
    wanted.machine = request.machine.clone();
    let prepared = environment.waiting(emit, |Waiting { interrupt, progress }| {
        let waiting = Waiting { interrupt, progress };
        Prepared::new(&wanted, &mut prepare::Context { backend: environment.backend, waiting })
    })?;
    let Environment { backend, sessions, interrupt, .. } = environment;
    let place = Place { backend: *backend, sessions, interrupt };
    let kept = run_session::<Error>(&prepared, place, hold, emit)?;
    let KeptSession { name, session: Session { suite, machine, command, .. }, runs } = kept;
    Ok(Tested { session: name, suite, machine, command, runs })
}
