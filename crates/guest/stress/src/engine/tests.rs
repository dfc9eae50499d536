//! Stressors that misbehave, each in its own way: what the engine makes of them.

use std::io::Read;
use std::os::unix::process::parent_id;

use harness::check::{Checked, equal, skip};
use harness::child::{Child, child, exit, pause_forever};
use protocol::stress::{Instance, InstanceReport, WorkerReport};
use protocol::{End, Leftover};
use rustix::io::Errno;
use rustix::pipe::pipe;
use rustix::process::{Pid, Signal, kill_process};

use super::*;
use crate::Worker;
use crate::kit::helper::helper;
use crate::stressor::{Figure, Need};

const FIGURE: Figure = Figure::new("speed", "m/s");

const fn double(name: &'static str, body: fn(&Worker) -> Checked) -> Stressor {
    Stressor { name, body, ..Stressor::PLAIN }
}

static DOUBLES: [Stressor; 14] = [
    Stressor { rates: &[FIGURE], ..double("works", works) },
    double("fails", |worker| {
        worker.count();
        equal("a value", 1, 2)
    }),
    double("fails-in-helper", |worker| {
        worker.count();
        helper(|| equal("a value", 1, 3))?.succeeds()
    }),
    double("dies", |worker| {
        worker.count();
        signal_self(libc::SIGSEGV)
    }),
    double("is-killed", |worker| {
        worker.count();
        signal_self(libc::SIGKILL)
    }),
    double("panics", |worker| {
        worker.count();
        std::panic::set_hook(Box::new(|_| std::process::abort()));
        panic!("a defect")
    }),
    double("hangs", |_| pause_forever()),
    double("hangs-on", |_| {
        harness::sys::ignore(libc::SIGTERM)?;
        pause_forever()
    }),
    double("idles", |_| Ok(())),
    double("skips", |_| skip("it needs the moon")),
    double("fills-the-disk", |_| Ok(Err(Errno::NOSPC)?)),
    double("leaves-a-process", |worker| {
        worker.count();
        let left = child(|| pause_forever())?;
        std::mem::forget(left);
        Ok(())
    }),
    double("leaves-memory", |worker| {
        worker.count();
        std::fs::write(MEMORY, "left")?;
        Ok(())
    }),
    Stressor { needs: &[Need::Device("/dev/moon")], ..double("needs-the-moon", works) },
];

/// A file in shared memory that a stressor leaves behind.
const MEMORY: &str = "/dev/shm/kiln-stress-test";

fn works(worker: &Worker) -> Checked {
    worker.rate(&FIGURE, 2.5);
    worker.repeat(|| equal("two", 1 + 1, 2))
}

fn signal_self(signal: libc::c_int) -> Checked {
    // SAFETY: the default action ends this process.
    unsafe { libc::raise(signal) };
    pause_forever()
}

fn doubles() -> Vec<&'static Stressor> {
    DOUBLES.iter().collect()
}

fn request(names: &[&str]) -> StressRequest {
    let instance = |name: &&str| Instance {
        stressor: name.to_string(),
        workers: 2,
        operations: Some(10),
        ..Instance::default()
    };
    StressRequest {
        instances: names.iter().map(instance).collect(),
        timeout_ms: Some(300),
        grace_ms: 200,
        ..StressRequest::default()
    }
}

