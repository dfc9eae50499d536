//! User-Mode Linux: the same agent, cases and outcomes without QEMU.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use judge::{Blame, Outcome, Run};
use lab::Event;
use rustix::process::Signal;

use crate::support::planted::{Fault, IN_UML};
use crate::support::{Call, Done, Place, TURN, UML, processes, until};

/// A program that is in nobody's way and does not end.
const ENDLESS: &str = "kiln-report pass started; while :; do :; done";

/// Runs a program that ends like this; its document, and everything else.
fn ends(call: Call, program: &str, code: i32, outcome: Outcome, blame: Option<Blame>) -> (Run, Done) {
    let done = call.run().expect(code);
    let run = done.document(program);
    assert_eq!((run.outcome, run.blame), (outcome, blame), "{run:?}");
    let done = done.says(run.outcome.name()).says(&run.reason);
    (run, done)
}

#[test]
fn the_smoke_suite_passes_without_qemu() {
    let place = Place::new();
    let done = place.kiln(["run", UML, "--isolation", "suite"]).env("PATH", "/nowhere").run().expect(0);
    let runs = done.finished();
    assert!(runs.len() > 90, "{}", runs.len());
    for run in runs {
        let lacks =
            run.outcome == Outcome::Skip && run.reason.starts_with("the kernel was built without CONFIG_");
        let tools = run.outcome == Outcome::Skip && run.reason.starts_with("this host has no mkfs.");
        assert!(run.outcome == Outcome::Pass || lacks || tools, "{run:?}");
    }
    assert_eq!(done.session()["machine"], "UML, 1 CPU, 1024 MiB");
    assert!(!done.stdout.contains("QEMU") && !done.recorded("events.jsonl").contains("QEMU"));
}

#[test]
fn a_machine_that_cannot_be_cloned_is_booted_for_each_case_and_that_is_said_once() {
    let place = Place::new();
    let done = place.kiln(["run", UML, "--case", "pipe/*", "-j", "2"]).run().expect(0);
    let runs = done.finished();
    assert!(runs.len() >= 3 && runs.iter().all(|run| (run.outcome, run.clone) == (Outcome::Pass, 0)));
    let boots: std::collections::HashSet<u32> = runs.iter().map(|run| run.boot).collect();
    assert_eq!(boots.len(), runs.len());
    let note = "this machine cannot be cloned: the state of UML is spread over processes of the host: \
                every case gets a boot of its own";
    let notes =
        done.events().into_iter().filter(|event| matches!(event, Event::Note { text } if text == note));
    assert_eq!(notes.count(), 1, "{}", done.stdout);
}

#[test]
fn a_panic_is_a_crash_with_its_title_and_its_stack() {
    let place = Place::new();
    let text = format!("echo before\n{TURN}\necho c > /proc/sysrq-trigger\necho after");
    let program = place.script("panic", &text);
    let (run, done) = ends(place.exec_on(UML, &program, &[]), "panic", 1, Outcome::Crash, None);
    assert_eq!(run.reason, "Kernel panic: sysrq triggered crash");
    assert_eq!(run.output, "before\n");
    assert!(run.evidence.iter().any(|line| line.contains("write_sysrq_trigger")), "{:?}", run.evidence);
    done.says("Kernel panic - not syncing: sysrq triggered crash");
}

#[test]
fn a_fault_in_the_kernel_is_a_crash() {
    let place = Place::new();
    let program = place.planted_in(IN_UML, "fault", Fault::NullPointer, "");
    let (run, _) = ends(place.exec_on(UML, &program, &[]), "fault", 1, Outcome::Crash, None);
    assert!(run.reason.contains("Kernel mode fault"), "{}", run.reason);
}

#[test]
fn a_kernel_that_spins_hangs_and_is_asked_where_it_is() {
    let place = Place::new();
    let program = place.planted_in(IN_UML, "spin", Fault::Loop, "");
    let call = place.exec_on(UML, &program, &[]).impatient();
    let (run, done) = ends(call, "spin", 1, Outcome::Hang, None);
    assert!(run.reason.starts_with("the machine stopped answering for"), "{}", run.reason);
    let shows = |text: &str| run.evidence.iter().any(|line| line.contains(text));
    assert!(shows("(linux.uml): running"), "{:?}", run.evidence);
    assert!(shows("comm: spin") && shows("nls_cp437"), "what mconsole answers: {:?}", run.evidence);
    assert!(!done.stdout.contains("QEMU"));
}

#[test]
fn a_program_that_does_not_end_hangs() {
    let place = Place::new();
    let program = place.script("endless", ENDLESS);
    let call = place.exec_on(UML, &program, &["--case-timeout", "1s"]);
    let (run, _) = ends(call, "endless", 1, Outcome::Hang, None);
    assert!(run.reason.starts_with("the program did not end within "), "{}", run.reason);
}

#[test]
fn a_program_that_ends_the_machine_broke_it() {
    for (name, body, reason) in [
        ("off", "reboot(RB_POWER_OFF);", "the case powered the machine off"),
        ("halt", "reboot(RB_HALT_SYSTEM);", "the case powered the machine off"),
        ("restart", "reboot(RB_AUTOBOOT);", "the case restarted the machine"),
        ("reset", "put(\"/proc/sysrq-trigger\", \"b\"); pause();", "the case restarted the machine"),
    ] {
        let place = Place::new();
        let program = place.program(name, body);
        let call = place.exec_on(UML, &program, &[]);
        let (run, _) = ends(call, name, 3, Outcome::Broken, Some(Blame::Case));
        assert_eq!(run.reason, reason);
    }
}

