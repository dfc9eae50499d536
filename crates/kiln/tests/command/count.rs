//! `kiln count`: events of programs of which it is known what they do.

use protocol::count::CountReport;

use crate::support::processes::Shell;
use crate::support::{Done, KERNEL, Place, text};

/// A shell that makes fifty processes.
const FIFTY: &str = "i=0; while [ $i -lt 50 ]; do (exit 0); i=$((i+1)); done; exit 3";

fn counted(done: &Done) -> CountReport {
    let report: CountReport = done.stated();
    assert_eq!(report.validate(), Ok(()));
    report
}

#[test]
fn fifty_forks_are_fifty_here_and_in_a_machine() {
    let place = Place::new();
    let program = place.script("fifty", FIFTY);
    for kernel in [&[][..], &["--in", KERNEL]] {
        let call = ["count", "--events", "forks,page-faults,no:such", "--json", "--exec", text(&program)];
        let report = counted(&place.kiln([&call[..], kernel].concat()).run().expect(0));
        let [forks, faults] = &report.counted[..] else { panic!("{report:?}") };
        assert_eq!((forks.value, report.status), (50, Some(3)), "{kernel:?}");
        assert!(faults.value > 50, "{report:?}");
        assert_eq!(report.missing.len(), 1);
        assert!(report.missing[0].why.contains("no such tracepoint"), "{:?}", report.missing);
    }
}

#[test]
fn calls_of_functions_of_the_kernel_are_counted_where_it_has_probes() {
    let place = Place::new();
    let program = place.script("fifty", FIFTY);
    let events =
        "kprobe:kernel_clone,kretprobe:kernel_clone,forks,kprobe:kernel_clon,kprobe:do_int3,kprobe:zzz";
    let call = ["count", "--events", events, "--json", "--exec", text(&program)];
    let report = counted(&place.kiln([&call[..], &["--in", KERNEL]].concat()).run().expect(0));
    assert_eq!(report.counted.iter().map(|one| one.value).collect::<Vec<_>>(), [50, 50, 50]);
    let why: Vec<&str> = report.missing.iter().map(|one| one.why.as_str()).collect();
    let [near, refused, unknown] = why[..] else { panic!("{why:?}") };
    assert!(near.contains("no such function") && near.contains("near ones are kernel_clone"), "{near}");
    assert_eq!(refused, "the kernel allows no probe of this function");
    assert!(unknown.ends_with("in a module that is not loaded"), "{unknown}");
    let here = counted(&place.kiln(call).run().expect(0));
    let has_probes = std::path::Path::new("/sys/bus/event_source/devices/kprobe").exists();
    assert_eq!(here.counted.len(), if has_probes { 3 } else { 1 }, "{:?}", here.missing);
}

#[test]
fn instructions_are_exact_in_a_machine() {
    let place = Place::new();
    let program = place.program("loop", "if (argc > 1) for (volatile int i = 0; i < 1000000; i++); fork();");
    let instructions = |arguments: &[&str]| {
        let call = ["count", "--in", KERNEL, "--events", "instructions", "--per-process", "--json", "--exec"];
        let call = [&call[..], &[text(&program)], arguments].concat();
        let report = counted(&place.kiln(call).run().expect(0));
        let [one] = &report.counted[..] else { panic!("{report:?}") };
        let processes: u64 = report.tasks.iter().map(|task| task.counts[0]).sum();
        assert!(report.tasks.len() == 2 && one.value.abs_diff(processes) <= 2, "{report:?}");
        one.value
    };
    let (without, with) = (instructions(&[]), instructions(&["--", "x"]));
    let loops = with - without;
    // Some instructions for a pass, and a tick of the kernel now and then.
    assert!((4_000_000..9_000_000).contains(&loops), "{loops}");
    let again = instructions(&["--", "x"]);
    assert!(again.abs_diff(with) < with / 100, "{again} after {with}");
}