/// Carries a request out in a process of its own, as the instrument does.
fn carried_out(request: &StressRequest, stressors: &[&'static Stressor]) -> StressReport {
    let (reader, writer) = pipe().expect("a pipe");
    let engine = child(|| {
        let report = run(request, stressors, &mut |_| ());
        let json = serde_json::to_vec(&report.unwrap_or_else(|refusal| panic!("{refusal:?}")));
        rustix::io::write(&writer, &json.unwrap_or_default())?;
        Ok(())
    })
    .expect("a process");
    drop(writer);
    report_of(engine, reader)
}

fn report_of(engine: Child, reader: rustix::fd::OwnedFd) -> StressReport {
    let mut json = Vec::new();
    std::fs::File::from(reader).read_to_end(&mut json).expect("its report");
    assert_eq!(engine.wait().expect("its end").exit_status(), Some(0));
    serde_json::from_slice(&json).expect("a report")
}

fn single(name: &str) -> InstanceReport {
    let report = carried_out(&request(&[name]), &doubles());
    assert_eq!(report.leftovers, []);
    report.instances.into_iter().next().expect("an instance")
}

fn ends(instance: &InstanceReport) -> Vec<End> {
    instance.workers.iter().filter_map(|worker: &WorkerReport| worker.end.clone()).collect()
}

fn outcome(instance: &InstanceReport) -> (ReportKind, String) {
    let Report { kind, text } = instance.outcome();
    (kind, text)
}

#[test]
fn workers_share_the_operations_and_end() {
    let works = single("works");
    assert_eq!((works.operations(), works.verified()), (10, 10));
    assert_eq!(ends(&works), [End::Exited(0), End::Exited(0)]);
    assert_eq!(outcome(&works), (ReportKind::Pass, "works".to_string()));
    assert_eq!(works.mean_rates().iter().map(|rate| rate.value).collect::<Vec<_>>(), [2.5]);
}

#[test]
fn a_failed_verification_is_reported_with_its_values() {
    let (kind, text) = outcome(&single("fails"));
    assert_eq!(kind, ReportKind::Fail);
    assert!(text.starts_with("fails: a value: is 1, expected 2 (stress/engine/tests.rs:"), "{text}");
    let (kind, text) = outcome(&single("fails-in-helper"));
    assert_eq!(kind, ReportKind::Fail);
    assert!(text.starts_with("fails-in-helper: a value: is 1, expected 3 ("), "{text}");
}

#[test]
fn a_death_is_reported_with_its_signal() {
    let dies = single("dies");
    assert_eq!(ends(&dies), [End::Signalled(libc::SIGSEGV), End::Signalled(libc::SIGSEGV)]);
    assert_eq!(outcome(&dies), (ReportKind::Fail, "dies: a worker died of signal 11".to_string()));
    assert_eq!(outcome(&single("is-killed")).0, ReportKind::Broken);
    assert_eq!(ends(&single("panics"))[0], End::Signalled(libc::SIGABRT));
}

#[test]
fn a_worker_that_does_not_stop_is_ended() {
    for name in ["hangs", "hangs-on"] {
        let hangs = single(name);
        assert!(
            ends(&hangs).iter().all(|end| matches!(end, End::TimedOut { killed: true, stacks } if stacks.starts_with("in state S"))),
            "{hangs:?}"
        );
        assert_eq!(outcome(&hangs).0, ReportKind::Broken);
    }
}

#[test]
fn nothing_done_is_no_success() {
    assert_eq!(outcome(&single("idles")), (ReportKind::Fail, "idles: it did no operation".to_string()));
    assert_eq!(outcome(&single("skips")), (ReportKind::Skip, "skips: it needs the moon".to_string()));
    let refused = single("needs-the-moon");
    assert!(refused.workers.is_empty());
    let (kind, text) = outcome(&refused);
    assert_eq!((kind, text.contains("device=/dev/moon")), (ReportKind::Skip, true), "{text}");
}

#[test]
fn a_full_disk_is_not_the_kernels_fault() {
    let (kind, text) = outcome(&single("fills-the-disk"));
    assert_eq!((kind, text.contains("ENOSPC")), (ReportKind::Broken, true), "{text}");
}

#[test]
fn what_is_left_behind_is_named_and_removed() {
    let report = carried_out(&request(&["leaves-a-process"]), &doubles());
    assert_eq!(report.leftovers.len(), 2, "{report:?}");
    for Leftover { name, stuck } in &report.leftovers {
        assert!(name.starts_with("process ") && stuck.is_none(), "{name}, {stuck:?}");
    }
    assert_eq!(report.outcome().kind, ReportKind::Broken);
    let report = carried_out(&request(&["leaves-memory"]), &doubles());
    std::fs::remove_file(MEMORY).expect("what was left");
    let names: Vec<String> = report.leftovers.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["shared memory kiln-stress-test is still there"]);
    assert_eq!(report.outcome().kind, ReportKind::Broken);
}

#[test]
fn one_bad_stressor_does_not_disturb_the_others() {
    let report = carried_out(&request(&["dies", "works", "hangs"]), &doubles());
    let kinds: Vec<ReportKind> = report.instances.iter().map(|instance| instance.outcome().kind).collect();
    assert_eq!(kinds, [ReportKind::Fail, ReportKind::Pass, ReportKind::Broken]);
    assert_eq!(report.outcome().kind, ReportKind::Fail);
}

static TURN: &str = "kiln-stress-test-turn";

#[test]
fn sequential_instances_take_turns() {
    static TAKES_TURNS: Stressor = double("takes-turns", |worker| {
        let file = std::fs::File::create(std::env::temp_dir().join(TURN))?;
        rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive)?;
        worker.repeat(|| equal("two", 1 + 1, 2))
    });
    let instance =
        Instance { workers: 1, operations: Some(1000), ..request(&["takes-turns"]).instances[0].clone() };
    let request = StressRequest {
        mode: Mode::Sequential,
        instances: vec![instance; 3],
        timeout_ms: None,
        ..StressRequest::default()
    };
    let report = carried_out(&request, &[&TAKES_TURNS]);
    std::fs::remove_file(std::env::temp_dir().join(TURN)).expect("the file");
    assert_eq!(report.instances.len(), 3);
    assert_eq!(report.outcome().kind, ReportKind::Pass, "{report:?}");
}

