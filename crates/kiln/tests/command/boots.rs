//! Kernels that do not come up, each told from the others and shown with its console.

use std::path::Path;

use judge::{Blame, Outcome, Run};

use crate::support::{Call, Done, KERNEL, Place};

/// A session whose only Run is a boot that failed like this.
fn fails(call: Call, code: i32, outcome: Outcome, blame: Option<Blame>) -> (Run, Done) {
    let done = call.run().expect(code);
    let run = done.document("boot");
    assert_eq!((run.outcome, run.blame), (outcome, blame), "{run:?}");
    assert_eq!(done.session()["summary"]["not_run"], 1);
    let reason = run.reason.clone();
    (run, done.says(&reason))
}

fn image(place: &Place, path: &Path) -> Call {
    let path = path.to_str().expect("paths of tests are UTF-8");
    place.kiln(["run", path, "--case", "pipe/full", "--timeout", "3s"])
}

#[test]
fn a_panic_before_user_space_is_a_crash() {
    let place = Place::new();
    let call = place.kiln(["run", KERNEL, "--case", "pipe/full", "--append", "rdinit=/nowhere"]);
    let (run, done) = fails(call, 1, Outcome::Crash, None);
    assert!(run.reason.contains("VFS: Unable to mount root fs"), "{}", run.reason);
    assert!(
        run.evidence.iter().any(|line| line.contains("Kernel panic - not syncing")),
        "{:?}",
        run.evidence
    );
    done.says("Kernel panic - not syncing: VFS: Unable to mount root fs");
}

#[test]
fn an_image_that_says_nothing_has_no_console() {
    let place = Place::new();
    let silent = place.silent_image();
    let (run, _) = fails(image(&place, &silent), 3, Outcome::Broken, Some(Blame::Machine));
    assert!(run.reason.starts_with("no output on the console within"), "{}", run.reason);
    assert!(run.evidence.iter().any(|line| line.contains("EIP=")), "where it is: {:?}", run.evidence);
}

#[test]
fn a_silent_kernel_is_at_fault_if_its_configuration_has_the_console() {
    for (options, code, outcome, blame, why) in [
        (&["PRINTK"][..], 3, Outcome::Broken, Some(Blame::Machine), "the kernel was built without"),
        (&["PRINTK", "SERIAL_8250_CONSOLE"], 1, Outcome::Hang, None, "its configuration has"),
    ] {
        let place = Place::new();
        let kernel = place.installed(&place.silent_image(), options);
        let (run, _) = fails(image(&place, &kernel), code, outcome, blame);
        assert!(run.reason.starts_with("no output on the console within"), "{}", run.reason);
        assert!(run.reason.ends_with(&format!("{why} CONFIG_SERIAL_8250_CONSOLE")), "{}", run.reason);
    }
}

#[test]
fn a_panic_before_there_is_a_console_is_read_from_the_memory() {
    let place = Place::new();
    let panicked = place.image_that_panicked(false);
    let (run, _) = fails(image(&place, &panicked), 1, Outcome::Crash, None);
    assert_eq!(run.reason, "the kernel panicked: made up");
    let shows = |text: &str| run.evidence.iter().position(|line| line.contains(text));
    let order = [
        shows("which it did not print"),
        shows("Linux version 6.1.0-made-up"),
        shows("syncing: made up"),
        shows("EIP="),
    ];
    assert!(order.is_sorted() && order[0].is_some(), "{order:?} in {:?}", run.evidence);
}

#[test]
fn a_panic_before_there_is_a_console_is_found_though_the_kernel_restarts() {
    let place = Place::new();
    let panicked = place.image_that_panicked(true);
    let (run, _) = fails(image(&place, &panicked), 1, Outcome::Crash, None);
    assert_eq!(run.reason, "the kernel panicked: made up");
    assert!(run.evidence.iter().any(|line| line.contains("Linux version 6.1.0-made-up")), "{run:?}");
}