#[test]
fn what_each_process_has_adds_up_in_a_machine() {
    let place = Place::new();
    let program = place.script("fifty", FIFTY);
    let call = ["count", "--in", KERNEL, "--cpus", "2", "--events", "faults,ctx", "--per-process", "--json"];
    let call = [&call[..], &["--interval", "20ms", "--exec", text(&program)]].concat();
    let report = counted(&place.kiln(call).run().expect(0));
    assert_eq!((report.tasks.len(), report.lost), (51, 0));
    for (at, one) in report.counted.iter().enumerate() {
        let sum = report.tasks.iter().map(|task| task.counts[at]).sum::<u64>();
        // Where the kernel does not report threads, those that are ending may be switched from once more.
        let after = if one.event.name() == "context-switches" { report.tasks.len() as u64 } else { 0 };
        assert!((one.value..=one.value + after).contains(&sum), "{} {sum} {report:?}", one.event);
        assert_eq!(report.intervals.iter().map(|interval| interval.counts[at]).sum::<u64>(), one.value);
    }
    let shell = report.tasks.iter().find(|one| report.tasks.iter().any(|it| it.parent == one.pid));
    let shell = shell.expect("one has made the others").pid;
    let children = report.tasks.iter().filter(|task| task.pid != shell);
    assert!(children.clone().all(|child| child.counts.iter().all(|count| *count > 0)), "{report:?}");
    assert_eq!(children.count(), 50);
}

#[test]
fn a_process_that_runs_already_is_counted() {
    let place = Place::new();
    let shell = Shell::start("while :; do :; done");
    let call = ["count", "--events", "task-clock", "--duration", "300ms", "--json", "--pid"];
    let report = counted(&place.kiln([&call[..], &[&shell.id().to_string()]].concat()).run().expect(0));
    assert_eq!((report.request.workload.process, report.status), (Some(shell.id()), None));
    assert!(report.counted[0].value > 0, "{report:?}");
    // It goes on until the process has ended.
    let ends = Shell::start("exec sleep 3");
    let done = place.kiln(["sample", "-p", &ends.id().to_string()]).run().expect(0);
    assert!(done.stdout.starts_with(&format!("process {}: ", ends.id())), "{}", done.stdout);
}

#[test]
fn a_page_for_people_names_what_cannot_be_counted() {
    let place = Place::new();
    let call = ["count", "--events", "faults,no:such", "--exec", "sh", "--", "-c", "exit 7"];
    let done = place.kiln(call).run().expect(0);
    for text in ["sh -c exit 7, exit status 7", "page-faults", "this kernel has no such tracepoint"] {
        assert!(done.stdout.contains(text), "{text}\n{}", done.stdout);
    }
    let everywhere = place.kiln(["count", "--events", "ctx", "--duration", "100ms"]).run().expect(0);
    assert!(everywhere.stdout.starts_with("everything, "), "{}", everywhere.stdout);
}

#[test]
fn what_cannot_be_meant_is_one_clear_message() {
    let place = Place::new();
    for (arguments, code, message) in [
        (&["--exec", "true", "--events", "page-fault"][..], 2, "did you mean page-faults?"),
        (&["--exec", "true", "--events", "ctx,ctx"], 2, "context-switches is named twice"),
        (&["--exec", "true", "--interval", "1ms"], 2, "10 ms to an hour"),
        (&["--events", "ctx"], 2, "--duration"),
        (&["--exec", "/nowhere", "--events", "ctx"], 4, "/nowhere"),
        (&["--exec", "true", "--events", "no:such"], 4, "no such tracepoint"),
        (&["--exec", "/nowhere", "--in", KERNEL], 4, "/nowhere"),
        (&["--pid", "2147483647"], 4, "there is no process 2147483647"),
        (&["--pid", "0"], 2, "no process has this number"),
        (&["--pid", "1", "--per-thread"], 2, "from its start on"),
        (&["--pid", "1", "--exec", "true"], 2, "--exec"),
        (&["--pid", "1", "--in", KERNEL], 2, "a process of this host"),
    ] {
        let done = place.kiln([&["count"], arguments].concat()).run().expect(code);
        assert!(done.stderr.contains(message), "{arguments:?}: {}", done.stderr);
    }
}