#[test]
fn workers_are_placed_as_asked() {
    static LOOKS: Stressor = double("looks", |worker| {
        let allowed = rustix::thread::sched_getaffinity(None)?;
        equal("CPUs", (allowed.count(), allowed.is_set(0)), (1, true))?;
        equal("nice value", rustix::process::getpriority_process(None)?, 19)?;
        let policy = crate::placement::Attributes::get()?.policy;
        equal("policy", policy, libc::SCHED_IDLE.unsigned_abs())?;
        worker.count();
        Ok(())
    });
    let request = StressRequest {
        cpus: vec![0],
        nice: Some(19),
        scheduler: Some(protocol::stress::Scheduler::Idle),
        timeout_ms: None,
        ..request(&["looks"])
    };
    let report = carried_out(&request, &[&LOOKS]);
    assert_eq!(report.outcome().kind, ReportKind::Pass, "{report:?}");
    let nowhere = carried_out(&StressRequest { cpus: vec![8000], ..request }, &[&LOOKS]);
    assert_eq!(nowhere.outcome().kind, ReportKind::Broken, "{nowhere:?}");
}

fn signal_engine(signal: Signal) -> Checked {
    Ok(kill_process(Pid::from_raw(parent_id().cast_signed()).ok_or(Errno::SRCH)?, signal)?)
}

#[test]
fn an_interrupt_ends_all_cleanly_and_reports() {
    static INTERRUPTS: Stressor = double("interrupts", |worker| {
        worker.count();
        signal_engine(Signal::INT)?;
        worker.repeat(|| Ok(()))
    });
    let endless = |name| Instance { operations: None, ..request(&[name]).instances[0].clone() };
    let request = StressRequest {
        mode: Mode::Sequential,
        instances: vec![endless("interrupts"), endless("works")],
        timeout_ms: None,
        ..StressRequest::default()
    };
    let report = carried_out(&request, &[&INTERRUPTS, &DOUBLES[0]]);
    assert!(report.interrupted);
    assert_eq!(report.instances.len(), 1, "nothing is begun after it");
    assert_eq!(ends(&report.instances[0]), [End::Exited(0), End::Exited(0)]);
    assert_eq!(report.leftovers, []);
}

#[test]
fn a_user_signal_asks_for_a_report() {
    static ASKS: Stressor = double("asks", |worker| {
        worker.count();
        signal_engine(Signal::USR2)?;
        worker.repeat(|| Ok(()))
    });
    let instance = Instance { operations: None, workers: 1, ..request(&["asks"]).instances[0].clone() };
    let request = StressRequest { instances: vec![instance], timeout_ms: None, ..StressRequest::default() };
    let engine = child(|| {
        let mut seen = 0;
        let report = run(&request, &[&ASKS], &mut |so_far| {
            seen += so_far.instances[0].operations();
            // SAFETY: the signal is blocked, and taken by the engine.
            unsafe { libc::raise(libc::SIGTERM) };
        });
        exit(i32::from(seen == 0 || !report.is_ok_and(|report| report.interrupted)))
    })
    .expect("a process");
    assert_eq!(engine.wait().expect("its end").exit_status(), Some(0));
}

#[test]
fn workers_do_not_outlive_a_killed_engine() {
    static STAYS: Stressor = double("stays", |_| {
        let own = std::env::current_dir()?;
        std::fs::write(
            std::env::temp_dir().join(STAYING),
            format!("{} {}", std::process::id(), own.display()),
        )?;
        pause_forever()
    });
    static STAYING: &str = "kiln-stress-test-staying";
    let place = std::env::temp_dir().join(STAYING);
    let request = StressRequest { timeout_ms: None, ..request(&["stays"]) };
    let request =
        StressRequest { instances: vec![Instance { workers: 1, ..request.instances[0].clone() }], ..request };
    let engine = child(|| {
        let _ = run(&request, &[&STAYS], &mut |_| ());
        Ok(())
    })
    .expect("a process");
    let (pid, directory) = loop {
        let text = std::fs::read_to_string(&place).unwrap_or_default();
        if let Some((pid, directory)) = text.split_once(' ').filter(|(_, directory)| !directory.is_empty()) {
            break (pid.to_string(), std::path::PathBuf::from(directory));
        }
        std::thread::yield_now();
    };
    drop(engine);
    let is_alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
    };
    while is_alive() {
        std::thread::yield_now();
    }
    std::fs::remove_file(place).expect("the file");
    std::fs::remove_dir_all(directory.parent().expect("a parent")).expect("the directories");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |request: StressRequest| run(&request, &doubles(), &mut |_| ());
    assert!(matches!(refused(StressRequest::default()), Err(Refusal::WrongRequest(_))));
    assert!(
        matches!(refused(request(&["unknown"])), Err(Refusal::WrongRequest(why)) if why.contains("unknown"))
    );
}
