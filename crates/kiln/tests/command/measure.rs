//! `kiln measure`: what operations cost on one kernel, and what happens to QEMU and kiln meanwhile.

use measure::{Kind, Measurement, Unit};
use rustix::process::Signal;

use crate::support::{KERNEL, Place, Running, processes, until};

#[test]
fn the_figures_of_a_kernel_are_told_and_kept() {
    let place = Place::new();
    let call = ["measure", KERNEL, "--metric", "syscall/get*", "--boots", "2", "--json"];
    let done = place.kiln(call).run().expect(0);
    let measured: Measurement = done.stated();
    assert_eq!((measured.kind, measured.boots.len()), (Kind::Exact, 2));
    assert_eq!(measured.subject.label, KERNEL);
    assert_eq!(measured.subject.release, "6.1.0-56-cloud-amd64");
    let getppid = measured.metrics.iter().find(|metric| metric.name == "syscall/getppid").expect("asked for");
    assert_eq!(getppid.unit, Unit::Instructions);
    let [first, second] = &getppid.values[..] else { panic!("{getppid:?}") };
    assert_eq!((first.min, first.max), (second.min, second.max));
    assert!((100.0..2_000.0).contains(&first.median), "{first:?}");
    let detail = getppid.detail.as_ref().expect("the plugin watched");
    let sum: u64 = detail.functions.iter().map(|function| function.instructions).sum();
    assert_eq!(sum, detail.kernel);
    assert!(detail.functions.iter().any(|function| function.name == "__x64_sys_getppid"), "{detail:?}");

    let folder = place.path().join("state/kiln/measurements");
    let kept: Vec<_> = std::fs::read_dir(folder).expect("made").flatten().map(|entry| entry.path()).collect();
    let [kept] = &kept[..] else { panic!("{kept:?}") };
    let text = std::fs::read_to_string(kept.join("measurement.json")).expect("kept");
    assert_eq!(serde_json::from_str::<Measurement>(&text).expect("the same"), measured);
}

#[test]
fn events_are_the_same_where_functions_are_profiled_and_where_they_are_not() {
    let place = Place::new();
    let call =
        ["measure", KERNEL, "--metric", "pipe/round-trip", "--metric", "fault/*", "--boots", "2", "--json"];
    let measured: Measurement = place.kiln(call).run().expect(0).stated();
    let value = |name: &str| {
        let metric = measured.metrics.iter().find(|metric| metric.name == name).expect(name);
        let [profiled, counted] = &metric.values[..] else { panic!("{metric:?}") };
        assert_eq!((profiled.min, profiled.max), (counted.min, counted.max), "{metric:?}");
        counted.median
    };
    assert_eq!(value("pipe/round-trip:context-switches"), 2.0);
    assert_eq!(value("pipe/round-trip:system-calls"), 4.0);
    assert_eq!(value("fault/anonymous-read:page-faults"), 1.0);
}

#[test]
fn a_program_is_measured_with_what_it_asked_for_or_not_at_all() {
    let place = Place::new();
    let program = place.program("asks", "return access(\"/sys/module/loop\", F_OK) != 0;");
    let measure = |need: &str| {
        let program = program.to_str().expect("paths of tests are UTF-8");
        place.kiln(["measure", KERNEL, "--exec", program, "--boots", "1", "--need", need])
    };
    let text = place.file("text", "for the program");
    let done = measure("module loop").with_input(&text).run().expect(0);
    assert!(done.stderr.starts_with("note "), "it comes before the boot: {}", done.stderr);
    assert!(done.stderr.contains("standard input is not passed to the program"), "{}", done.stderr);
    done.says("asks");
    measure("module nowhere").run().expect(3).says("skip    asks: the kernel has no module nowhere");
    let none = measure("device /dev/nowhere").run().expect(3).says("skip    asks: needs device=/dev/nowhere");
    assert!(!none.stderr.contains("standard input"), "{}", none.stderr);
}

#[test]
fn the_suite_can_be_listed() {
    let place = Place::new();
    let done = place.kiln(["cases", "--suite", "micro", "--json"]).run().expect(0);
    let names: Vec<String> = done
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["name"].to_string())
        .collect();
    assert!(names.len() >= 100, "{}", names.len());
    assert!(names.contains(&"\"syscall/getppid\"".to_string()), "{names:?}");
    let unique: std::collections::HashSet<&String> = names.iter().collect();
    assert_eq!(unique.len(), names.len());
}

#[test]
fn an_interrupt_during_the_boot_leaves_nothing() {
    let place = Place::new();
    let call = place.kiln(["measure", KERNEL, "--metric", "syscall/getppid"]);
    let running = call.env("XDG_CACHE_HOME", place.templates()).start();
    running.qemu();
    running.signal(Signal::INT);
    let done = running.wait().expect(130);
    assert!(done.stdout.is_empty(), "{}", done.stdout);
}

/// kiln that measures a program which never ends, on a machine that has booted.
fn endless(place: &Place) -> Running {
    let program = place.program("endless", "for (;;) asm volatile(\"\");");
    let program = program.to_str().expect("paths of tests are UTF-8");
    // A store of its own: no machine of an earlier call is kept there.
    let call = place.kiln(["measure", KERNEL, "--boots", "1", "--exec", program]);
    let running = call.env("XDG_CACHE_HOME", place.templates()).start();
    running.await_stderr("booted");
    running
}

#[test]
fn an_interrupt_while_a_program_is_measured_leaves_nothing() {
    let place = Place::new();
    let running = endless(&place);
    running.qemu();
    running.signal(Signal::INT);
    running.wait().expect(130);
    let kept = std::fs::read_dir(place.path().join("state/kiln/measurements"));
    assert_eq!(kept.map_or(0, Iterator::count), 0);
}

#[test]
fn a_guest_does_not_outlive_a_kiln_that_is_killed_while_it_measures() {
    let place = Place::new();
    let running = endless(&place);
    let qemu = running.qemu();
    running.signal(Signal::KILL);
    // Waiting ends when no process of the session is left, QEMU included.
    assert_eq!(running.wait().code, None);
    assert!(!std::path::Path::new(&format!("/proc/{qemu}/exe")).exists());
}

#[test]
fn a_qemu_that_is_killed_while_it_measures_is_reported() {
    let place = Place::new();
    let running = endless(&place);
    // One that is killed before its guest goes on is followed by one without plugin.
    until("kiln ends", || {
        let all = processes::marked(running.mark());
        let qemus = all.iter().filter(|process| process.name.starts_with("qemu"));
        qemus.for_each(|qemu| processes::kill_if_alive(qemu.id));
        all.iter().all(|process| process.name != "kiln").then_some(())
    });
    let done = running.wait().expect(3);
    let text = format!("{}{}", done.stdout, done.stderr);
    assert!(text.contains("QEMU: ended by signal 9"), "{text}");
}
