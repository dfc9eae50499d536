//! Programs of which it is known what they do.

use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

use super::*;
use protocol::ReportKind;
use protocol::count::Part;
use protocol::workload::Workload;

/// A shell that makes fifty processes.
const FIFTY: &str = "i=0; while [ $i -lt 50 ]; do (exit 0); i=$((i+1)); done";

fn request(events: &[&str], script: &str) -> CountRequest {
    CountRequest {
        events: events.iter().map(|event| event.parse().expect("an event")).collect(),
        workload: Workload {
            command: ["sh", "-c", script].map(str::to_owned).to_vec(),
            ..Workload::default()
        },
        ..CountRequest::default()
    }
}

/// The report; nothing where this user or kernel may not count, which it says.
fn counted(request: &CountRequest) -> Option<CountReport> {
    ended(count(request, &mut |_| Ok(())))
}

fn ended(counted: Result<CountReport, Report>) -> Option<CountReport> {
    match counted {
        Ok(report) => {
            assert_eq!(report.validate(), Ok(()));
            Some(report)
        }
        Err(Report { kind, text }) => {
            assert_eq!(kind, ReportKind::Skip, "{text}");
            None
        }
    }
}

#[test]
fn each_fork_of_a_program_is_counted_and_none_of_its_start() {
    let Some(report) = counted(&request(&["forks", "page-faults", "task-clock"], FIFTY)) else { return };
    let [forks, faults, clock] = &report.counted[..] else { panic!("{report:?}") };
    assert_eq!(forks.value, 50);
    assert!(faults.value > 50 && clock.value > 0, "{report:?}");
    assert!(report.counted.iter().all(|one| one.enabled_ns == one.running_ns && one.error.is_none()));
    assert_eq!((report.status, report.signal), (Some(0), None));
    assert!(report.tasks.is_empty() && report.intervals.is_empty());
}

#[test]
fn the_processes_of_a_program_have_all_that_it_has() {
    let script = "sleep 0; (exit 3); sh -c 'kill -9 $$'; exit 7";
    let request =
        CountRequest { per: Some(Part::Process), ..request(&["page-faults", "context-switches"], script) };
    let Some(report) = counted(&request) else { return };
    assert_eq!((report.status, report.lost), (Some(7), 0));
    assert!(report.counted.iter().all(|one| !one.is_estimated()), "{:?}", report.counted);
    for (at, event) in report.counted.iter().enumerate() {
        let sum: u64 = report.tasks.iter().map(|task| task.counts[at]).sum();
        assert_eq!(sum, event.value, "{} {:?}", event.event, report.tasks);
    }
    let mut names: Vec<&str> = report.tasks.iter().map(|task| task.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["sh", "sh", "sh", "sleep"], "each of them, also the one that was killed");
    let shell = report.tasks.iter().find(|one| report.tasks.iter().any(|it| it.parent == one.pid));
    let shell = shell.expect("one has made the others");
    assert_eq!(report.tasks.iter().filter(|one| one.parent == shell.pid).count(), 3);
}

/// A thread that has left its counters may still be switched from before it switches for the last time.
fn switches_of_ending(report: &CountReport) -> u64 {
    report.tasks.len() as u64
}

#[test]
fn processes_have_the_same_where_the_kernel_does_not_report_it() {
    let events = ["page-faults", "context-switches", "task-clock", "sched:sched_process_exit"];
    let request = CountRequest { per: Some(Part::Process), ..request(&events, FIFTY) };
    let Some(report) = ended(count_for(&request, true, &mut |_| Ok(()))) else { return };
    assert_eq!((report.tasks.len(), report.lost), (51, 0));
    for (at, event) in report.counted.iter().enumerate() {
        let sum: u64 = report.tasks.iter().map(|task| task.counts[at]).sum();
        let after = if event.event.name() == "context-switches" { switches_of_ending(&report) } else { 0 };
        let sums = event.value..=event.value + after;
        assert!(sums.contains(&sum), "{} {sum} {:?}", event.event, report.tasks);
    }
    let shell = report.tasks.iter().find(|one| report.tasks.iter().any(|it| it.parent == one.pid));
    let shell = shell.expect("one has made the others").pid;
    for child in report.tasks.iter().filter(|one| one.pid != shell) {
        let [faults, switches, clock, exits] = child.counts[..] else { panic!("{child:?}") };
        assert!(faults > 0 && switches > 0 && clock > 0 && exits == 1, "{child:?}");
    }
}

/// What sleeps so often is a thread of its own.
const SLEEPS: &str =
    "use threads; threads->create(sub { select undef, undef, undef, 0.001 for 1..9 })->join for 1..3";

#[test]
fn threads_are_told_apart_whoever_counts_them() {
    let command = ["perl", "-e", SLEEPS].map(str::to_owned).to_vec();
    let workload = Workload { command, ..Workload::default() };
    let request = CountRequest { per: Some(Part::Thread), workload, ..request(&["context-switches"], "") };
    for at_switches in [false, true] {
        let Some(report) = ended(count_for(&request, at_switches, &mut |_| Ok(()))) else { return };
        let sum: u64 = report.tasks.iter().map(|task| task.counts[0]).sum();
        let whole = report.counted[0].value;
        let after = if at_switches { switches_of_ending(&report) } else { 0 };
        assert_eq!((report.tasks.len(), report.lost), (4, 0), "{report:?}");
        assert!((whole..=whole + after).contains(&sum), "{sum} {report:?}");
        let pid = report.tasks[0].pid;
        assert!(report.tasks.iter().all(|task| task.pid == pid && task.name == "perl"), "{report:?}");
        let others = report.tasks.iter().filter(|task| task.tid != Some(pid));
        assert!(others.clone().all(|task| task.counts[0] >= 9), "{report:?}");
        assert_eq!(others.count(), 3);
    }
}

