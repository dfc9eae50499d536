//! The program, as kiln starts it: for anybody, with or without privilege.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};

use protocol::ReportKind;
use protocol::instrument::{BROKEN, DONE, Line, SKIPPED, WRONG_REQUEST};
use protocol::latency::{Clock, Grant, LatencyReport, LatencyRequest, Method, Policy};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, setrlimit};
use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set, sched_getaffinity};

/// Few cycles that anybody may ask for.
fn modest() -> LatencyRequest {
    LatencyRequest {
        policy: Policy::Other,
        priority: 0,
        duration_ms: 600_000,
        samples: Some(20),
        ..LatencyRequest::default()
    }
}

/// Long waits that only a signal ends.
fn endless() -> LatencyRequest {
    LatencyRequest { interval_ns: 10_000_000_000, samples: None, ..modest() }
}

fn command(request: &LatencyRequest) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_latency"));
    command.arg(serde_json::to_string(request).expect("plain data")).stdout(Stdio::piped());
    command
}

fn lines(output: &[u8]) -> Vec<Line<LatencyReport>> {
    let lines = output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("each line is valid")).collect()
}

/// The last line of a run to its end, and its exit status.
fn last(command: &mut Command) -> (Line<LatencyReport>, u8) {
    let output = command.output().expect("the program starts");
    let last = lines(&output.stdout).pop().expect("there is a last line");
    (last, status(output.status))
}

fn status(status: ExitStatus) -> u8 {
    let code = status.code().expect("no signal ended it");
    u8::try_from(code).expect("an exit status is a byte")
}

