//! The program, as kiln starts it: for anybody, with or without privilege.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use harness::storage::{detached, path_of};
use protocol::instrument::{BROKEN, DONE, FAULT, Line, SKIPPED, WRONG_REQUEST};
use protocol::steal::{Load, Setup, StealReport, StealRequest, Traced, Xdp};
use protocol::{Report, ReportKind};
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

const NOBODY: u32 = 65534;

/// A short pass without tracing.
fn short() -> StealRequest {
    StealRequest { duration_ms: 50, trace: false, ..StealRequest::default() }
}

fn command(request: &StealRequest) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_steal"));
    command.arg(serde_json::to_string(request).expect("plain data")).stdout(Stdio::piped());
    command
}

/// The same as a user who may do nothing.
fn unprivileged(request: &StealRequest) -> Command {
    let mut command = command(request);
    let give_up = || {
        let (group, user) = (rustix::process::Gid::from_raw(NOBODY), rustix::process::Uid::from_raw(NOBODY));
        // Who has no privilege needs not give it up.
        if rustix::process::geteuid().is_root() {
            set_thread_groups(&[])?;
            set_thread_res_gid(group, group, group)?;
            set_thread_res_uid(user, user, user)?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec only system calls are made and nothing is allocated.
    unsafe { command.pre_exec(give_up) };
    command
}

/// The last line of a run to its end, and its exit status.
fn last(command: &mut Command) -> (Line<StealReport>, u8) {
    let output = command.output().expect("the program starts");
    let mut lines = output.stdout.split(|byte| *byte == b'\n');
    let last = lines.rfind(|line| !line.is_empty()).expect("there is a last line");
    (serde_json::from_slice(last).expect("it is valid"), status(output.status))
}

fn status(status: ExitStatus) -> u8 {
    u8::try_from(status.code().expect("no signal ended it")).expect("an exit status is a byte")
}

#[track_caller]
fn measured(command: &mut Command) -> StealReport {
    match last(command) {
        (Line::Done(report), DONE) => {
            assert_eq!(report.validate(), Ok(()));
            report
        }
        other => panic!("{other:?}"),
    }
}

/// A load needs privileges and parts of the kernel: with them its report, else why there is none.
#[track_caller]
fn loaded(request: &StealRequest) -> Option<StealReport> {
    match last(&mut command(request)) {
        (Line::Done(report), DONE) => {
            assert_eq!(report.validate(), Ok(()));
            Some(report)
        }
        (Line::Stopped(Report { kind: ReportKind::Skip, text }), SKIPPED) => {
            assert!(text.contains("root") || text.contains("CONFIG_"), "{text}");
            None
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_probe_of_anybody_does_work_and_is_charged_for_it() {
    let report = measured(&mut unprivileged(&StealRequest { trace: true, ..short() }));
    let pass = &report.sides[0].passes[0];
    assert!(pass.elapsed_ns >= 50_000_000 && pass.usage.run_ns > 0 && pass.times.is_some(), "{pass:?}");
    assert!(pass.work.as_ref().is_some_and(|work| work.done_ns > 0), "{pass:?}");
    assert!(report.calibration.is_some_and(|it| it.unit_ps > 0 && it.threshold_ns >= 999), "{report:?}");
    // A machine may let anybody trace.
    match &report.sides[0].trace {
        Traced::Missing(why) => assert!(why.starts_with("no trace: "), "{why}"),
        trace => assert!(matches!(trace, Traced::Seen(_)), "{trace:?}"),
    }
}

#[test]
fn a_load_without_privilege_says_what_it_needs() {
    for load in ["net:udp", "timer"] {
        let request = StealRequest { load: load.parse().ok(), ..short() };
        match last(&mut unprivileged(&request)) {
            (Line::Stopped(Report { kind: ReportKind::Skip, text }), SKIPPED) => {
                assert!(text.contains("it needs root"), "{text}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn every_load_does_something() {
    for load in ["net:udp,pps=2000", "net:tcp-stream,2", "net:request,2", "timer:hz=1000,busy=20us"] {
        let request = StealRequest { load: load.parse().ok(), duration_ms: 300, ..short() };
        let Some(report) = loaded(&request) else { continue };
        let pass = &report.sides[0].passes[0];
        assert!(pass.load_count.is_some_and(|count| count > 0), "{load}: {pass:?}");
        assert_eq!(pass.load_busy_ns.is_some(), !request.load.is_some_and(Load::is_network), "{load}");
    }
}

#[test]
fn two_set_ups_have_as_many_passes_each() {
    let (rps, xdp) = (false, Some(Xdp::Busy(1000)));
    let request = StealRequest {
        load: Some(Load::Udp { pps: 1000, size: 64 }),
        against: Some(Setup { rps, xdp }),
        ..short()
    };
    let Some(report) = loaded(&request) else { return };
    let counts = report.sides.iter().map(|side| side.passes.len());
    assert_eq!(counts.collect::<Vec<usize>>(), [5, 5]);
    let busy =
        |side: usize| report.sides[side].passes.iter().filter(|pass| pass.load_busy_ns > Some(0)).count();
    assert_eq!((busy(0), busy(1)), (0, 5), "only a program that is busy knows for how long");
}

#[test]
fn more_than_the_limit_is_a_fault_and_less_is_none() {
    let request = StealRequest { max_steal: Some(1.0), ..short() };
    assert_eq!(measured(&mut command(&request)).request.max_steal, Some(1.0));
    // A fifth of the CPU is stolen for certain.
    let load = Some(Load::Timer { hz: 1000, busy_ns: 200_000 });
    let request = StealRequest { max_steal: Some(0.02), duration_ms: 300, load, ..short() };
    match last(&mut command(&request)) {
        (Line::Done(report), FAULT) => assert_eq!(report.conclusion().kind, ReportKind::Fail),
        (Line::Stopped(Report { kind: ReportKind::Skip, .. }), SKIPPED) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_command_is_a_victim_with_an_exit_status() {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    let request =
        StealRequest { command: words(&["sh", "-c", "echo output; exit 3"]), trace: true, ..short() };
    let report = measured(&mut command(&request));
    assert_eq!((report.sides[0].passes[0].status, report.calibration), (Some(3), None));
    let request = StealRequest { command: words(&["sleep", "1000"]), ..short() };
    let pass = &measured(&mut command(&request)).sides[0].passes[0];
    assert_eq!(pass.status, None, "its time was over");
    let request = StealRequest { command: words(&["no-such-program"]), ..short() };
    let (line, status) = last(&mut command(&request));
    let is_named = |why: &Report| why.text.contains("no-such-program");
    assert!(matches!(&line, Line::Stopped(why) if is_named(why)) && status == SKIPPED, "{line:?}");
}

#[test]
fn what_is_no_request_is_refused() {
    for (request, why) in [
        ("{", "no request in JSON"),
        (r#"{"load":"net:upd"}"#, "there is no load"),
        (r#"{"setup":"rps=0"}"#, "a set-up is that of a network load"),
        (r#"{"cpus":1}"#, "unknown field `cpus`"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_steal"));
        match last(command.arg(request).stdout(Stdio::piped())) {
            (Line::Stopped(report), WRONG_REQUEST) => assert!(report.text.contains(why), "{}", report.text),
            other => panic!("{other:?}"),
        }
    }
    let request = StealRequest { cpu: Some(1023), ..short() };
    let (line, status) = last(&mut command(&request));
    assert!(matches!(&line, Line::Stopped(why) if why.text.starts_with("CPU 1023 is not there")), "{line:?}");
    assert_eq!(status, SKIPPED);
    assert_ne!(status, BROKEN);
}

/// A program that runs until a signal.
fn started(command: &mut Command) -> Child {
    command.spawn().expect("the program starts")
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("it is there");
}

#[test]
fn a_signal_ends_it_early_with_what_is_known() {
    let mut child = started(&mut command(&StealRequest { duration_ms: 3_600_000, ..short() }));
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let first = lines.next().expect("there is one").expect("it is text");
    assert!(matches!(serde_json::from_str(&first), Ok(Line::<StealReport>::SoFar(_))), "{first}");
    signal(&child, Signal::INT);
    let last = lines.map_while(Result::ok).last().expect("there is a last line");
    match serde_json::from_str(&last) {
        Ok(Line::<StealReport>::Done(report)) => {
            assert!(report.interrupted && report.sides[0].passes.len() == 1);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(status(child.wait().expect("it is ours")), DONE);
}

/// A file of this test that is removed at the end.
struct Mark(PathBuf);

impl Drop for Mark {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn one_that_is_killed_while_it_traces_leaves_nothing_behind() {
    let Ok(tracefs) = detached("tracefs") else { return };
    let mark = Mark(std::env::temp_dir().join(format!("kiln-steal-{}", std::process::id())));
    let path = mark.0.display();
    // It sleeps the second time, when it is traced.
    let script = format!("if [ -e {path} ]; then echo $$ >> {path}; exec sleep 1000; else echo > {path}; fi");
    let command_line = vec!["sh".to_owned(), "-c".to_owned(), script];
    let request = StealRequest { command: command_line, duration_ms: 600_000, trace: true, ..short() };
    let mut child = started(&mut command(&request));
    let victim = until(|| std::fs::read_to_string(&mark.0).ok()?.trim().parse::<u32>().ok());
    let instance = path_of(&tracefs).join(format!("instances/kiln-steal-{}", child.id()));
    assert!(instance.exists());
    signal(&child, Signal::KILL);
    child.wait().expect("it is ours");
    until(|| (!instance.exists() && !Path::new(&format!("/proc/{victim}")).exists()).then_some(()));
}

/// Waits until there is a value.
fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    loop {
        if let Some(value) = look() {
            return value;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
