//! Runs what the ledger has not.

use std::collections::HashMap;

use kernel::Locator;
use lab::{Prepared, Waiting, prepare};
use ledger::{Hold, Ledger, Place, Tested, run_session};

use crate::environment::{Environment, Progress};
use crate::error::Error;
use crate::request::{MatrixRequest, Wanted};

/// What is found out about a selection when it is prepared for a kernel; it is the same for all.
#[derive(Debug, Clone)]
struct Known {
    suite: String,
    content: String,
    cases: Vec<String>,
}

/// What came of filling a matrix.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filled {
    /// The names of the suites, in the order of the selections.
    pub suites: Vec<String>,
    /// Sessions that were run.
    pub ran: usize,
    /// Sessions that the ledger had.
    pub had: usize,
    /// Sessions that could not be run.
    pub failed: usize,
}

/// Runs the sessions of a matrix that the ledger has not: with the same kernel, parameters and content. What cannot be run is
/// a note, so that the others are.
///
/// # Errors
///
/// When the user asks for something that cannot be, when nothing can be kept, and when the user wants to stop.
pub fn fill(
    request: &MatrixRequest,
    environment: &Environment<'_>,
    emit: &mut dyn FnMut(Progress),
) -> Result<Filled, Error> {
    std::fs::create_dir_all(&environment.sessions)
        .map_err(|why| ledger::Error::Io { path: environment.sessions.clone(), why })?;
    let ledger = Ledger::open(&environment.sessions, &mut |_, _| {})?;
    let hold = Hold::new(&environment.sessions)?;
    let mut known: HashMap<usize, Known> = HashMap::new();
    let mut filled = Filled::default();
    let count = request.kernels.len() * request.parameters.len() * request.cases.len();
    for (number, wanted) in request.sessions().enumerate() {
        let selection = number % request.cases.len();
        let about = wanted.about(number + 1, count);
        if let (Some(known), Some(exact)) = (known.get(&selection), exact(wanted.kernel))
            && ledger.has(&exact, &known.tested(wanted.parameters))?
        {
            filled.had += 1;
            continue;
        }
        let session = Session { request, wanted, environment, hold: &hold, ledger: &ledger };
        match session.run(&about, emit) {
            Ok((of, true)) => {
                filled.ran += 1;
                known.insert(selection, of);
            }
            Ok((of, false)) => {
                filled.had += 1;
                known.insert(selection, of);
            }
            Err(error) if error.concerns_all() => return Err(error),
            Err(error) => {
                filled.failed += 1;
                emit(Progress::Note(format!("{about}: {error}")));
            }
        }
    }
    filled.suites =
        (0..request.cases.len()).filter_map(|selection| Some(known.get(&selection)?.suite.clone())).collect();
    Ok(filled)
}

/// The locator by which sessions know a kernel, where that can be said before it is found.
fn exact(kernel: &Locator) -> Option<String> {
    match kernel {
        Locator::Deb(name) if !name.starts_with("latest") => Some(kernel.to_string()),
        _ => None,
    }
}

impl Known {
    fn tested<'a>(&'a self, parameters: &'a str) -> Tested<'a> {
        Tested { suite: &self.suite, content: &self.content, parameters, cases: &self.cases }
    }
}

impl Wanted<'_> {
    fn about(&self, number: usize, count: usize) -> String {
        let parameters =
            if self.parameters.is_empty() { String::new() } else { format!(" {}", self.parameters) };
        format!("{number} of {count}: {}{parameters}", self.kernel)
    }
}

/// One session, and where it runs.
struct Session<'a> {
    request: &'a MatrixRequest,
    wanted: Wanted<'a>,
    environment: &'a Environment<'a>,
    hold: &'a Hold,
    ledger: &'a Ledger,
}

impl Session<'_> {
    /// Runs it, unless the ledger has it; says what it is about, and whether it ran.
    fn run(&self, about: &str, emit: &mut dyn FnMut(Progress)) -> Result<(Known, bool), Error> {
        let Environment { backend, interrupt, sessions } = self.environment;
        let mut tell = |progress| match progress {
            Progress::Working(text) => emit(Progress::Working(format!("{about}: {text}"))),
            other => emit(other),
        };
        let request = self.request.run(self.wanted);
        let prepared = {
            let mut progress = |news: kernel::News<'_>| tell(news.into());
            let waiting = Waiting { interrupt, progress: &mut progress };
            Prepared::new(&request, &mut prepare::Context { backend: *backend, waiting })?
        };
        let session = prepared.session()?;
        let known = Known {
            suite: session.suite.clone(),
            content: session.content.clone(),
            cases: session.cases.clone(),
        };
        if self.ledger.has(&session.kernel, &known.tested(self.wanted.parameters))? {
            return Ok((known, false));
        }
        let place = Place { backend: *backend, sessions, hold: self.hold, interrupt };
        let kept = run_session::<Error>(&prepared, place, &mut |news| tell(news.into()))?;
        if self.environment.is_interrupted() {
            return Err(Error::Interrupted);
        }
        let bad = kept.runs.iter().filter(|run| !run.outcome.is_well()).count();
        emit(Progress::Known(format!("{about}: {} of {} well", kept.runs.len() - bad, kept.runs.len())));
        Ok((known, true))
    }
}
