//! The program beside a load, whose instrument is played by a shell script.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use protocol::ReportKind;
use protocol::instrument::{BROKEN, DONE, FAULT, Line, SKIPPED, variable};
use protocol::latency::{LatencyReport, LatencyRequest, Policy};
use protocol::stress::{Instance, StressRequest};
use rustix::process::{Pid, Signal, kill_process};

/// An instrument that says that it works, and when it is asked to end, what its worker reports.
const WORKS: &str = r#"
say() {
    worker="{\"operations\":$2,\"verified\":0,\"wall-ns\":1,\"user-ns\":0,\"system-ns\":0,\"end\":${4:-null},\"reports\":[$3],\"rates\":[]}"
    instance="{\"stressor\":\"vm\",\"options\":{},\"refused\":null,\"workers\":[$worker]}"
    echo "{\"$1\":{\"instances\":[$instance],\"leftovers\":[],\"thermal\":[],\"throttled\":null,\"interrupted\":true}}"
}
work() { while :; do sleep 0.02; done; }
"#;

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&directory).expect("there is room");
        Self(directory)
    }

    /// A measurement beside what the script does.
    fn command(&self, script: &str, request: &LatencyRequest) -> Command {
        let stress = self.0.join("stress");
        fs::write(&stress, format!("#!/bin/sh{WORKS}{script}\n")).expect("there is room");
        fs::set_permissions(&stress, fs::Permissions::from_mode(0o755)).expect("it is ours");
        let mut command = Command::new(env!("CARGO_BIN_EXE_latency"));
        command.env(variable("stress"), stress).arg(serde_json::to_string(request).expect("plain data"));
        command.stdout(Stdio::piped());
        command
    }
}

/// Few cycles beside a stressor.
fn request() -> LatencyRequest {
    let instance = Instance { stressor: "vm".to_owned(), workers: 1, ..Instance::default() };
    LatencyRequest {
        policy: Policy::Other,
        priority: 0,
        samples: Some(20),
        load: Some(StressRequest { instances: vec![instance], ..StressRequest::default() }),
        ..LatencyRequest::default()
    }
}

fn last(output: &Output) -> (Line<LatencyReport>, u8) {
    let line = output.stdout.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty()).expect("a line");
    let code = output.status.code().and_then(|code| u8::try_from(code).ok()).expect("a status");
    (serde_json::from_slice(line).expect("it is valid"), code)
}

fn measured(name: &str, script: &str) -> (LatencyReport, u8) {
    match last(&Place::new(name).command(script, &request()).output().expect("it starts")) {
        (Line::Done(report), code) => (report, code),
        other => panic!("{other:?}"),
    }
}

fn stopped(name: &str, script: &str) -> (ReportKind, String, u8) {
    match last(&Place::new(name).command(script, &request()).output().expect("it starts")) {
        (Line::Stopped(why), code) => (why.kind, why.text, code),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_load_lasts_as_long_as_the_measurement_and_is_part_of_its_report() {
    let (report, code) = measured("lasts", r"trap 'say done 7; exit' INT; say so-far 0; say so-far 3; work");
    let load = report.load.as_ref().expect("there was one");
    assert_eq!((report.latencies().count(), load.instances[0].operations(), code), (20, 7, DONE));
    assert!(load.interrupted);
}

#[test]
fn a_load_that_fails_fails_the_measurement() {
    let (report, code) = measured(
        "fails",
        r#"trap 'say done 7 "{\"kind\":\"fail\",\"text\":\"a page differs\"}"; exit 1' INT; say so-far 3; work"#,
    );
    assert_eq!((report.latencies().count(), code), (20, FAULT));
    assert_eq!(report.outcome().text, "the load: vm: a page differs");
}

#[test]
fn without_its_load_nothing_is_measured() {
    let skips = r#"say done 0 "{\"kind\":\"skip\",\"text\":\"no swap\"}" "{\"exited\":0}"; exit 4"#;
    assert_eq!(stopped("skips", skips), (ReportKind::Skip, "the load: vm: no swap".to_owned(), SKIPPED));
    let ends = "say done 5";
    let early = "the load ended before the measurement began".to_owned();
    assert_eq!(stopped("ends", ends), (ReportKind::Broken, early, BROKEN));
    let dies = "kill -KILL $$";
    assert_eq!(
        stopped("dies", dies),
        (ReportKind::Broken, "stress: it ended without a report".to_owned(), BROKEN)
    );
}

#[test]
fn a_missing_program_is_named() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_latency"));
    command.arg(serde_json::to_string(&request()).expect("plain data")).env_remove(variable("stress"));
    let (Line::Stopped(why), BROKEN) = last(&command.output().expect("it starts")) else {
        panic!("nothing can be measured")
    };
    assert!(
        why.text.starts_with("kiln:stress: ") && why.text.ends_with("needs this program"),
        "{}",
        why.text
    );
}

#[test]
fn the_load_ends_in_order_when_the_measurement_is_killed() {
    let place = Place::new("killed");
    let mark = place.0.join("ended");
    let _ = fs::remove_file(&mark);
    let script = format!("trap 'echo > {}; exit' TERM; trap '' INT; say so-far 1; work", mark.display());
    let endless = LatencyRequest { samples: None, duration_ms: 600_000, ..request() };
    let mut child = place.command(&script, &endless).spawn().expect("it starts");
    let mut out = std::io::BufReader::new(child.stdout.take().expect("it is a pipe"));
    // It reports only once it measures.
    std::io::BufRead::read_line(&mut out, &mut String::new()).expect("a line");
    kill_process(Pid::from_child(&child), Signal::KILL).expect("it runs");
    child.wait().expect("it is ours");
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !mark.exists() {
        assert!(std::time::Instant::now() < end, "the load goes on");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
