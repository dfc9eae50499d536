//! Sessions that are written down.

use std::time::Duration;

use judge::kernel_report::{KernelReport, Kind};
use judge::run::Repeat;
use judge::{Accused, Blame, Outcome, Run, Summary};
use lab::event::Session;
use lab::{Event, Listener};
use protocol::{Counts, End, KernelRecord, Report, ReportKind};

pub(crate) fn session(suite: &str, cases: &[&str]) -> Session {
    Session {
        started: "2026-11-20T10:00:00Z".parse().unwrap(),
        kiln: "0.1.0".into(),
        request: None,
        command: vec!["run".into(), "deb:6.1.0-56-cloud-amd64".into()],
        directory: "/home".into(),
        locator: "deb:6.1.0-56-cloud-amd64".into(),
        kernel: "deb:6.1.0-56-cloud-amd64".into(),
        kernels: Vec::new(),
        provenance: "Debian linux 6.1.176-1".into(),
        commit: None,
        release: Some("6.1.0-56-cloud-amd64".into()),
        identity: "sha256:0123456789abcdef".into(),
        engine: None,
        machine: "QEMU with TCG, 2 CPUs, 1024 MiB".into(),
        suite: suite.into(),
        content: String::new(),
        cases: cases.iter().map(ToString::to_string).collect(),
        expected: [].into(),
        jobs: 2,
        origin: None,
    }
}

pub(crate) fn run(case: &str, outcome: Outcome, reason: &str) -> Run {
    Run {
        case: case.into(),
        about: format!("what {case} verifies"),
        outcome,
        reason: reason.into(),
        duration: Duration::from_millis(3),
        boot: 1,
        end: Some(End::Exited(0)),
        counts: Counts { pass: 4, ..Counts::default() },
        ..Run::unstarted()
    }
}

fn broken(case: &str, blame: Blame, reason: &str) -> Run {
    Run { blame: Some(blame), ..run(case, Outcome::Broken, reason) }
}

fn report(kind: ReportKind, text: &str) -> Report {
    Report { kind, text: text.into() }
}

/// The events of a session in which `runs` finished and nothing else is of interest.
pub(crate) fn events(session: Session, runs: Vec<Run>, interrupted: bool) -> Vec<Event> {
    let mut summary = Summary::default();
    runs.iter().for_each(|run| summary.count(run.outcome));
    let finished = runs.iter().filter(|run| session.cases.contains(&run.case)).count();
    summary.not_run = u32::try_from(session.cases.len() - finished).unwrap();
    let mut events = vec![Event::Planned(Box::new(session))];
    events.extend(runs.into_iter().flat_map(events_of));
    events.push(Event::Ended { summary, took: Duration::from_millis(62_100), interrupted, exit: None });
    events
}

/// A Run, or several that end with the one that stands for them.
fn events_of(run: Run) -> Vec<Event> {
    let started = |clone| Event::Started { case: run.case.clone(), clone };
    if run.repeats.is_empty() {
        return vec![started(run.clone), Event::Finished(Box::new(run))];
    }
    let repeated = run.repeats.iter().flat_map(|repeat| {
        let one = Run {
            outcome: repeat.outcome,
            blame: (repeat.outcome == Outcome::Broken).then_some(Blame::Machine),
            reason: repeat.reason.clone(),
            duration: repeat.duration,
            clone: repeat.clone,
            seed: repeat.seed,
            repeats: Vec::new(),
            ..run.clone()
        };
        [started(repeat.clone), Event::Repeated(Box::new(one))]
    });
    let repeated: Vec<_> = repeated.collect();
    repeated.into_iter().chain([Event::Finished(Box::new(run))]).collect()
}

/// `run` as the one that stands for `repeats`: the first that did not pass, else the first.
pub(crate) fn standing(run: Run, repeats: &[(Outcome, &str)]) -> Run {
    let repeats: Vec<_> = (1..)
        .zip(repeats)
        .map(|(clone, (outcome, reason))| Repeat {
            outcome: *outcome,
            reason: (*reason).to_string(),
            duration: Duration::from_millis(2 + u64::from(clone)),
            boot: 1,
            clone,
            seed: 0,
        })
        .collect();
    let first = repeats.iter().find(|repeat| repeat.outcome != Outcome::Pass).or(repeats.first());
    let Some(first) = first.cloned() else { return run };
    Run {
        outcome: first.outcome,
        blame: (first.outcome == Outcome::Broken).then_some(Blame::Machine),
        reason: first.reason,
        duration: first.duration,
        clone: first.clone,
        repeats,
        ..run
    }
}

