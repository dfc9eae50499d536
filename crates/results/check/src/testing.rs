//! Cases on a kernel: a session that is kept like any other.

use judge::Run;
use kernel::Kernel;
use lab::event::Session;
use lab::prepare::{self, Execution};
use lab::request::{KernelRequest, Selection};
use lab::{Event, Listener, Prepared, RunRequest, Waiting};
use ledger::{Budget, Hold, Recorder};

use crate::Error;
use crate::environment::{Emit, Environment};
use crate::event::Progress;
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
    let session = prepared.session()?;
    let machines = prepared.machines(environment.backend)?;
    for note in Budget::Sessions.make_room(&environment.sessions) {
        emit(Progress::Note(note));
    }
    let recorder = Recorder::create(&environment.sessions, &session.stamp())?;
    let name = recorder.directory().file_name().unwrap_or_default().to_string_lossy().into_owned();
    hold.add(&name)?;
    prepared.program().map_or(Ok(()), |program| recorder.keep_program(program))?;
    let Session { suite, machine, command, .. } = session.clone();
    let options = prepared.options().options;
    let execution =
        Execution { machines: &machines, options, golden: None, interrupt: environment.interrupt };
    let mut listener = Collecting { recorder, total: session.cases.len(), runs: Vec::new(), emit };
    let done = prepared.run(session, execution, &mut listener);
    let Collecting { recorder, runs, .. } = listener;
    recorder.finish()?;
    done?;
    Ok(Tested { session: name, suite, machine, command, runs })
}

/// Records a session and keeps its Runs.
struct Collecting<'e> {
    recorder: Recorder,
    total: usize,
    runs: Vec<Run>,
    emit: Emit<'e>,
}

impl Listener for Collecting<'_> {
    fn on_event(&mut self, event: &Event) {
        self.recorder.on_event(event);
        match event {
            Event::Booting { .. } => (self.emit)(Progress::Working("booting".to_owned())),
            Event::Started { case, .. } => {
                let (done, total) = (self.runs.len(), self.total);
                (self.emit)(Progress::Working(format!("running {case} ({done} of {total} done)")));
            }
            Event::Finished(run) => self.runs.push(Run::clone(run)),
            _ => {}
        }
    }
}
