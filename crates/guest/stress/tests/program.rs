//! The program as its users start it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

use protocol::ReportKind;
use protocol::instrument::{DONE, Line, WRONG_REQUEST};
use protocol::stress::{Catalogue, StressReport, catalogue};
use rustix::process::{Pid, Signal, kill_process};

fn program(argument: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stress"));
    command.arg(argument).stdin(Stdio::null());
    command
}

fn output(argument: &str) -> Output {
    program(argument).output().expect("it can be started")
}

fn last(output: &Output) -> Line<StressReport> {
    let line = output.stdout.split(|&byte| byte == b'\n').rfind(|line| !line.is_empty()).expect("a line");
    serde_json::from_slice(line).expect("a report")
}

#[test]
fn the_catalogue_is_json() {
    let output = output(catalogue::ARGUMENT);
    let catalogue: Catalogue = serde_json::from_slice(&output.stdout).expect("a catalogue");
    assert!(catalogue.stressors.is_sorted_by_key(|stressor| &stressor.name));
    assert!(catalogue.find("pipe").is_some());
}

#[test]
fn a_request_is_carried_out() {
    let output =
        output(r#"{"instances": [{"stressor": "pipe", "workers": 2, "operations": 10}], "verify": true}"#);
    let Line::Done(report) = last(&output) else { panic!("{output:?}") };
    assert_eq!(report.instances[0].operations(), 10);
    assert_eq!(report.instances[0].options["capacity"], "64K");
    assert_eq!((report.outcome().kind, output.status.code()), (ReportKind::Pass, Some(DONE.into())));
}

#[test]
fn what_is_no_request_is_refused() {
    for (request, why) in [
        ("{", "EOF"),
        (r#"{"instances": []}"#, "no stressor"),
        (r#"{"instances": [{"stressor": "pip"}]}"#, "pip"),
        (r#"{"instances": [{"stressor": "pipe", "options": {"bytes": "1"}}]}"#, "from 8 to 64K"),
        (r#"{"stresors": []}"#, "unknown field"),
    ] {
        let output = output(request);
        assert!(matches!(last(&output), Line::Stopped(report) if report.text.contains(why)), "{output:?}");
        assert_eq!(output.status.code(), Some(WRONG_REQUEST.into()));
    }
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid")).expect("a pid");
    kill_process(pid, signal).expect("a signal");
}

#[test]
fn signals_ask_for_a_report_and_for_an_end() {
    let mut child = program(r#"{"instances": [{"stressor": "get", "workers": 1}]}"#)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it can be started");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"))
        .lines()
        .map(|line| serde_json::from_str::<Line<StressReport>>(&line.expect("a line")).expect("a report"));
    assert!(matches!(lines.next(), Some(Line::SoFar(_))), "about once a second");
    signal(&child, Signal::USR2);
    assert!(matches!(lines.next(), Some(Line::SoFar(_))));
    signal(&child, Signal::INT);
    let done = lines.find_map(|said| match said {
        Line::Done(report) => Some(report),
        _ => None,
    });
    let report = done.expect("a report at the end");
    assert!(report.interrupted && report.leftovers.is_empty(), "{report:?}");
    assert!(report.instances[0].operations() > 0);
    assert!(child.wait().expect("its end").success());
}
