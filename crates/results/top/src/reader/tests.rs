use judge::{Outcome, Run, Summary};
use lab::event::Session;
use lab::{Event, Listener};
use ledger::Recorder;

use super::*;
use crate::look::{News, SessionState};

fn session(release: &str, started: &str, cases: &[&str]) -> Session {
    let document = serde_json::json!({
        "started": started, "kiln": "0.1.0", "locator": format!("deb:{release}"), "kernel": format!("deb:{release}"),
        "provenance": "", "release": release, "identity": release, "machine": "QEMU", "suite": "smoke", "cases": cases,
        "jobs": 1,
    });
    serde_json::from_value(document).expect("a session")
}

fn run(case: &str, outcome: Outcome) -> Event {
    let reason = if outcome == Outcome::Pass { String::new() } else { "is 0".to_owned() };
    Event::Finished(Box::new(Run { case: case.to_owned(), outcome, reason, boot: 1, ..Run::unstarted() }))
}

/// Begins a session with these Runs.
fn begun(root: &Path, session: &Session, runs: &[(&str, Outcome)]) -> Recorder {
    let mut recorder = Recorder::create(root, &session.stamp()).expect("room");
    recorder.on_event(&Event::Planned(Box::new(session.clone())));
    runs.iter().for_each(|(case, outcome)| recorder.on_event(&run(case, *outcome)));
    recorder
}

fn end(mut recorder: Recorder) {
    let (summary, took) = (Summary::default(), Duration::from_secs(7));
    recorder.on_event(&Event::Ended { summary, took, interrupted: false, exit: None });
    recorder.finish().expect("written");
}

fn reader(root: &Path) -> Reader {
    Reader::open(root, root.join("bisections"), &mut |_, _| {}).expect("a ledger")
}

fn look(reader: &mut Reader) -> Look {
    reader.look(true, "2026-11-20T10:10:00Z".parse().expect("a time")).expect("readable").expect("news")
}

#[test]
fn a_session_is_followed_from_its_plan_to_its_end() {
    let root = tempfile::tempdir().expect("a directory");
    let mut reader = reader(root.path());
    assert!(look(&mut reader).sessions.is_empty());
    let planned = session("6.1.0-47-amd64", "2026-11-20T10:00:00Z", &["a", "b", "c"]);
    let mut recorder = begun(root.path(), &planned, &[("a", Outcome::Fail)]);
    recorder.on_event(&Event::Started { case: "b".to_owned(), clone: 1 });
    let running = look(&mut reader).sessions.remove(0);
    let SessionState::Running { cases, .. } = &running.state else { panic!("{running:?}") };
    assert_eq!((running.done, running.cases, cases), (1, 3, &vec!["b".to_owned()]));
    assert_eq!(running.wrong, [("a".to_owned(), "is 0".to_owned())]);
    assert_eq!(reader.runs(&running.name).expect("known")[0].case, "a");
    recorder.on_event(&run("b", Outcome::Pass));
    assert_eq!(look(&mut reader).sessions[0].summary.pass, 1);
    end(recorder);
    let ended = look(&mut reader).sessions.remove(0);
    assert_eq!(ended.state, SessionState::Ended { took: Duration::from_secs(7) });
    assert_eq!((ended.done, ended.summary.fail, ended.wrong.len()), (2, 1, 1));
    assert_eq!(reader.runs(&ended.name).expect("known").len(), 2);
}

#[test]
fn one_that_was_killed_has_stopped() {
    let root = tempfile::tempdir().expect("a directory");
    let planned = session("6.1.0-47-amd64", "2026-11-20T10:00:00Z", &["a", "b"]);
    let recorder = begun(root.path(), &planned, &[("a", Outcome::Pass)]);
    let mut reader = reader(root.path());
    assert!(matches!(look(&mut reader).sessions[0].state, SessionState::Running { .. }));
    drop(recorder);
    // Nothing was written: that somebody ran a session is why it is looked at again.
    let now = Timestamp::UNIX_EPOCH;
    let later = reader.look(false, now).expect("readable").expect("it may have been killed");
    assert_eq!((&later.sessions[0].state, later.sessions[0].done), (&SessionState::Stopped, 1));
    assert!(!reader.sessions.any_runs());
}

#[test]
fn what_the_newest_kernel_of_a_flavour_does_otherwise_is_news() {
    let root = tempfile::tempdir().expect("a directory");
    let (pass, fail) = (Outcome::Pass, Outcome::Fail);
    for (release, day, runs) in [
        ("6.1.0-47-amd64", 1, [("a", pass), ("b", fail), ("c", pass)]),
        ("6.1.0-56-amd64", 2, [("a", fail), ("b", pass), ("c", pass)]),
        ("6.12.0-1-amd64", 3, [("a", fail), ("b", fail), ("c", fail)]),
    ] {
        let planned = session(release, &format!("2026-11-0{day}T10:00:00Z"), &["a", "b", "c"]);
        end(begun(root.path(), &planned, &runs));
    }
    let changes = look(&mut reader(root.path())).changes;
    let seen: Vec<_> = changes.iter().map(|change| (change.news, change.what.as_str())).collect();
    let seen: Vec<_> = seen.into_iter().filter(|(news, _)| *news != News::Problem).collect();
    let (worse, better) = (News::Case(watch::Change::Worse), News::Case(watch::Change::Better));
    assert_eq!(seen, [(worse, "a"), (worse, "b"), (worse, "c"), (better, "b")], "{changes:#?}");
    let before = |case: &str| changes.iter().find(|change| change.news == worse && change.what == case);
    let before = |case| before(case).map(|change| change.before.0.as_str());
    assert_eq!(before("a"), Some("6.1.0-47-amd64"));
    assert_eq!(before("b"), Some("6.1.0-56-amd64"), "of the series before");
}

#[test]
fn a_failure_that_only_the_newest_kernel_has_is_a_new_problem() {
    let root = tempfile::tempdir().expect("a directory");
    for (release, day, outcome) in
        [("6.1.0-47-amd64", 1, Outcome::Pass), ("6.1.0-56-amd64", 2, Outcome::Fail)]
    {
        let planned = session(release, &format!("2026-11-0{day}T10:00:00Z"), &["a"]);
        end(begun(root.path(), &planned, &[("a", outcome)]));
    }
    let Look { changes, problems, .. } = look(&mut reader(root.path()));
    assert_eq!((changes[0].news, changes.len(), problems.len()), (News::Problem, 2, 1));
    assert_eq!((&problems[0].case, problems[0].failures), (&"a".to_owned(), 1));
}

#[test]
fn a_run_is_read_and_no_file_besides() {
    let root = tempfile::tempdir().expect("a directory");
    let planned = session("6.1.0-47-amd64", "2026-11-20T10:00:00Z", &["a"]);
    let recorder = begun(root.path(), &planned, &[("a", Outcome::Fail)]);
    let name = recorder.name();
    end(recorder);
    let reader = reader(root.path());
    let lines = reader.run(&name, "a").expect("kept");
    assert_eq!(lines[0].text(), "fail: a");
    for (session, case) in [("..", "a"), ("../x", "a"), (name.as_str(), "b"), ("", "")] {
        assert!(reader.run(session, case).is_err(), "{session} {case}");
    }
    // The name of a case is no path.
    assert_eq!(reader.run(&name, "../../a").expect("the same")[0].text(), "fail: a");
}