#[test]
fn a_real_panic_that_nothing_prints_is_read_from_the_memory() {
    // Without a level even a panic is not printed; with so little memory it comes before there is a timer, and the kernel
    // does not restart.
    for (isolation, append, title) in [
        ("case", "mem=2M", "Cannot find place for new RAMDISK of size "),
        ("suite", "mem=2M", "Cannot find place for new RAMDISK of size "),
        ("suite", "rdinit=/nowhere", "VFS: Unable to mount root fs on unknown-block(0,0)"),
    ] {
        let place = Place::new();
        let append = format!("nokaslr loglevel=0 {append}");
        let arguments = ["run", KERNEL, "--case", "pipe/full", "--isolation", isolation, "--append", &append];
        let (run, _) = fails(place.kiln(arguments), 1, Outcome::Crash, None);
        let is_titled = run.reason.starts_with(&format!("the kernel panicked: {title}"));
        assert!(is_titled, "{isolation} {append}: {}", run.reason);
        let shows = |text: &str| run.evidence.iter().position(|line| line.contains(text));
        let order = [
            shows("bootconsole [earlyser0] enabled"),
            shows("which it did not print"),
            shows("Kernel panic - not syncing"),
        ];
        assert!(order.is_sorted() && order[0].is_some(), "{order:?} in {:?}", run.evidence);
    }
}

#[test]
fn a_kernel_that_stops_early_hangs() {
    let place = Place::new();
    let stops = place.image_that_stops();
    let (run, done) = fails(image(&place, &stops), 1, Outcome::Hang, None);
    assert!(run.reason.starts_with("the kernel stopped after 1 lines on the console"), "{}", run.reason);
    assert!(run.evidence.iter().any(|line| line == "hi"), "{:?}", run.evidence);
    done.says("hi");
}

#[test]
fn a_kernel_that_resets_the_machine_crashed() {
    let place = Place::new();
    let resets = place.image_that_resets();
    let (run, _) = fails(image(&place, &resets), 1, Outcome::Crash, None);
    assert_eq!(run.reason, "the machine was reset without a message (a triple fault?)");
}

#[test]
fn a_kernel_without_a_second_serial_port_cannot_be_talked_to() {
    let place = Place::new();
    let call = place.kiln(["run", KERNEL, "--case", "pipe/full", "--append", "8250.nr_uarts=1"]);
    let (run, _) = fails(call, 3, Outcome::Broken, Some(Blame::Machine));
    assert!(run.reason.starts_with("the agent found no control port"), "{}", run.reason);
}

#[test]
fn what_qemu_refuses_is_said_in_its_words() {
    let place = Place::new();
    let call = place.kiln(["run", KERNEL, "--case", "pipe/full", "--cpus", "255"]);
    let done = call.env("PATH", fake_qemu(&place)).run().expect(3);
    assert_eq!(done.document("boot").reason, "QEMU: no such thing (exit status 1)");
}

/// A folder for PATH with a QEMU that refuses everything.
fn fake_qemu(place: &Place) -> String {
    let script = place.script("qemu-system-x86_64", "echo qemu-system-x86_64: no such thing >&2\nexit 1");
    let folder = script.parent().expect("it has one").display().to_string();
    format!("{folder}:{}", std::env::var("PATH").expect("cargo needs it"))
}

/// Switches the tracepoint under all system calls on and off: the kernel changes code that both of its CPUs execute.
const SWITCHES: &str = "mount -t tracefs none /sys/kernel/tracing 2>/dev/null
cd /sys/kernel/tracing || exit 9
while :; do read line < /proc/uptime; done & other=$!
i=0
while [ $i -lt 100 ]; do
    echo 1 > events/raw_syscalls/enable && echo 0 > events/raw_syscalls/enable || exit 8
    i=$((i+1))
done
kill $other";

#[test]
fn a_kernel_changes_code_that_two_cpus_execute() {
    let place = Place::new();
    let program = place.script("switches", SWITCHES);
    place.exec(&program, &["--cpus", "2"]).run().expect(0).says("1 pass");
}
