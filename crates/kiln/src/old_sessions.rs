//! Sessions of kiln 0.1, which kept the arguments that kiln was called with and no request.

use clap::Parser;
use lab::Request;
use lab::event::Session;

use crate::cli::{Cli, Verb};
use crate::failure::WrongUsage;

/// The request of a session that is called `name`.
pub(crate) fn request(session: &Session, name: &str) -> Result<Request, WrongUsage> {
    if let Some(request) = &session.request {
        return Ok(request.clone());
    }
    let words = &session.command;
    let foreign = || {
        let text =
            if words.is_empty() { "does not say how it was called" } else { "was called in another way" };
        WrongUsage(format!("session {name} is of another version of kiln: it {text}"))
    };
    let words = std::iter::once("kiln").chain(words.iter().map(String::as_str));
    match Cli::try_parse_from(words).map_err(|_| foreign())?.verb {
        Verb::Run(args) => Ok(Request::Run(Box::new(args.request()))),
        Verb::Kunit(args) => Ok(Request::Kunit(Box::new(args.request()))),
        _ => Err(foreign()),
    }
}

#[cfg(test)]
mod tests {
    use lab::request::{MachineRequest, ProgramRequest, RunPolicy, Selection};
    use machine::AccelChoice;

    use super::*;

    /// As kiln 0.1 wrote it.
    const SESSION: &str = include_str!("old_sessions/session.json");

    #[test]
    fn the_arguments_of_an_old_session_become_its_request() {
        let session: Session = serde_json::from_str(SESSION).unwrap();
        let Request::Run(request) = super::request(&session, "x").unwrap() else { panic!("it is a run") };
        assert_eq!(request.kernel.locator.to_string(), "deb:latest-cloud");
        let arguments = vec!["one".to_string(), "-v".to_string()];
        let needs = vec!["module loop".parse().unwrap()];
        let program = ProgramRequest { path: "./seven".into(), arguments, needs: Vec::new() };
        assert_eq!((request.cases, request.needs), (Selection::Program(program), needs));
        assert_eq!(request.policy, RunPolicy { repeat: Some(20), jobs: Some(2), ..RunPolicy::default() });
        let append = vec!["quiet".to_string()];
        let accel = AccelChoice::Tcg;
        assert_eq!(request.machine, MachineRequest { append, accel, ..MachineRequest::default() });
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let with = |words: &[&str]| {
            let mut session: Session = serde_json::from_str(SESSION).unwrap();
            session.command = words.iter().map(ToString::to_string).collect();
            super::request(&session, "last").unwrap_err().to_string()
        };
        assert!(
            with(&[])
                .ends_with("session last is of another version of kiln: it does not say how it was called")
        );
        for words in [&["run"][..], &["explode", "host"], &["doctor"], &["--version"]] {
            assert!(with(words).ends_with("it was called in another way"), "{words:?}");
        }
    }
}
