//! From an error of the interpreter to an Outcome, and to a problem that points to the script.

use judge::{Blame, Outcome};
use starlark::ErrorKind;

use crate::problem::{Frame, Place, Problem};
use crate::rewrite::RESERVED;
use crate::source::Position;
use crate::stop::Stop;
use crate::syntax::Files;

/// How a part of a script ended that did not pass.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) outcome: Outcome,
    pub(crate) blame: Option<Blame>,
    pub(crate) problem: Problem,
}

impl Failure {
    /// The same, at a place if it has none.
    pub(crate) fn at(mut self, at: &Position, files: &Files) -> Self {
        if self.problem.place.is_none() {
            let place = files.get(&at.file).map(|file| Place::of(&file.source, at.clone()));
            self.problem.place = place.map(Box::new);
        }
        self
    }

    /// What an error of the interpreter says.
    pub(crate) fn of(error: &starlark::Error, files: &Files) -> Self {
        match stop(error) {
            Some(Stop { outcome, blame, problem: Some(problem), .. }) => {
                Self { outcome: *outcome, blame: *blame, problem: (**problem).clone() }
            }
            Some(stop) => {
                let problem = placed(error, files, stop.text.clone());
                let problem = Problem {
                    help: stop.help.clone(),
                    values: stop.values.clone(),
                    evidence: stop.evidence.clone().into(),
                    ..problem
                };
                Self { outcome: stop.outcome, blame: stop.blame, problem }
            }
            None => Self::of_script(error, files),
        }
    }

    /// A script that does something that no script may do, or that gives up.
    fn of_script(error: &starlark::Error, files: &Files) -> Self {
        let text = error.without_diagnostic().to_string();
        let (outcome, blame, text) = match error.kind() {
            ErrorKind::Fail(_) => {
                let text = text.strip_prefix("fail:").unwrap_or(&text).trim().to_owned();
                (Outcome::Fail, None, text)
            }
            ErrorKind::StackOverflow(_) => {
                (Outcome::Broken, Some(Blame::Case), "too many calls are in each other".to_owned())
            }
            _ => (Outcome::Broken, Some(Blame::Case), plainer(&text)),
        };
        Self { outcome, blame, problem: placed(error, files, text) }
    }
}

/// The interpreter's words, without its names for kiln's types.
fn plainer(text: &str) -> String {
    text.replace("Object of type `object`", "this object")
}

/// What one of kiln's functions said.
fn stop(error: &starlark::Error) -> Option<&Stop> {
    match error.kind() {
        ErrorKind::Native(inner) | ErrorKind::Other(inner) | ErrorKind::Value(inner) => inner.downcast_ref(),
        _ => None,
    }
}

fn placed(error: &starlark::Error, files: &Files, text: String) -> Problem {
    let problem = files.problem(error.span(), text);
    let mut stack: Vec<Frame> = Vec::new();
    for frame in error.call_stack().frames.iter().rev() {
        let Some(at) = frame.location.as_ref().and_then(|span| files.position(span)) else { continue };
        // Where it is called is where the problem is: one of kiln's own functions.
        let is_here = stack.is_empty() && problem.place.as_ref().is_some_and(|place| place.at == at);
        if !is_here && !frame.name.contains(RESERVED) {
            stack.push(Frame { function: frame.name.clone(), at });
        }
    }
    Problem { stack: stack.into(), ..problem }
}