pub(crate) fn emit(listener: &mut dyn Listener, events: &[Event]) {
    events.iter().for_each(|event| listener.on_event(event));
}

/// All Outcomes, two boots, hostile text.
pub(crate) fn rich() -> Vec<Event> {
    let cases = [
        "pipe/full",
        "pipe/splice",
        "pipe/odd#name",
        "mm/oops",
        "mm/uffd-basic",
        "mm/uffd-wp",
        "fs/stuck",
        "fs/setup",
        "net/gone",
        "net/loopback",
        "keys/none",
    ];
    let runs = vec![
        run("pipe/full", Outcome::Pass, ""),
        fail(),
        warned(),
        crash(),
        run("mm/uffd-basic", Outcome::Skip, "CONFIG_USERFAULTFD is not set"),
        run("mm/uffd-wp", Outcome::Skip, "CONFIG_USERFAULTFD is not set"),
        stuck(),
        Run {
            counts: Counts { broken: 1, ..Counts::default() },
            ..broken("fs/setup", Blame::Case, "mkfs: no space (cases/fs.rs:12)")
        },
        Run { end: None, ..broken("net/gone", Blame::Machine, "QEMU ended with signal 9") },
        run("net/loopback", Outcome::Pass, ""),
        run("keys/none", Outcome::Skip, "needs root # and\nluck"),
    ];
    let mut events = events(session("all", &cases), runs, false);
    events.splice(1..1, boot(1, 11, 2413));
    let second =
        events.iter().position(|event| matches!(event, Event::Started { case, .. } if case == "fs/stuck"));
    events.splice(second.unwrap()..second.unwrap(), boot(2, 5, 2398));
    events
}

fn boot(boot: u32, cases: u32, took_ms: u64) -> Vec<Event> {
    vec![
        Event::Booting { boot, cases },
        Event::CommandLine { boot, line: "qemu-system-x86_64 -M q35".into() },
        Event::Console { boot, clone: 0, line: "[    0.000000] Linux version 6.1.0-56-cloud-amd64".into() },
        Event::Booted {
            boot,
            release: "6.1.0-56-cloud-amd64".into(),
            took: Duration::from_millis(took_ms),
            kept: false,
        },
        Event::Note { text: "KVM does not work here: TCG is used".into() },
    ]
}

fn fail() -> Run {
    let texts = [
        "bytes spliced: is 3, expected 4096 (cases/splice.rs:41)",
        "offset: is 0, expected 4096 (cases/splice.rs:42)",
    ];
    Run {
        counts: Counts { pass: 12, fail: 5, ..Counts::default() },
        reports: texts.map(|text| report(ReportKind::Fail, text)).to_vec(),
        evidence: vec![texts[1].into()],
        output: "\x1b[32mstarting\x1b[0m\n\x1b]0;owned\x07wrote 3 bytes\r\n".into(),
        end: Some(End::Exited(1)),
        notes: vec!["left 1 process behind".into()],
        ..run("pipe/splice", Outcome::Fail, texts[0])
    }
}

/// Far more evidence than anyone wants to read.
fn warned() -> Run {
    let title = "WARNING: CPU: 1 at fs/pipe.c:71 pipe_lock+0x12/0x20";
    let trace = (0..100).map(|frame| format!("  frame_{frame:02}+0x0/0x10"));
    let lines: Vec<_> = std::iter::once(title.to_string()).chain(trace).collect();
    Run {
        evidence: lines.clone(),
        kernel_reports: vec![KernelReport { kind: Kind::Warning, title: title.into(), lines }],
        output: (0..50).map(|line| format!("line {line}\n")).collect(),
        ..run("pipe/odd#name", Outcome::Fail, title)
    }
}

