//! Answers become sessions.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

use judge::outcome::Blame;
use judge::{Outcome, Run, Summary};
use lab::event::Session;
use lab::{Event, Listener};
use ledger::{Budget, Durations, Past, Progress, Recorder};

use crate::answer::Refusal;
use crate::error::Error;
use crate::submission::failed;

/// What an answer brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// A session that was not here.
    Session,
    /// Why there is no session.
    Refusal,
    /// Nothing new.
    Nothing,
}

/// A session that somebody waits for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// What it is about, for people.
    pub(crate) about: &'a str,
    /// As it would be here.
    pub(crate) session: &'a Session,
    /// The node, if it is known.
    pub(crate) node: &'a str,
}

/// Takes an answer in, and tells what is worth knowing of it.
pub(crate) fn take(
    answer: &Path,
    asked: Option<Asked<'_>>,
    sessions: &Path,
    emit: &mut dyn FnMut(Progress),
) -> Result<Taken, Error> {
    if let Some(Refusal { refused }) = Refusal::read(answer).map_err(failed(answer))? {
        let Some(Asked { about, session, node }) = asked else { return Ok(Taken::Nothing) };
        let refused = format!("node {node}: {refused}");
        emit(Progress::Note(format!("{about}: {refused}")));
        record_broken(session, &refused, sessions)?;
        // A later job may have better luck.
        let _ = fs::remove_file(answer);
        return Ok(Taken::Refusal);
    }
    let file = File::open(answer).map_err(failed(answer))?;
    let imported = match ledger::import(BufReader::new(file), sessions, &mut |_| {}) {
        Ok(imported) => imported,
        Err(ledger::ImportError::Folder(error)) => return Err(error.into()),
        Err(error) => {
            emit(Progress::Note(format!("{}: {error}", answer.display())));
            let _ = fs::remove_file(answer);
            return Ok(Taken::Nothing);
        }
    };
    imported.refused.into_iter().for_each(|refused| emit(Progress::Note(refused)));
    for name in &imported.new {
        learn(name, asked.map(|asked| asked.about), sessions, emit);
    }
    Budget::Sessions.make_room(sessions).into_iter().for_each(|note| emit(Progress::Note(note)));
    Ok(if imported.new.is_empty() { Taken::Nothing } else { Taken::Session })
}

/// Says how a session ended, and how long its cases take.
fn learn(name: &str, about: Option<&str>, sessions: &Path, emit: &mut dyn FnMut(Progress)) {
    let Some(past) = Past::open(&sessions.join(name)) else { return };
    let runs = past.runs();
    let mut durations = Durations::load(sessions);
    runs.iter().for_each(|run| durations.learn(run));
    // Without them the next job only asks for another time limit.
    let _ = durations.save();
    about.into_iter().for_each(|about| emit(Progress::ended(about, &runs)));
}

/// Keeps a session that a node could not run: this says nothing about the kernel.
fn record_broken(session: &Session, refused: &str, sessions: &Path) -> Result<(), Error> {
    let session = Session { started: jiff::Timestamp::now(), ..session.clone() };
    let mut recorder = Recorder::create(sessions, &session.stamp())?;
    let cases = session.cases.clone();
    recorder.on_event(&Event::Planned(Box::new(session)));
    let mut summary = Summary::default();
    for case in cases {
        summary.count(Outcome::Broken);
        let run = Run { case, blame: Some(Blame::Host), reason: refused.to_owned(), ..Run::unstarted() };
        recorder.on_event(&Event::Finished(Box::new(run)));
    }
    recorder.on_event(&Event::Ended { summary, took: Duration::ZERO, interrupted: false, exit: None });
    Ok(recorder.finish()?)
}

#[cfg(test)]
mod tests {
    use ledger::Ledger;

    use super::*;
    use crate::answer::lines;

    fn session() -> Session {
        let document = r#"{"started": "2026-11-20T10:00:00Z", "kiln": "0", "locator": "x", "provenance": "x",
            "release": null, "identity": "x", "machine": "QEMU", "suite": "smoke", "cases": ["pipe/full"],
            "origin": {"host": "n1", "session": "2026-11-20T10-00-00Z-7"}}"#;
        serde_json::from_str(document).expect("a session")
    }

    fn asked(session: &Session) -> Asked<'_> {
        Asked { about: "1 of 1", session, node: "n1" }
    }

    fn runs(root: &Path) -> Vec<(Outcome, Option<String>)> {
        let mut ledger = Ledger::open(root, &mut |_, _| {}).expect("a ledger");
        ledger.refresh().expect("readable");
        let found = ledger.runs(&ledger::RunsQuery::default()).expect("readable");
        found.runs.into_iter().map(|run| (run.outcome, run.blame)).collect()
    }

    #[test]
    fn an_answer_is_taken_in_once() {
        let root = tempfile::tempdir().expect("a directory");
        let answer = root.path().join("7.jsonl");
        let run = Run { case: "pipe/full".into(), outcome: Outcome::Pass, ..Run::unstarted() };
        let events = [Event::Planned(Box::new(session())), Event::Finished(Box::new(run))];
        fs::write(&answer, lines(events.into_iter()).expect("JSON")).expect("written");
        let mut told = Vec::new();
        let mut emit = |progress| told.push(progress);
        let planned = session();
        let mut take = || take(&answer, Some(asked(&planned)), root.path(), &mut emit);
        assert_eq!(take().expect("it is a session"), Taken::Session);
        assert_eq!(take().expect("it is a session"), Taken::Nothing);
        assert_eq!(told, [Progress::Known("1 of 1: 1 of 1 well".to_owned())]);
        assert_eq!(runs(root.path()), [(Outcome::Pass, None)]);
    }

    #[test]
    fn what_a_node_lacks_breaks_the_session() {
        let root = tempfile::tempdir().expect("a directory");
        let answer = root.path().join("7.jsonl");
        let refuse = || fs::write(&answer, "{\"refused\": \"no QEMU\"}\n").expect("written");
        let planned = session();
        refuse();
        let taken = take(&answer, Some(asked(&planned)), root.path(), &mut |_| {}).expect("it says why");
        assert_eq!(taken, Taken::Refusal);
        assert!(!answer.exists());
        refuse();
        let taken = take(&answer, None, root.path(), &mut |_| {}).expect("nobody waits for it");
        assert!(taken == Taken::Nothing && answer.exists(), "another kiln may");
        assert_eq!(runs(root.path()), [(Outcome::Broken, Some("host".to_owned()))]);
    }

    #[test]
    fn what_is_no_answer_is_said_and_removed() {
        let root = tempfile::tempdir().expect("a directory");
        let answer = root.path().join("7.jsonl");
        fs::write(&answer, [0xff; 100]).expect("written");
        let mut told = 0;
        let taken = take(&answer, None, root.path(), &mut |_| told += 1).expect("a note");
        assert!(taken == Taken::Nothing && told == 1 && !answer.exists());
    }
}
