//! Sessions of kiln 0.1, which kept the arguments that kiln was called with and no request.

use clap::Parser;
use lab::Request;

use crate::cli::{Cli, Verb};

/// What these arguments ask; nothing if no session is made by them, or not by this version.
pub(crate) fn request(words: &[String]) -> Option<Request> {
    let words = std::iter::once("kiln").chain(words.iter().map(String::as_str));
    match Cli::try_parse_from(words).ok()?.verb {
        Verb::Run(args) => Some(Request::Run(Box::new(args.request()))),
        Verb::Kunit(args) => Some(Request::Kunit(Box::new(args.request()))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use lab::event::Session;
    use lab::request::{MachineRequest, ProgramRequest, RunPolicy, Selection};
    use machine::AccelChoice;

    use super::*;

    /// As kiln 0.1 wrote it.
    const SESSION: &str = include_str!("old_sessions/session.json");

    #[test]
    fn the_arguments_of_an_old_session_become_its_request() {
        let session: Session = serde_json::from_str(SESSION).unwrap();
        assert!(session.request.is_none());
        let Some(Request::Run(request)) = super::request(&session.command) else { panic!("it is a run") };
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
    fn what_is_not_understood_asks_nothing() {
        for words in [&[][..], &["run"], &["explode", "host"], &["doctor"], &["--version"]] {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            assert_eq!(super::request(&words), None, "{words:?}");
        }
    }
}