#[test]
fn no_event_gets_the_counts_of_another() {
    let request = CountRequest { per: Some(Part::Process), ..request(&["emulation-faults", "forks"], FIFTY) };
    for _ in 0..5 {
        let Some(report) = counted(&request) else { return };
        let values: Vec<u64> = report.counted.iter().map(|one| one.value).collect();
        assert_eq!(values, [0, 50], "{report:?}");
    }
}

#[test]
fn intervals_add_up() {
    let request = CountRequest { interval_ms: Some(10), ..request(&["page-faults"], FIFTY) };
    let Some(report) = counted(&request) else { return };
    let sum: u64 = report.intervals.iter().map(|interval| interval.counts[0]).sum();
    assert_eq!(sum, report.counted[0].value);
    assert!(report.intervals.is_sorted_by_key(|interval| interval.end_ns));
}

#[test]
fn a_process_that_runs_is_counted_until_it_ends() {
    let script = format!("read line; {FIFTY}");
    let mut child =
        Command::new("sh").args(["-c", &script]).stdin(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take();
    let workload = Workload { process: Some(child.id()), ..Workload::default() };
    let request = CountRequest { workload, ..request(&["forks", "page-faults"], "") };
    // It goes on when it is counted.
    let report = ended(count(&request, &mut |_| {
        drop(input.take());
        Ok(())
    }));
    drop(input);
    child.wait().expect("it is ours");
    let Some(report) = report else { return };
    assert_eq!((report.counted[0].value, report.status, report.signal), (50, None, None));
    assert!(report.counted[1].value > 50, "{report:?}");
    assert_eq!(count(&request, &mut |_| Ok(())).expect_err("it is gone").kind, ReportKind::Skip);
}

#[test]
fn all_threads_of_a_process_are_counted_with_what_they_start() {
    let this = Some(std::process::id());
    let workload = Workload { process: this, duration_ms: Some(1500), ..Workload::default() };
    let request = CountRequest { workload, ..request(&["forks"], "") };
    let (go, waits) = channel::<()>();
    let thread = std::thread::spawn(move || {
        let _ = waits.recv();
        (0..20).for_each(|_| drop(Command::new("sh").args(["-c", "(exit 0); exit 3"]).status()));
    });
    let mut thread = Some((go, thread));
    let report = ended(count(&request, &mut |_| {
        let Some((go, thread)) = thread.take() else { return Ok(()) };
        drop(go);
        thread.join().expect("it ends");
        Ok(())
    }));
    let Some(report) = report else { return };
    // Other tests may be threads of this process, too.
    assert!(report.counted[0].value >= 40, "{report:?}");
}

#[test]
fn a_process_whose_first_thread_has_ended_is_counted() {
    let script = "use threads; threads->create(sub { <STDIN>; fork or exit for 1..30; 1 while wait > 0 }); \
                  syscall 60, 0";
    let mut child =
        Command::new("perl").args(["-e", script]).stdin(Stdio::piped()).spawn().expect("it starts");
    let status = format!("/proc/{}/status", child.id());
    while !std::fs::read_to_string(&status).expect("it is ours").contains("State:\tZ") {
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut input = child.stdin.take();
    let workload = Workload { process: Some(child.id()), ..Workload::default() };
    let request = CountRequest { workload, ..request(&["forks"], "") };
    let report = ended(count(&request, &mut |_| {
        drop(input.take());
        Ok(())
    }));
    drop(input);
    child.wait().expect("it is ours");
    let Some(report) = report else { return };
    assert_eq!(report.counted.first().map(|forks| forks.value), Some(30), "{report:?}");
}

#[test]
fn parts_are_of_a_program_from_its_start_on() {
    let workload = Workload { process: Some(1), ..Workload::default() };
    let request = CountRequest { workload, per: Some(Part::Thread), ..request(&["forks"], "") };
    assert!(request.validate().expect_err("it is wrong").to_string().contains("from its start on"));
}

#[test]
fn everything_can_be_counted_for_a_time() {
    let workload = Workload { duration_ms: Some(50), ..Workload::default() };
    let request = CountRequest { workload, ..request(&["context-switches"], "") };
    let Some(report) = counted(&request) else { return };
    assert!(report.elapsed_ns >= 50_000_000 && report.counted[0].enabled_ns > 0, "{report:?}");
}

#[test]
fn what_cannot_be_counted_is_named_and_the_rest_is_counted() {
    let Some(report) = counted(&request(&["page-faults", "no:such_tracepoint"], "exit 0")) else { return };
    assert_eq!(report.counted.len(), 1);
    assert_eq!(report.missing[0].event.name(), "no:such_tracepoint");
    let stopped =
        count(&request(&["no:such_tracepoint"], "exit 0"), &mut |_| Ok(())).expect_err("nothing is left");
    assert_eq!(stopped.kind, ReportKind::Skip);
    let workload = Workload { command: vec!["/nowhere".to_owned()], ..Workload::default() };
    let nowhere = CountRequest { workload, ..request(&["page-faults"], "") };
    assert!(counted(&nowhere).is_none());
}

#[test]
fn a_program_is_ended_when_its_time_is_over() {
    let mut request = request(&["page-faults"], "sleep 600");
    request.workload.duration_ms = Some(100);
    let Some(report) = counted(&request) else { return };
    assert_eq!((report.status, report.signal), (None, Some(15)));
}