#[test]
fn a_uml_that_is_killed_broke_the_machine() {
    let place = Place::new();
    let program = place.script("endless", ENDLESS);
    let running = place.exec_on(UML, &program, &[]).start();
    let uml = running.program("linux.uml");
    running.await_event("started");
    processes::signal(uml, Signal::KILL);
    let done = running.wait().expect(3).says("UML: ended by signal 9");
    let run = done.document("endless");
    assert_eq!((run.outcome, run.blame), (Outcome::Broken, Some(Blame::Machine)));
}

#[test]
fn nothing_is_left_of_a_kiln_that_is_killed() {
    let place = Place::new();
    let folders = ["home", "temporary"].map(|name| place.path().join(name));
    for folder in &folders {
        std::fs::create_dir(folder).expect("the folder is writable");
    }
    let program = place.script("endless", ENDLESS);
    let call = place.exec_on(UML, &program, &[]);
    let [home, temporary] = folders.each_ref();
    let running = call.env("HOME", home).env("TMPDIR", temporary).start();
    running.program("linux.uml");
    running.await_event("started");
    let all = processes::descendants(running.pid());
    // kiln's own two, the kernel, its helpers, and an address space for each program in it.
    assert!(all.len() >= 6, "{all:?}");
    running.signal(Signal::KILL);
    until("all of its processes are gone", || (!all.iter().any(processes::lives)).then_some(()));
    assert_eq!(running.wait().code, None);
    for folder in &folders {
        assert_eq!(std::fs::read_dir(folder).expect("it is there").count(), 0, "{}", folder.display());
    }
    assert!(!Path::new("/dev/shm/kiln").exists());
}

#[test]
fn a_kernel_that_does_not_come_up_is_told_from_a_machine_that_cannot() {
    let boot = |parameter: &str, code: i32| {
        let place = Place::new();
        let call = place.kiln(["run", UML, "--case", "pipe/full", "--append", parameter]);
        call.run().expect(code).document("boot")
    };
    let panicked = boot("rdinit=/nowhere", 1);
    assert_eq!(panicked.outcome, Outcome::Crash);
    assert!(panicked.reason.contains("Unable to mount root fs"), "{}", panicked.reason);
    let mute = boot("ssl1=none", 3);
    assert_eq!((mute.outcome, mute.blame), (Outcome::Broken, Some(Blame::Machine)));
    assert_eq!(mute.reason, "the agent found no control port: the kernel needs CONFIG_SSL");
    let refused = boot("mem=nonsense", 3);
    assert_eq!((refused.outcome, refused.blame), (Outcome::Broken, Some(Blame::Machine)));
    assert!(refused.reason.starts_with("UML: Too few physical memory!"), "{}", refused.reason);
}

#[test]
fn what_it_cannot_have_is_wrong_usage() {
    let place = Place::new();
    for (option, value, text) in [
        ("--cpus", "2", "--cpus 2: User-Mode Linux has one CPU"),
        ("--accel", "kvm", "--accel: User-Mode Linux is a program of this host"),
        ("--accel", "tcg", "--accel: User-Mode Linux is a program of this host"),
    ] {
        let done = place.kiln(["run", UML, option, value]).run().expect(2);
        assert!(done.stderr.starts_with(&format!("kiln: {text}")), "{}", done.stderr);
        assert_eq!(done.stderr.lines().count(), 1);
    }
}

#[test]
fn a_dry_run_shows_its_command_line() {
    let place = Place::new();
    let done = place.kiln(["run", UML, "--dry-run", "--cpus", "1"]).run().expect(0);
    done.says("machine    UML, 1 CPU, 1024 MiB").says("command    /usr/bin/linux.uml mem=1024M initrd=");
}

#[test]
fn the_disk_is_where_cases_look_for_it() {
    let place = Place::new();
    let arguments = ["run", UML, "--suite", "full", "--case", "fs/ext4-on-disk", "--case", "fs/direct"];
    place.kiln(arguments).run().expect(0).says("2 pass");
}

#[test]
fn the_files_of_the_host_cannot_be_mounted() {
    let place = Place::new();
    let body = r#"
        if (mount("none", "/mnt", "hostfs", 0, "/") == 0 && access("/mnt/etc", F_OK) == 0) return 1;
        puts("hidden");"#;
    let program = place.program("mounts", body);
    let done = place.exec_on(UML, &program, &[]).run().expect(0);
    assert_eq!(done.document("mounts").output, "hidden\n");
}

#[test]
fn a_command_in_its_shell_has_its_output_and_status() {
    let place = Place::new();
    let done = place.kiln(["shell", UML, "-c", "uname -r; exit 7"]).run().expect(7);
    assert_eq!(done.stdout, "6.1.176\n".replace("6.1.176", &release()));
}

/// What the program says that it is.
fn release() -> String {
    let output = Command::new(UML).arg("--version").output().expect("the package is installed");
    String::from_utf8_lossy(&output.stdout).trim().to_string()
}

#[test]
fn nobody_special_can_use_it() {
    let place = tempfile::TempDir::new().expect("a folder that others can reach");
    let path = |name: &str| place.path().join(name);
    let open_to_all = || std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(place.path(), open_to_all()).expect("it is ours");
    std::fs::copy(env!("CARGO_BIN_EXE_kiln"), path("kiln")).expect("kiln was built");
    let nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let prefix = if rustix::process::geteuid().is_root() { &nobody[..] } else { &["env"] };
    let output = Command::new(prefix[0])
        .args(&prefix[1..])
        .arg(path("kiln"))
        .args(["run", UML, "--case", "pipe/full"])
        .env("HOME", path("home"))
        .env("XDG_STATE_HOME", path("state"))
        .env("XDG_CACHE_HOME", path("cache"))
        .output()
        .expect("setpriv is part of every Debian");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("1 pass"), "{text}{:?}", output.stderr);
}
