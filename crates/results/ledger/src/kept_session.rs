//! A session that is run, kept, and given back.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use judge::Run;
use kernel::News;
use lab::event::Session;
use lab::prepare::{self, Execution};
use lab::{Backend, Event, Listener, Prepared};

use crate::budget::{Budget, Hold};
use crate::durations::Durations;
use crate::recorder::{Error, Recorder};

/// A session that was run and kept.
#[derive(Debug)]
pub struct KeptSession {
    /// The name of its folder.
    pub name: String,
    /// What it was about.
    pub session: Session,
    /// A Run for each case, and those of boots that went badly.
    pub runs: Vec<Run>,
}

/// What happens while sessions are run, for whoever looks on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// What takes long, for a line that the next one replaces: a step of a build, a case that runs.
    Working(String),
    /// Something is known: a kernel is built or tested.
    Known(String),
    /// Worth knowing.
    Note(String),
}

impl Progress {
    /// How a session ended; `about` says which.
    #[must_use]
    pub fn ended(about: &str, runs: &[Run]) -> Self {
        let well = runs.iter().filter(|run| run.outcome.is_well()).count();
        Self::Known(format!("{about}: {well} of {} well", runs.len()))
    }
}

impl From<News<'_>> for Progress {
    fn from(news: News<'_>) -> Self {
        match news {
            News::Step(text) => Self::Working(text.to_owned()),
            News::Note(text) => Self::Note(text.to_owned()),
        }
    }
}

/// Where machines come from, and where sessions are kept.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Where machines come from.
    pub backend: &'a dyn Backend,
    /// The folder of all sessions.
    pub sessions: &'a Path,
    /// The user wants to stop.
    pub interrupt: &'a AtomicBool,
}

impl std::fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Place").field("sessions", &self.sessions).finish_non_exhaustive()
    }
}

/// Runs a session and keeps it; nobody removes it as long as `hold` lives.
///
/// # Errors
///
/// When the host cannot start a machine, or the session cannot be kept.
pub fn run_session<E>(
    prepared: &Prepared,
    place: Place<'_>,
    hold: &Hold,
    emit: &mut dyn FnMut(Progress),
) -> Result<KeptSession, E>
where
    E: From<prepare::Error> + From<machine::Error> + From<Error>,
{
    let session = prepared.session()?;
    let machines = prepared.machines(place.backend)?;
    for note in Budget::Sessions.make_room(place.sessions) {
        emit(Progress::Note(note));
    }
    let recorder = Recorder::create(place.sessions, &session.stamp())?;
    let name = recorder.name();
    hold.add(&name)?;
    prepared.program().map_or(Ok(()), |program| recorder.keep_program(program))?;
    let mut options = prepared.options().options;
    let mut durations = Durations::load(place.sessions);
    options.durations =
        session.cases.iter().filter_map(|case| Some((case.clone(), durations.of(case)?))).collect();
    let execution = Execution { machines: &machines, options, golden: None, interrupt: place.interrupt };
    let mut listener = Collecting { recorder, total: session.cases.len(), runs: Vec::new(), emit };
    let done = prepared.run(session.clone(), execution, &mut listener);
    let Collecting { recorder, runs, .. } = listener;
    recorder.finish()?;
    done?;
    runs.iter().for_each(|run| durations.learn(run));
    // Without them the next session only begins its cases in another order.
    let _ = durations.save();
    Ok(KeptSession { name, session, runs })
}

/// Records a session and keeps its Runs.
struct Collecting<'e> {
    recorder: Recorder,
    total: usize,
    runs: Vec<Run>,
    emit: &'e mut dyn FnMut(Progress),
}

impl Listener for Collecting<'_> {
    fn on_event(&mut self, event: &Event) {
        self.recorder.on_event(event);
        match event {
            Event::Booting { .. } => (self.emit)(Progress::Working("booting".to_owned())),
            Event::Started { case, .. } => {
                let text = format!("running {case} ({} of {} done)", self.runs.len(), self.total);
                (self.emit)(Progress::Working(text));
            }
            Event::Finished(run) => self.runs.push(Run::clone(run)),
            _ => {}
        }
    }
}
