//! Runs what the ledger has not.

use std::sync::atomic::Ordering;

use lab::request::Selection;
use lab::{Prepared, Waiting, prepare};
use ledger::{Hold, Ledger, Place, Progress, SessionKey, run_session};

use crate::error::Error;
use crate::grid::{Grid, Tested};
use crate::request::{MatrixRequest, Subject};

/// A matrix that was filled.
#[derive(Debug)]
pub struct Filled {
    /// A grid for each selection.
    pub grids: Vec<Grid>,
    /// Sessions that could not be run.
    pub failed: usize,
    /// Sessions in which something else than the kernel or a case broke a Run: the next call runs them again.
    pub incomplete: usize,
}

/// What a session is made of.
struct Session {
    prepared: Prepared,
    tested: Tested,
}

/// Where sessions run, and what they have in common.
struct Filling<'a> {
    request: &'a MatrixRequest,
    place: Place<'a>,
    ledger: Ledger,
    hold: Hold,
    failed: usize,
    incomplete: usize,
}

/// Runs the sessions of a matrix that the ledger has not: with the same kernel, parameters, machine and content. A session that cannot be
/// run is a note, so that the others are.
///
/// # Errors
///
/// When no session can be run, when nothing can be kept, and when the user wants to stop.
pub fn fill(
    request: &MatrixRequest,
    place: Place<'_>,
    emit: &mut dyn FnMut(Progress),
) -> Result<Filled, Error> {
    std::fs::create_dir_all(place.sessions)
        .map_err(|why| ledger::Error::Io { path: place.sessions.to_owned(), why })?;
    let ledger = Ledger::open(place.sessions, &mut |_, _| {})?;
    ledger.notes.iter().for_each(|note| emit(Progress::Note(note.clone())));
    let hold = Hold::new(place.sessions)?;
    let mut filling = Filling { request, place, ledger, hold, failed: 0, incomplete: 0 };
    let tested = filling.all(emit)?;
    let Filling { mut ledger, failed, incomplete, .. } = filling;
    ledger.refresh()?;
    let grids = tested
        .into_iter()
        .map(|of| Grid::read(&mut ledger, &request.setting, of))
        .collect::<Result<_, _>>()?;
    Ok(Filled { grids, failed, incomplete })
}

impl Filling<'_> {
    /// What is known of each subject for each selection; of a kernel that cannot be had only its name.
    fn all(&mut self, emit: &mut dyn FnMut(Progress)) -> Result<Vec<Vec<Tested>>, Error> {
        let request = self.request;
        let selections = request.cases.len();
        let count = request.subjects().count() * selections;
        let mut tested: Vec<Vec<Tested>> = vec![Vec::new(); selections];
        let mut first_error = None;
        for (number, subject) in request.subjects().enumerate() {
            for (selection, cases) in request.cases.iter().enumerate() {
                let about = about(subject, number * selections + selection + 1, count);
                match self.session(subject, cases, &about, emit) {
                    Ok(of) => tested[selection].push(of),
                    Err(error) if error.concerns_all() => return Err(error),
                    Err(error) => {
                        emit(Progress::Note(format!("{about}: {error}")));
                        tested[selection].push(Tested::unknown(subject));
                        self.failed += 1;
                        first_error.get_or_insert(error);
                    }
                }
            }
        }
        match first_error {
            Some(error) if self.failed == count => Err(error),
            _ => Ok(tested),
        }
    }

    /// Runs a session, unless the ledger has all of it.
    fn session(
        &mut self,
        subject: Subject<'_>,
        cases: &Selection,
        about: &str,
        emit: &mut dyn FnMut(Progress),
    ) -> Result<Tested, Error> {
        let mut tell = |progress| match progress {
            Progress::Working(text) => emit(Progress::Working(format!("{about}: {text}"))),
            other => emit(other),
        };
        let Session { prepared, tested } = self.prepare(subject, cases, &mut tell)?;
        // Another call may have run it meanwhile, or this one, under another name of the same kernel.
        self.ledger.refresh()?;
        let Some(key) = &tested.key else { return Ok(tested) };
        if self.ledger.has(key, &tested.cases)? {
            return Ok(tested);
        }
        let kept = run_session::<Error>(&prepared, self.place, &self.hold, &mut tell)?;
        if self.place.interrupt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        self.ledger.refresh()?;
        self.incomplete += usize::from(!self.ledger.has(key, &tested.cases)?);
        let bad = kept.runs.iter().filter(|run| !run.outcome.is_well()).count();
        emit(Progress::Known(format!("{about}: {} of {} well", kept.runs.len() - bad, kept.runs.len())));
        Ok(tested)
    }

    fn prepare(
        &self,
        subject: Subject<'_>,
        cases: &Selection,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Session, Error> {
        let Place { backend, interrupt, .. } = self.place;
        let mut progress = |news: kernel::News<'_>| tell(news.into());
        let waiting = Waiting { interrupt, progress: &mut progress };
        let request = self.request.run(subject, cases);
        let prepared = Prepared::new(&request, &mut prepare::Context { backend, waiting })?;
        let session = prepared.session()?;
        let tested = Tested {
            kernel: subject.kernel.to_string(),
            parameters: subject.parameters.to_owned(),
            release: session.release.clone(),
            key: SessionKey::of(&session),
            cases: session.cases,
        };
        Ok(Session { prepared, tested })
    }
}

fn about(subject: Subject<'_>, number: usize, count: usize) -> String {
    let text = format!("{number} of {count}: {} {}", subject.kernel, subject.parameters);
    text.trim_end().to_owned()
}
