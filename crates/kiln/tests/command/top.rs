//! `kiln top`: a person looks on, and leaves the terminal as it was.

use std::time::Duration;

use judge::kernel_report::{KernelReport, Kind};
use judge::{Outcome, Run, Summary};
use lab::event::Session;
use lab::{Event, Listener};
use ledger::Recorder;
use protocol::KernelRecord;
use rustix::process::Signal;

use crate::support::terminal::Terminal;
use crate::support::{KERNEL, Place, processes, until};

/// What ends the screen of kiln: the mouse, the other screen, the cursor.
const LEFT: [&str; 3] = ["\x1b[?1000l", "\x1b[?1049l", "\x1b[?25h"];

/// Begins a session of three cases on this kernel, of which one has failed.
fn begun(place: &Place, kernel: &str) -> Recorder {
    let document = serde_json::json!({
        "started": "2026-11-20T10:00:00Z", "kiln": "0.1.0", "locator": kernel, "kernel": kernel, "provenance": "",
        "release": "6.1.0-56-cloud-amd64", "identity": "x", "machine": "QEMU with TCG", "suite": "smoke",
        "cases": ["pipe/full", "pipe/empty", "pipe/half"], "jobs": 1,
    });
    let session: Session = serde_json::from_value(document).expect("a session");
    let root = place.path().join("state/kiln/runs");
    let mut recorder = Recorder::create(&root, &session.stamp()).expect("room");
    recorder.on_event(&Event::Planned(Box::new(session)));
    recorder.on_event(&Event::Finished(Box::new(failed())));
    recorder
}

/// A Run in which the kernel reported a defect.
fn failed() -> Run {
    let record = |text: &str| KernelRecord { sequence: 1, time_us: 0, level: 4, text: text.to_owned() };
    let (first, title) =
        ("WARNING: CPU: 0 PID: 7 at fs/pipe.c:12".to_owned(), "WARNING in pipe_write".to_owned());
    Run {
        case: "pipe/full".to_owned(),
        outcome: Outcome::Fail,
        reason: title.clone(),
        boot: 1,
        log: vec![record("usb: \x1b[2Jdevice"), record(&first)],
        kernel_reports: vec![KernelReport { kind: Kind::Warning, title, lines: vec![first] }],
        ..Run::unstarted()
    }
}

fn passed(case: &str) -> Event {
    let (case, outcome) = (case.to_owned(), Outcome::Pass);
    Event::Finished(Box::new(Run { case, outcome, boot: 1, ..Run::unstarted() }))
}

fn top(place: &Place, rows: u16, columns: u16) -> Terminal {
    Terminal::with_kiln(place, &["top"], rows, columns)
}

#[test]
fn a_session_is_followed_and_its_evidence_opened_and_searched() {
    let place = Place::new();
    let mut recorder = begun(&place, "deb:6.1.0-56-cloud-amd64");
    let mut terminal = top(&place, 24, 80);
    let before = format!("{:?}", terminal.settings());
    terminal.displays("runs    6.1.0-56-cloud-amd64");
    terminal.displays("1/3");
    terminal.resize(40, 120);
    let wide = terminal.displays(&"-".repeat(120));
    assert!(wide.contains("1/3"), "{wide}");
    recorder.on_event(&passed("pipe/empty"));
    terminal.displays("2/3");
    let (summary, took) = (Summary { pass: 1, fail: 1, ..Summary::default() }, Duration::from_secs(7));
    recorder.on_event(&Event::Ended { summary, took, interrupted: false, exit: None });
    drop(recorder);
    terminal.displays("ended   6.1.0-56-cloud-amd64");
    terminal.types("\r");
    terminal.displays("> fail");
    terminal.types("\r");
    let run = terminal.displays("kernel log");
    assert!(run.contains("!   [    0.000000] WARNING: CPU: 0") && run.contains("usb: device"), "{run}");
    terminal.types("/cpu: 0\r");
    terminal.displays("match 1 of 2 of \"cpu: 0\"");
    terminal.types("q");
    assert_eq!(terminal.end(), Some(0));
    assert_eq!(format!("{:?}", terminal.settings()), before, "the terminal is as before");
    terminal.gets(&LEFT);
}

#[test]
fn a_signal_leaves_the_terminal_as_it_was() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let place = Place::new();
        drop(begun(&place, "deb:6.1.0-56-cloud-amd64"));
        let mut terminal = top(&place, 24, 80);
        let before = format!("{:?}", terminal.settings());
        terminal.displays("stopped 6.1.0-56-cloud-amd64");
        assert_ne!(format!("{:?}", terminal.settings()), before, "keys are read one by one");
        processes::signal(terminal.id(), signal);
        assert_eq!(terminal.end(), Some(130), "{signal:?}");
        assert_eq!(format!("{:?}", terminal.settings()), before, "the terminal is as before");
        terminal.gets(&LEFT);
    }
}

#[test]
fn what_is_started_says_how_it_ended_and_writes_nothing_between() {
    let place = Place::new();
    drop(begun(&place, "./no-such-image"));
    let mut terminal = top(&place, 24, 80);
    terminal.displays("stopped");
    terminal.types("4");
    terminal.displays("./no-such-image  in a session");
    terminal.types("G");
    terminal.displays("$ kiln run ./no-such-image --suite smoke");
    terminal.types("\r");
    let ended = terminal.displays("exit code 2");
    assert!(ended.contains("> ended   ./no-such-image"), "{ended}");
    terminal.types("q");
    assert_eq!(terminal.end(), Some(0), "nothing is left to be asked about");
}

/// Selects the kernel of all tests among those that others have fetched.
fn choose(terminal: &mut Terminal) {
    let kernel = format!("[ ] {KERNEL} ");
    let shown = terminal.displays(&kernel);
    let at = shown.lines().filter(|line| line.contains(" [ ] ")).position(|line| line.contains(&kernel));
    terminal.types(&"j".repeat(at.expect("it is shown")));
    terminal.displays(&format!("$ kiln run {KERNEL} --suite smoke"));
}

#[test]
fn what_was_started_is_stopped_or_goes_on() {
    for (key, goes_on) in [("s", false), ("g", true)] {
        let place = Place::new();
        // It is fetched first.
        crate::support::kernel();
        drop(begun(&place, KERNEL));
        let mut terminal = top(&place, 60, 120);
        terminal.displays("stopped");
        terminal.types("4");
        choose(&mut terminal);
        terminal.types("\r");
        let cases = machine::catalogue::cases().suite("smoke").expect("it is kiln's own").len();
        terminal.displays(&format!("0/{cases}"));
        terminal.types("q");
        terminal.displays("g  leave, and they go on by themselves");
        terminal.types(key);
        assert_eq!(terminal.end_of_kiln(), Some(0));
        // The kernel calls it by the path that it was started by, which is none of its own.
        let is_kiln =
            |process: &processes::Process| processes::command_line(process.id).starts_with("kiln run ");
        let left = processes::marked(terminal.mark()).into_iter().find(is_kiln);
        assert_eq!(left.is_some(), goes_on);
        left.into_iter().for_each(|kiln| processes::signal(kiln.id, Signal::TERM));
        until("nothing is left", || processes::marked(terminal.mark()).is_empty().then_some(()));
    }
}

#[test]
fn without_a_terminal_it_says_what_to_call() {
    let done = Place::new().kiln(["top"]).run().expect(2);
    assert!(done.stdout.is_empty() && done.stderr.lines().count() == 1, "{done:?}");
    assert!(done.stderr.starts_with("kiln: kiln top needs a terminal: `kiln results`"), "{}", done.stderr);
}