fn crash() -> Run {
    let console = [
        "[    5.100000] BUG: kernel NULL pointer dereference, address: 0000000000000010",
        "[    5.100001] Oops: 0002 [#1] PREEMPT SMP NOPTI",
        "[    5.100002] RIP: 0010:mm_oops+0x12/0x40",
        "[    5.200000] Kernel panic - not syncing: Fatal exception",
    ];
    Run {
        duration: Duration::from_millis(1204),
        end: None,
        counts: Counts::default(),
        evidence: console.map(String::from).to_vec(),
        log: vec![KernelRecord {
            sequence: 1,
            time_us: 5,
            level: 6,
            text: "not shown: there is evidence".into(),
        }],
        ..run("mm/oops", Outcome::Crash, "Kernel panic: Fatal exception [#1]")
    }
}

fn stuck() -> Run {
    let stacks = "stuck D\n  io_schedule+0x1/0x2\n  wait_on_page+0x3/0x4";
    Run {
        boot: 2,
        duration: Duration::from_secs(30),
        end: Some(End::TimedOut { stacks: stacks.into(), killed: false }),
        evidence: stacks.lines().map(String::from).collect(),
        log: vec![KernelRecord { sequence: 9, time_us: 7, level: 4, text: "sda: slow".into() }],
        ..run("fs/stuck", Outcome::Hang, "the case did not end within its time limit and cannot be killed")
    }
}

/// The kernel dies while it boots.
pub(crate) fn no_boot() -> Vec<Event> {
    let dead = Run {
        end: None,
        duration: Duration::ZERO,
        counts: Counts::default(),
        about: "the kernel boots to user space".into(),
        evidence: vec![
            "[    1.2] VFS: Cannot open root device".into(),
            "[    1.3] ---[ end Kernel panic ]---".into(),
        ],
        ..run("boot", Outcome::Crash, "Kernel panic: VFS: Unable to mount root fs")
    };
    let mut events = events(session("all", &["pipe/full", "mm/oops"]), vec![dead], false);
    events.splice(1..1, boot(1, 2, 0).into_iter().take(3));
    events.retain(|event| !matches!(event, Event::Started { .. }));
    events
}

/// One program, twice.
pub(crate) fn exec() -> Vec<Event> {
    let first = Run {
        output: "hello\n".into(),
        not_found: vec!["frob".into(), "b\x1baz".into()],
        ..run("hello.sh", Outcome::Pass, "")
    };
    let second = Run {
        end: Some(End::Exited(3)),
        counts: Counts::default(),
        output: "hello\ncannot open /dev/nothing\n".into(),
        accused: Some(Accused::Program),
        ..run("hello.sh", Outcome::Fail, "exit status 3")
    };
    events(session("hello.sh", &["hello.sh", "hello.sh"]), vec![first, second], false)
}

/// Three cases that one defect spoils, which has a long trace, and one with another.
pub(crate) fn one_defect() -> Vec<Event> {
    let warned = |case: &str, title: &str| {
        let trace = (1..=60).map(|frame| format!(" frame_{frame}+0x1/0x2"));
        let lines = [format!("{title}+0x1/0x2")].into_iter().chain(trace).collect();
        let report = KernelReport { kind: Kind::Warning, title: title.to_string(), lines };
        Run { kernel_reports: vec![report], ..run(case, Outcome::Fail, title) }
    };
    let mut two = warned("mm/e", "WARNING in one");
    two.kernel_reports.extend(warned("mm/e", "KASAN: use-after-free in other").kernel_reports);
    let runs = vec![
        warned("fs/a", "WARNING in one"),
        warned("fs/b", "WARNING in one"),
        warned("fs/c", "WARNING in two"),
        standing(warned("mm/d", "WARNING in one"), &[(Outcome::Fail, "WARNING in one"); 4]),
        two,
        warned("mm/f", "BUG: Bad page state"),
        warned("mm/g", "BUG: Bad page state"),
    ];
    let cases = ["fs/a", "fs/b", "fs/c", "mm/d", "mm/e", "mm/f", "mm/g"];
    events(session("full", &cases), runs, false)
}

/// Nothing was chosen.
pub(crate) fn empty() -> Vec<Event> {
    events(session("none", &[]), Vec::new(), false)
}

/// Stopped by the user in the middle of an area.
pub(crate) fn interrupted() -> Vec<Event> {
    events(
        session("pipe", &["pipe/full", "pipe/splice", "mm/oops"]),
        vec![run("pipe/full", Outcome::Pass, "")],
        true,
    )
}
