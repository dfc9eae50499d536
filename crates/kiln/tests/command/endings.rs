//! What happens to QEMU, to kiln and to the results folder while a session runs.

use judge::{Blame, Outcome};
use lab::Event;
use rustix::process::Signal;

use crate::support::{KERNEL, Place, Running, processes, until};

/// A program that is in nobody's way and does not end.
const ENDLESS: &str = "kiln-report pass started; while :; do :; done";

#[test]
fn a_qemu_that_is_killed_broke_the_machine_and_what_was_finished_is_kept() {
    let place = Place::new();
    let running = place.kiln(["run", KERNEL, "--isolation", "suite"]).start();
    let qemu = running.qemu();
    running.await_event("finished");
    processes::signal(qemu, Signal::KILL);
    let done = running.wait();
    let (mut passed, mut broken) = (0, Vec::new());
    for event in done.events() {
        match event {
            Event::Finished(run) if run.outcome == Outcome::Broken => {
                broken.push((run.blame, run.reason.clone(), run.boot));
            }
            Event::Finished(run) if run.outcome == Outcome::Pass => passed += 1,
            _ => {}
        }
    }
    assert_eq!(broken, [(Some(Blame::Machine), "QEMU: ended by signal 9".to_string(), 1)]);
    assert!(passed > 20, "{passed}");
    assert_eq!(done.session()["summary"]["not_run"], 0, "the others ran on another machine");
    done.expect(3).says("QEMU: ended by signal 9");
}

/// A program that does not end, and runs.
fn endless(place: &Place) -> Running {
    let program = place.script("endless", ENDLESS);
    let running = place.exec(&program, &[]).start();
    running.await_event("started");
    running
}

#[test]
fn a_qemu_that_is_killed_under_a_program_is_broken() {
    let place = Place::new();
    let running = endless(&place);
    processes::signal(running.qemu(), Signal::KILL);
    let done = running.wait().expect(3).says("QEMU: ended by signal 9");
    let run = done.document("endless");
    assert_eq!((run.outcome, run.blame), (Outcome::Broken, Some(Blame::Machine)));
}

#[test]
fn a_guest_does_not_outlive_a_kiln_that_is_killed() {
    let place = Place::new();
    let running = endless(&place);
    let qemu = running.qemu();
    running.signal(Signal::KILL);
    // Waiting ends when no process of the session is left, QEMU included.
    let done = running.wait();
    assert_eq!(done.code, None);
    assert!(!std::path::Path::new(&format!("/proc/{qemu}/exe")).exists());
    let events = done.events();
    assert!(matches!(events.first(), Some(Event::Planned(_))));
    assert!(matches!(events.last(), Some(Event::Started { .. })), "no end was recorded, and nothing is torn");
    assert_eq!(done.session()["summary"], serde_json::Value::Null);
}

#[test]
fn an_interrupt_ends_the_guest_and_keeps_the_session() {
    for signal in [Signal::INT, Signal::TERM] {
        let place = Place::new();
        let running = endless(&place);
        running.signal(signal);
        let done = running.wait().expect(130).says("interrupted");
        assert!(matches!(done.events().last(), Some(Event::Ended { interrupted: true, .. })));
        let session = done.session();
        assert_eq!((&session["interrupted"], &session["summary"]["not_run"]), (&true.into(), &1.into()));
    }
}

/// As timeout(1) sends them: one to its child, one to the child's group.
#[test]
fn two_signals_at_once_are_one_interrupt() {
    let place = Place::new();
    let running = endless(&place);
    // While it is stopped both wait for it.
    for signal in [Signal::STOP, Signal::INT, Signal::TERM, Signal::CONT] {
        running.signal(signal);
    }
    let done = running.wait().expect(130).says("interrupted");
    assert!(matches!(done.events().last(), Some(Event::Ended { interrupted: true, .. })));
}

#[test]
fn an_interrupt_during_the_boot_does_too() {
    let place = Place::new();
    let running = place.kiln(["run", KERNEL]).env("XDG_CACHE_HOME", place.templates()).start();
    running.qemu();
    running.await_event("command-line");
    running.signal(Signal::INT);
    let done = running.wait().expect(130);
    assert!(matches!(done.events().last(), Some(Event::Ended { interrupted: true, .. })));
}

#[test]
fn a_document_that_cannot_be_written_costs_the_verdict_and_not_the_summary() {
    let place = Place::new();
    // A boot is as long as it takes to put something in the way.
    let cases = ["--case", "pipe/full", "--case", "pipe/broken", "--isolation", "suite"];
    let running = place.kiln([&["run", KERNEL], &cases[..]].concat()).start();
    let folder = running.results().join("cases/pipe");
    std::fs::create_dir_all(folder.join("full.json/in-the-way")).expect("writable");
    let done = running.wait().expect(3).says("2 cases in").says("2 pass");
    assert!(done.stderr.contains("results folder") && done.stderr.contains("--results"), "{}", done.stderr);
    assert_eq!(done.document("pipe/broken").outcome, Outcome::Pass);
    let left = std::fs::read_dir(&folder).expect("made").flatten().map(|entry| entry.file_name());
    let mut left: Vec<_> = left.collect();
    left.sort();
    assert_eq!(left, ["broken.json", "full.json"], "a document is whole or not there");
    assert_eq!(done.session()["summary"]["pass"], 2);
}

#[test]
fn standard_output_that_cannot_be_written_is_reported() {
    let place = Place::new();
    let program = place.script("quiet", "exit 0");
    let shell =
        format!("exec {} run {KERNEL} --exec {} > /dev/full", env!("CARGO_BIN_EXE_kiln"), program.display());
    let output = std::process::Command::new("sh")
        .args(["-c", &shell])
        .env("XDG_STATE_HOME", place.path())
        .env("XDG_CACHE_HOME", crate::support::cache())
        .output()
        .expect("a shell");
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stderr).contains("No space left on device"));
}

#[test]
fn two_sessions_at_once_do_not_disturb_each_other() {
    let place = Place::new();
    let folder = place.path().join("results");
    let start = || {
        let inner = Place::new();
        let results = folder.to_str().expect("paths of tests are UTF-8");
        let running = inner.kiln(["run", KERNEL, "--case", "pipe/full", "--results", results]).start();
        (running, inner)
    };
    let (first, second) = (start(), start());
    first.0.wait().expect(0);
    second.0.wait().expect(0);
    let sessions = ledger::sessions(&folder);
    assert_eq!(sessions.len(), 2);
}

#[test]
fn a_reader_that_goes_away_ends_nothing() {
    let place = Place::new();
    let program = place.script("quiet", "exit 0");
    let kiln = format!("{} run {KERNEL} --exec {}", env!("CARGO_BIN_EXE_kiln"), program.display());
    let output = std::process::Command::new("sh")
        .args(["-c", &format!("{{ {kiln}; echo $? > {}/code; }} | true", place.path().display())])
        .env("XDG_STATE_HOME", place.path())
        .env("XDG_CACHE_HOME", crate::support::cache())
        .output()
        .expect("a shell");
    assert!(output.status.success());
    let code = until("kiln ends", || {
        std::fs::read_to_string(place.path().join("code")).ok().filter(|code| !code.is_empty())
    });
    assert_eq!(code.trim(), "0");
}