#[track_caller]
fn measured(request: &LatencyRequest) -> LatencyReport {
    match last(&mut command(request)) {
        (Line::Done(report), DONE) => {
            report.validate().expect("the report is valid");
            report
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_method_has_all_its_samples_on_every_clock() {
    for method in [Method::ClockNanosleep, Method::Nanosleep, Method::Timer, Method::Poll] {
        for (clock, relative) in
            [(Clock::Monotonic, false), (Clock::Realtime, true), (Clock::Boottime, true), (Clock::Tai, false)]
        {
            let report = measured(&LatencyRequest { method, clock, relative, ..modest() });
            let thread = &report.threads[0];
            assert_eq!(thread.latencies.count(), 20, "{method:?} {clock:?}");
            assert_eq!((thread.policy, thread.priority, thread.cpu), (Policy::Other, 0, None));
            assert!(thread.usage.is_some() && !thread.maxima.slots.is_empty());
        }
    }
}

#[test]
fn the_loop_faults_nothing() {
    let report = measured(&LatencyRequest { samples: Some(200), ..modest() });
    let usage = report.threads[0].usage.expect("it has ended");
    let locked = &report.conditions.locked;
    assert_eq!((usage.major_faults, usage.minor_faults), (0, 0), "{locked:?}");
    assert!(usage.voluntary_switches > 0, "it has slept: {usage:?}");
}

#[test]
fn each_cpu_has_a_thread_of_its_own() {
    let allowed = sched_getaffinity(None).expect("there is a set");
    let cpus: Vec<u32> = (0..1024).filter(|cpu| allowed.is_set(*cpu as usize)).collect();
    let report = measured(&LatencyRequest { cpus: cpus.clone(), ..modest() });
    assert_eq!(report.threads.iter().filter_map(|thread| thread.cpu).collect::<Vec<_>>(), cpus);
    assert_eq!(report.latencies().count(), 20 * cpus.len() as u64);
}

#[test]
fn a_cpu_that_is_not_there_is_named() {
    let (last, status) = last(&mut command(&LatencyRequest { cpus: vec![1023], ..modest() }));
    let Line::Stopped(report) = last else { panic!("{last:?}") };
    assert_eq!((report.kind, status), (ReportKind::Skip, SKIPPED));
    assert!(report.text.starts_with("CPU 1023: "), "{}", report.text);
}

#[test]
fn without_privilege_it_is_said_what_real_time_takes() {
    for (policy, expected) in
        [(Policy::Fifo, "RLIMIT_RTPRIO of 80 or more, which is 0"), (Policy::Rr, "SCHED_RR")]
    {
        let mut command = command(&LatencyRequest { policy, priority: 80, ..modest() });
        // SAFETY: makes system calls only.
        unsafe {
            command.pre_exec(|| {
                // Who may not do it does not have the capability either.
                let _ = remove_capability_from_bounding_set(CapabilitySet::SYS_NICE);
                Ok(setrlimit(Resource::Rtprio, Rlimit { current: Some(0), maximum: Some(0) })?)
            });
        }
        let (last, status) = last(&mut command);
        let Line::Stopped(report) = last else { panic!("{last:?}") };
        assert_eq!((report.kind, status), (ReportKind::Skip, SKIPPED));
        for part in ["CAP_SYS_NICE", "use --policy other", expected] {
            assert!(report.text.contains(part), "{}", report.text);
        }
    }
}

#[test]
fn real_time_is_granted_or_its_lack_is_explained() {
    for (policy, priority) in [(Policy::Fifo, 1), (Policy::Rr, 99), (Policy::Deadline, 0)] {
        match last(&mut command(&LatencyRequest { policy, priority, ..modest() })) {
            (Line::Done(report), DONE) => {
                assert_eq!((report.threads[0].policy, report.threads[0].priority), (policy, priority));
            }
            (Line::Stopped(report), SKIPPED) => {
                assert!(report.text.starts_with(policy.name()), "{}", report.text);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_first_latency_above_the_limit_ends_it_and_is_traced_if_possible() {
    let report = measured(&LatencyRequest { break_above_ns: Some(0), samples: None, ..modest() });
    let breach = report.breach.expect("each latency is above 0");
    assert_eq!(breach.latency_ns, report.threads[0].latencies.maximum);
    match report.conditions.trace {
        Grant::Granted => assert!(breach.trace.iter().any(|line| line.contains("sched_")), "{breach:?}"),
        Grant::Refused(why) => assert!(why.starts_with("no trace: ") && breach.trace.is_empty(), "{why}"),
        Grant::NotWanted => panic!("a trace is wanted"),
    }
}

#[test]
fn a_signal_ends_it_early_with_what_there_is() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut child = command(&endless()).spawn().expect("the program starts");
        let mut out = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let mut line = String::new();
        out.read_line(&mut line).expect("there is a line");
        assert!(matches!(lines(line.as_bytes())[..], [Line::SoFar(_)]), "{line}");
        kill_process(pid(&child), signal).expect("it has not ended");
        line.clear();
        while out.read_line(&mut line).expect("it is text") > 0 {}
        let Some(Line::Done(report)) = lines(line.as_bytes()).pop() else { panic!("{line}") };
        assert!(report.latencies().count() <= 1 && report.threads[0].usage.is_some());
        assert_eq!(status(child.wait().expect("it is ours")), DONE);
    }
}

#[test]
fn it_ends_when_nobody_listens() {
    let mut child = command(&endless()).spawn().expect("the program starts");
    drop(child.stdout.take());
    assert_eq!(status(child.wait().expect("it is ours")), BROKEN);
}

#[test]
fn an_argument_that_is_no_request_is_refused() {
    let program = || Command::new(env!("CARGO_BIN_EXE_latency"));
    let wrong = serde_json::to_string(&LatencyRequest { interval_ns: 1, ..modest() }).expect("plain data");
    let arguments: [(&[&str], &str); 5] = [
        (&[], "the one argument is no request in JSON"),
        (&["{}", "{}"], "the one argument is no request in JSON"),
        (&["{"], "JSON: EOF"),
        (&[r#"{"intervall-ns": 5}"#], "unknown field `intervall-ns`"),
        (&[&wrong], "an interval in nanoseconds of 1: use 1000 to"),
    ];
    for (arguments, expected) in arguments {
        let (last, status) = last(program().args(arguments));
        let Line::Stopped(report) = last else { panic!("{last:?}") };
        assert_eq!((report.kind, status), (ReportKind::Broken, WRONG_REQUEST));
        assert!(report.text.contains(expected), "{}", report.text);
    }
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}
