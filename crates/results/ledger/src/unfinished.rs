//! Runs of experiments that came to no conclusion: the next call goes on with them.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use judge::Outcome;
use lab::Request;
use lab::event::Session;

use crate::budget::is_held;
use crate::database::Ledger;
use crate::experiments::is_taken;
use crate::lock;
use crate::past::{CASES, Past, sessions};
use crate::recorder::{Error, Recorder, open_events, places, prepare};
use crate::result::RESULT;

impl Recorder {
    /// Goes on in the folder of the last session of the same experiment below `root`, if that came to no conclusion: its journal
    /// says how far it came. The folder gets the name of the session that goes on.
    ///
    /// # Errors
    ///
    /// When another kiln runs it, or the host refuses.
    pub fn go_on(root: &Path, session: &Session) -> Result<Option<Self>, Error> {
        prepare(root)?;
        let Some(past) = unfinished(root, session) else { return Ok(None) };
        let io = |why| Error::Io { path: root.to_path_buf(), why };
        let events = open_events(past.directory()).map_err(io)?;
        lock::take(&events).map_err(|_| Error::Busy { path: past.directory().to_owned() })?;
        let directory = take(past.directory(), root, &session.stamp()).map_err(io)?;
        Ledger::forget(root, &past.name());
        begin_again(&directory, &events).map_err(io)?;
        Self::in_folder(&directory, events).map(Some).map_err(io)
    }
}

/// What was recorded of the session is recorded again.
fn begin_again(directory: &Path, events: &File) -> io::Result<()> {
    events.set_len(0)?;
    let gone = |result: io::Result<()>| match result {
        Err(why) if why.kind() != io::ErrorKind::NotFound => Err(why),
        _ => Ok(()),
    };
    gone(std::fs::remove_file(directory.join(RESULT)))?;
    gone(std::fs::remove_dir_all(directory.join(CASES)))
}

/// The last session below `root` that ran the experiment of `session` on the same Kernels, if it came to no conclusion and nobody
/// needs it as it is.
fn unfinished(root: &Path, session: &Session) -> Option<Past> {
    let is_same = |past: &Past| {
        past.session().is_ok_and(|earlier| {
            matches!(earlier.request, Some(Request::Experiment(_)))
                && earlier.identity == session.identity
                && earlier.origin.is_none()
        })
    };
    let last = sessions(root).into_iter().find(is_same)?;
    (!is_concluded(&last, session) && !is_held(root, &last.name())).then_some(last)
}

/// What broke says nothing about the kernel, and what was interrupted left no Run.
fn is_concluded(past: &Past, session: &Session) -> bool {
    let runs = session.cases.iter().filter_map(|case| past.run(case).ok());
    runs.into_iter().any(|run| run.outcome != Outcome::Broken)
}

/// Moves a folder to where a session has it that started then.
fn take(folder: &Path, root: &Path, started: &str) -> io::Result<PathBuf> {
    for place in places(root, started) {
        match std::fs::rename(folder, &place) {
            Ok(()) => return Ok(place),
            // Another session has the name.
            Err(why) if is_taken(&why) => {}
            Err(why) => return Err(why),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recorder;
    use crate::result::tests::{finished, session};
    use lab::{Event, Listener};

    fn begun(root: &Path, identity: &str) -> Recorder {
        let session = session(identity);
        let mut recorder = Recorder::create(root, "2026-11-19T10-00-00Z").unwrap();
        recorder.on_event(&Event::Planned(Box::new(session)));
        std::fs::write(recorder.journal(), identity).unwrap();
        recorder
    }

    fn goes_on(root: &Path, identity: &str) -> Option<String> {
        let recorder = Recorder::go_on(root, &session(identity)).unwrap()?;
        Some(std::fs::read_to_string(recorder.journal()).unwrap())
    }

    #[test]
    fn a_run_that_was_killed_or_broke_goes_on_under_another_name() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        assert_eq!(goes_on(root, "a"), None);
        let killed = begun(root, "a").directory().to_owned();
        assert_eq!(goes_on(root, "b"), None);
        assert_eq!(goes_on(root, "a").as_deref(), Some("a"));
        assert!(!killed.exists() && sessions(root).len() == 1);
        let mut broken = begun(root, "b");
        broken.on_event(&finished(Outcome::Broken));
        drop(broken);
        let again = Recorder::go_on(root, &session("b")).unwrap().unwrap();
        assert!(!again.directory().join("cases").exists(), "what it said before it says again");
        assert_eq!(std::fs::read_to_string(again.directory().join("events.jsonl")).unwrap(), "");
    }

    #[test]
    fn a_run_that_concluded_something_does_not_go_on_and_no_earlier_one_does() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        drop(begun(root, "a"));
        let mut concluded = begun(root, "a");
        concluded.on_event(&finished(Outcome::Fail));
        drop(concluded);
        assert_eq!(goes_on(root, "a"), None);
    }

    #[test]
    fn a_run_that_another_kiln_makes_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let _running = begun(root.path(), "a");
        let error = Recorder::go_on(root.path(), &session("a")).unwrap_err().to_string();
        assert!(error.ends_with("another kiln uses it: wait until it has ended"), "{error}");
    }
}
