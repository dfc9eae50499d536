//! The instrument as a program: what it says, how it ends, and what it leaves.

use std::fs::{create_dir, read_dir, read_to_string, remove_dir_all};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use protocol::ReportKind;
use protocol::instrument::{DONE, FAULT, Line, SKIPPED, WRONG_REQUEST};
use protocol::race::{Ended, RaceReport, RaceRequest};
use rustix::process::{Pid, Signal, kill_process};

/// A directory for temporary files, in which nothing may be left.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("race-test-{}-{}", std::process::id(), NUMBER.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(name);
        create_dir(&path).expect("it is new");
        Self(path)
    }

    fn program(&self, request: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_race"));
        command.arg(request).env("TMPDIR", &self.0);
        command
    }

    fn is_empty(&self) -> bool {
        read_dir(&self.0).expect("it is there").count() == 0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = remove_dir_all(&self.0);
    }
}

fn request(race: &str, change: impl FnOnce(&mut RaceRequest)) -> String {
    let mut request = RaceRequest::new(race);
    change(&mut request);
    serde_json::to_string(&request).expect("it has a form")
}

fn ran(request: &str) -> Output {
    let temporary = Temporary::new();
    let output = temporary.program(request).output().expect("it is started");
    assert!(temporary.is_empty());
    output
}

/// The last line, which is the only one that is not about what is known so far.
fn last(output: &[u8]) -> Line<RaceReport> {
    let text = String::from_utf8(output.to_vec()).expect("it is text");
    let mut said: Vec<Line<RaceReport>> =
        text.lines().map(|line| serde_json::from_str(line).expect("each line has a form")).collect();
    let last = said.pop().expect("it says something");
    assert!(said.iter().all(|said| matches!(said, Line::SoFar(_))) && !matches!(last, Line::SoFar(_)));
    last
}

#[test]
fn a_wrong_request_is_answered_in_one_line() {
    let unknown = request("fs/no-such-race", |_| ());
    let cases = [
        ("", "the one argument is no request in JSON"),
        ("{}", "missing field `race`"),
        (r#"{"race":"fs/xfs-reflink-dio","strategy":"lucky"}"#, "unknown variant `lucky`"),
        (r#"{"race":"fs/xfs-reflink-dio","round":5}"#, "unknown field `round`"),
        (
            unknown.as_str(),
            "there is no race fs/no-such-race: use synthetic/... or one of fs/xfs-reflink-dio,",
        ),
    ];
    for (request, expected) in cases {
        let output = ran(request);
        assert_eq!(output.status.code(), Some(i32::from(WRONG_REQUEST)), "{request}");
        let Line::Stopped(why) = last(&output.stdout) else { panic!("it was done: {request}") };
        assert!(why.kind == ReportKind::Broken && why.text.contains(expected), "{}", why.text);
    }
}

#[test]
fn requests_are_written_in_kebab_case_and_have_defaults() {
    let short: RaceRequest = serde_json::from_str(r#"{"race":"a/b"}"#).expect("the rest has defaults");
    assert_eq!(short, RaceRequest::new("a/b"));
    let text = request("a/b", |request| request.time_ms = Some(5));
    assert!(text.contains(r#""time-ms":5"#) && text.contains(r#""strategy":"mixture""#), "{text}");
}

#[test]
fn long_details_are_cut_as_they_are_read() {
    let output = ran(&request("synthetic/free/double-fetch", |request| request.rounds = Some(1)));
    let Line::Done(report) = last(&output.stdout) else { panic!("it was not done") };
    let detail = Some("é".repeat(100_000));
    let text = serde_json::to_string(&RaceReport { detail, ..report }).expect("it has a form");
    let read: RaceReport = serde_json::from_str(&text).expect("it is a report");
    assert_eq!(read.detail.map(|text| text.len()), Some(protocol::message::TEXT_MAX));
}

#[test]
fn hits_of_synthetic_races_are_no_fault_of_the_kernel() {
    let output = ran(&request("synthetic/order/0-1-0/0-1-0", |request| {
        request.rounds = Some(200);
        request.hits = u64::MAX;
        request.statistics = true;
    }));
    assert_eq!(output.status.code(), Some(i32::from(DONE)));
    let Line::Done(report) = last(&output.stdout) else { panic!("it was not done") };
    assert_eq!((report.rounds, report.ended), (200, Ended::Rounds));
    assert!(report.hits + report.early + report.late <= 200, "{report:?}");
}

#[test]
fn a_real_race_ends_or_says_what_is_missing() {
    let output = ran(&request("time/timerfd-settime", |request| request.rounds = Some(100)));
    let status = output.status.code().and_then(|code| u8::try_from(code).ok());
    match last(&output.stdout) {
        Line::Done(report) => {
            let expected = if report.is_fault() { FAULT } else { DONE };
            assert_eq!((report.rounds, status), (100, Some(expected)));
        }
        Line::Stopped(report) => {
            assert_eq!((report.kind, status), (ReportKind::Skip, Some(SKIPPED)), "{report:?}");
        }
        Line::SoFar(_) => unreachable!("it is the last line"),
    }
}

/// Starts a race that does not end by itself, and waits until it has begun.
fn started(temporary: &Temporary) -> (Child, BufReader<std::process::ChildStdout>) {
    let request = request("synthetic/setup/flag-30ns", |request| {
        request.time_ms = Some(3_600_000);
        request.hits = u64::MAX;
    });
    let mut program = temporary.program(&request).stdout(Stdio::piped()).spawn().expect("it is started");
    let mut output = BufReader::new(program.stdout.take().expect("it is piped"));
    let mut line = String::new();
    output.read_line(&mut line).expect("it is text");
    assert!(line.starts_with(r#"{"so-far":{"#), "{line}");
    (program, output)
}

/// The children of a process that have not ended.
fn children(parent: u32) -> Vec<String> {
    let entries = read_dir("/proc").expect("proc is mounted").flatten();
    let processes = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    processes.filter(|process| state(process).is_some_and(|(_, of)| of == parent.to_string())).collect()
}

/// State and parent of a process, as proc_pid_stat(5) says.
fn state(process: &str) -> Option<(String, String)> {
    let stat = read_to_string(Path::new("/proc").join(process).join("stat")).ok()?;
    let mut fields = stat.rsplit(')').next()?.split_whitespace().map(str::to_string);
    Some((fields.next()?, fields.next()?)).filter(|(state, _)| state != "Z")
}

#[test]
fn a_signal_ends_it_with_what_it_has() {
    for signal in [Signal::INT, Signal::TERM] {
        let temporary = Temporary::new();
        let (mut program, output) = started(&temporary);
        let races = children(program.id());
        assert_eq!(races.len(), 1);
        kill_process(Pid::from_child(&program), signal).expect("it runs");
        let lines: Vec<_> = output.split(b'\n').map(|line| line.expect("it is read")).collect();
        let Line::Done(report) = last(&lines.join(&b'\n')) else { panic!("it was not done") };
        assert_eq!(report.ended, Ended::Signal);
        assert!(report.rounds > 0);
        assert_eq!(program.wait().expect("it ends").code(), Some(i32::from(DONE)));
        assert!(temporary.is_empty() && state(&races[0]).is_none());
    }
}

#[test]
fn the_race_dies_with_its_supervisor() {
    let temporary = Temporary::new();
    let (mut program, _output) = started(&temporary);
    let races = children(program.id());
    assert_eq!(races.len(), 1);
    program.kill().expect("it runs");
    program.wait().expect("it ends");
    while state(&races[0]).is_some() {
        std::thread::yield_now();
    }
}
