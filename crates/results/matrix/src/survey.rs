//! What is known of each kernel of a matrix, and what is missing.

use lab::request::Selection;
use lab::{Prepared, Waiting, prepare};
use ledger::{Ledger, Place, Progress, SessionKey};

use crate::error::Error;
use crate::grid::{Grid, Tested};
use crate::request::{MatrixRequest, Subject};

/// A session of cases that the ledger has not.
pub(crate) struct Missing<'a> {
    pub(crate) prepared: Prepared,
    pub(crate) session: lab::event::Session,
    pub(crate) key: &'a SessionKey,
    /// What it is about, for people.
    pub(crate) about: &'a str,
}

/// Has missing sessions run, now or later.
pub(crate) trait Runner {
    /// Takes one.
    fn take(
        &mut self,
        missing: Missing<'_>,
        ledger: &mut Ledger,
        emit: &mut dyn FnMut(Progress),
    ) -> Result<(), Error>;
}

/// Goes through the kernels of a matrix.
pub(crate) struct Survey<'a> {
    request: &'a MatrixRequest,
    place: Place<'a>,
    ledger: Ledger,
    /// For each selection, what is known of each subject.
    tested: Vec<Vec<Tested>>,
    /// Sessions that could not be run.
    pub(crate) failed: usize,
}

impl<'a> Survey<'a> {
    /// Opens the ledger.
    pub(crate) fn new(
        request: &'a MatrixRequest,
        place: Place<'a>,
        emit: &mut dyn FnMut(Progress),
    ) -> Result<Self, Error> {
        std::fs::create_dir_all(place.sessions)
            .map_err(|why| ledger::Error::Io { path: place.sessions.to_owned(), why })?;
        let ledger = Ledger::open(place.sessions, &mut |_, _| {})?;
        ledger.notes.iter().for_each(|note| emit(Progress::Note(note.clone())));
        let tested = vec![Vec::new(); request.cases.len()];
        Ok(Self { request, place, ledger, tested, failed: 0 })
    }

    /// Hands what is missing to a runner. Of a kernel that cannot be had only its name is known.
    pub(crate) fn run(
        &mut self,
        runner: &mut dyn Runner,
        emit: &mut dyn FnMut(Progress),
    ) -> Result<(), Error> {
        let request = self.request;
        let selections = request.cases.len();
        let count = request.subjects().count() * selections;
        let mut first_error = None;
        for (number, subject) in request.subjects().enumerate() {
            for (selection, cases) in request.cases.iter().enumerate() {
                let about = about(subject, number * selections + selection + 1, count);
                match self.session((subject, cases), &about, runner, emit) {
                    Ok(of) => self.tested[selection].push(of),
                    Err(error) if error.concerns_all() => return Err(error),
                    Err(error) => {
                        emit(Progress::Note(format!("{about}: {error}")));
                        self.tested[selection].push(Tested::unknown(subject));
                        self.failed += 1;
                        first_error.get_or_insert(error);
                    }
                }
            }
        }
        match first_error {
            Some(error) if self.failed == count => Err(error),
            _ => Ok(()),
        }
    }

    /// Hands a session of those cases to a runner that the ledger has not: it may have some of a session that was interrupted.
    fn session(
        &mut self,
        (subject, cases): (Subject<'_>, &Selection),
        about: &str,
        runner: &mut dyn Runner,
        emit: &mut dyn FnMut(Progress),
    ) -> Result<Tested, Error> {
        let mut tell = |progress| match progress {
            Progress::Working(text) => emit(Progress::Working(format!("{about}: {text}"))),
            other => emit(other),
        };
        let prepared = self.prepare(subject, cases, &mut tell)?;
        let session = prepared.session()?;
        let tested = Tested {
            kernel: subject.kernel.to_string(),
            parameters: subject.parameters.to_owned(),
            release: session.release.clone(),
            key: SessionKey::of(&session),
            cases: session.cases.clone(),
        };
        // Another call may have run it meanwhile, or this one, under another name of the same kernel.
        self.ledger.refresh()?;
        let Some(key) = &tested.key else { return Ok(tested) };
        let missing = self.ledger.missing(key, &tested.cases)?;
        if missing.is_empty() {
            return Ok(tested);
        }
        let (prepared, session) = match missing.len() == tested.cases.len() {
            true => (prepared, session),
            false => {
                let rest = self.prepare(subject, &cases.these(&missing), &mut tell)?;
                let session = rest.session()?;
                (rest, session)
            }
        };
        runner.take(Missing { prepared, session, key, about }, &mut self.ledger, &mut tell)?;
        Ok(tested)
    }

    fn prepare(
        &self,
        subject: Subject<'_>,
        cases: &Selection,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Prepared, Error> {
        let Place { backend, interrupt, .. } = self.place;
        let mut progress = |news: kernel::News<'_>| tell(news.into());
        let waiting = Waiting { interrupt, progress: &mut progress };
        let request = self.request.run(subject, cases);
        Ok(Prepared::new(&request, &mut prepare::Context { backend, waiting })?)
    }

    /// A grid for each selection.
    pub(crate) fn grids(mut self) -> Result<Vec<Grid>, Error> {
        self.ledger.refresh()?;
        let read = |of| Grid::read(&mut self.ledger, &self.request.setting, of);
        self.tested.into_iter().map(read).collect()
    }
}

fn about(subject: Subject<'_>, number: usize, count: usize) -> String {
    let text = format!("{number} of {count}: {} {}", subject.kernel, subject.parameters);
    text.trim_end().to_owned()
}
