//! Programs that are traced with all that they start.

use std::process::Command;

use crate::common::{compile, until};
use observe::{
    Cause, Crash, Ending, Event, Fate, Frame, Job, Listener, Names, Observed, Unwinding, Usage, What,
    observe, process,
};

/// Remembers all that happens.
#[derive(Default)]
struct Memory {
    job: Option<Job>,
    events: Vec<Event>,
    crashes: Vec<(i32, Vec<Frame>)>,
    usage: Vec<Usage>,
    hold: bool,
}

impl Listener for Memory {
    fn event(&mut self, event: &Event) {
        self.job.get_or_insert_with(|| Job::new(event.process, event.time)).see(event);
        self.events.push(event.clone());
    }

    fn crash(&mut self, crash: &Crash) -> Fate {
        let mut unwinding = Unwinding::new(crash.process).expect("readable");
        let calls = unwinding.calls(&crash.registers);
        self.crashes.push((crash.process, unwinding.frames(&calls, &mut Names::default())));
        if self.hold {
            let process = crash.process;
            std::thread::spawn(move || release(process));
            return Fate::Hold;
        }
        Fate::Die
    }

    fn ended(&mut self, _process: i32, usage: &Usage) {
        self.usage.push(*usage);
    }
}

/// Lets a process go on that is stopped and that nobody traces.
fn release(process: i32) {
    until(|| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it is there");
        (status.contains("State:\tT (stopped)") && status.contains("TracerPid:\t0\n")).then_some(())
    });
    // SAFETY: a number and a signal.
    unsafe { libc::kill(process, libc::SIGCONT) };
}

fn run(command: Command, memory: &mut Memory) -> Observed {
    observe(command, memory).expect("it is traced")
}

#[test]
fn nothing_of_a_storm_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(compile(&folder, "storm"));
    command.arg("3");
    let mut memory = Memory::default();
    let observed = run(command, &mut memory);
    assert_eq!(observed.ending, Ending::Code(7));
    assert_eq!((observed.left.len(), observed.held.len()), (0, 0));
    let count = |is: fn(&Event) -> bool| memory.events.iter().filter(|event| is(event)).count();
    assert_eq!(count(|event| matches!(event.what, What::Fork { .. })), 601);
    assert_eq!(count(|event| matches!(event.what, What::Clone { .. })), 1);
    assert_eq!(count(|event| event.what == What::Exec), 1);
    assert_eq!(count(|event| event.what == What::Exit(Ending::Code(3))), 600);
    let job = memory.job.expect("there were events");
    assert_eq!(job.lives().len(), 602);
    assert!(job.lives().iter().all(|life| life.end.is_some()));
    let children = job.children();
    assert_eq!(children[0].len(), 301, "the first made the second and 300 others");
    assert_eq!(memory.usage.len(), 602);
}

#[test]
fn a_crash_is_stopped_at_its_instruction() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{}; true", compile(&folder, "crash").display()));
    let mut memory = Memory::default();
    let observed = run(command, &mut memory);
    assert_eq!(observed.ending, Ending::Code(0));
    let [(process, frames)] = &memory.crashes[..] else { panic!("{:?}", memory.crashes) };
    let seen: Vec<_> =
        frames.iter().map(|frame| (frame.function.as_deref(), frame.is_inlined)).take(3).collect();
    assert_eq!(seen, [(Some("load"), true), (Some("middle"), false), (Some("main"), false)]);
    let source = frames[0].source.as_ref().expect("there is debug information");
    assert!(source.file.ends_with("crash.c"), "{source:?}");
    assert_eq!(source.line, Some(6));
    let job = memory.job.expect("there were events");
    let life = job.lives().iter().find(|life| life.process == *process).expect("it is one of them");
    assert!(matches!(life.end.expect("dead").ending, Ending::Killed { signal: libc::SIGSEGV, .. }));
    assert_eq!(life.signal.expect("known").cause, Cause::Fault(0));
}

#[test]
fn signals_that_a_program_handles_are_no_crashes() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut memory = Memory::default();
    let observed = run(Command::new(compile(&folder, "handled")), &mut memory);
    assert_eq!(observed.ending, Ending::Code(0));
    assert_eq!(memory.crashes, []);
    let handled = memory.events.iter().filter(|event| {
        matches!(event.what, What::Signal(signal) if signal.number == libc::SIGSEGV && !signal.is_fatal)
    });
    assert_eq!(handled.count(), 1000);
}

#[test]
#[ignore = "needs OpenJDK"]
fn openjdk_notices_null_references_without_an_alarm() {
    let mut command = Command::new("java");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/Nulls.java"));
    let mut memory = Memory::default();
    assert_eq!(run(command, &mut memory).ending, Ending::Code(0));
    assert_eq!(memory.crashes, []);
    let is_fault =
        |event: &&Event| matches!(event.what, What::Signal(signal) if signal.number == libc::SIGSEGV);
    assert!(memory.events.iter().filter(is_fault).count() > 10, "they are there");
}

#[test]
fn one_that_is_held_can_be_debugged_and_then_dies_of_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{}; true", compile(&folder, "crash").display()));
    let mut memory = Memory { hold: true, ..Memory::default() };
    let observed = run(command, &mut memory);
    assert_eq!(observed.ending, Ending::Code(0));
    assert_eq!(observed.held, [] as [i32; 0], "its parent heard of its end");
    let process = memory.crashes[0].0;
    let end =
        memory.events.iter().find(|event| event.process == process && matches!(event.what, What::Exit(_)));
    let What::Exit(ending) = end.expect("it is known").what else { unreachable!("it is an exit") };
    // The shell may have taken note of it before kiln can look.
    assert!(matches!(ending, Ending::Killed { signal: libc::SIGSEGV, .. } | Ending::Unseen), "{ending}");
}

#[test]
fn processes_stop_and_go_on_as_without_a_tracer() {
    let folder = tempfile::tempdir().expect("a folder");
    let observed = run(Command::new(compile(&folder, "stopped")), &mut Memory::default());
    assert_eq!(observed.ending, Ending::Code(0));
}

#[test]
fn what_still_runs_at_the_end_goes_on() {
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 100 >/dev/null 2>&1 & exit 4"]);
    let observed = run(command, &mut Memory::default());
    assert_eq!(observed.ending, Ending::Code(4));
    let [left] = observed.left[..] else { panic!("{observed:?}") };
    // The shell may have ended before its child ran the program.
    until(|| (process::command(left) == "sleep 100").then_some(()));
    let status = std::fs::read_to_string(format!("/proc/{left}/status")).expect("it is there");
    assert!(status.contains("TracerPid:\t0\n"), "{status}");
    // SAFETY: a number and a signal.
    unsafe { libc::kill(left, libc::SIGKILL) };
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let error =
        observe(Command::new("/no/such/program"), &mut Memory::default()).expect_err("it is not there");
    assert!(error.to_string().contains("/no/such/program: No such file"), "{error}");
}
