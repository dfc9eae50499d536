//! Roots whose own init runs services.

use std::fs;
use std::path::{Path, PathBuf};

use judge::{Blame, Outcome, Run};

use crate::support::root::with_busybox;
use crate::support::{BUILD, Call, KERNEL, Place, UML, text};

/// A root directory with busybox, and this as its init.
pub(crate) fn with_init(place: &Place, init: &Path) -> PathBuf {
    let root = with_busybox(place);
    fs::create_dir(root.join("sbin")).expect("writable");
    fs::copy(init, root.join("sbin/init")).expect("writable");
    root
}

/// What a script does in it, with these options.
fn job(place: &Place, kernel: &str, root: &Path, body: &str, more: &[&str]) -> Call {
    let job = place.script("job", body);
    place.exec_on(kernel, &job, &[&["--root", text(root), "--systemd"], more].concat())
}

#[test]
fn programs_run_beside_the_services_of_a_root() {
    for kernel in [UML, KERNEL] {
        let place = Place::new();
        let root = with_init(&place, &place.kept_program("init"));
        let body = "busybox test $(busybox cat /proc/1/comm) = init || exit 1
            busybox test $(busybox cat /proc/self/comm) = busybox || exit 2
            busybox sleep 1000 &
            exit 0";
        let run = job(&place, kernel, &root, body, &[]).run().expect(0).only_run();
        assert!(run.notes.is_empty(), "its init takes care of what is left: {run:?}");
        // One that never ends is ended alone.
        let place = Place::new();
        let endless = job(&place, kernel, &root, "while :; do :; done", &["--case-timeout", "2s"]);
        let run = endless.run().expect(1).only_run();
        assert_eq!(run.outcome, Outcome::Hang, "{run:?}");
    }
}

fn breaks(run: &Run, why: &str) {
    assert_eq!((run.outcome, run.blame), (Outcome::Broken, Some(Blame::Case)), "{run:?}");
    assert!(run.reason.contains(why), "{}", run.reason);
}

#[test]
fn an_init_that_fails_breaks_its_cases_and_no_verdict() {
    let place = Place::new();
    let bare = with_busybox(&place);
    let run = job(&place, UML, &bare, "exit 0", &[]).run().expect(3).only_run();
    breaks(&run, "it has no /sbin/init, which Debian's package systemd-sysv brings");

    let place = Place::new();
    let ends = with_init(&place, &place.script("ends", "exit 3"));
    breaks(&job(&place, UML, &ends, "exit 0", &[]).run().expect(3).only_run(), "its /sbin/init ended with");

    let place = Place::new();
    let silent = with_init(&place, &place.script("silent", "while :; do busybox sleep 9; done"));
    let run = job(&place, UML, &silent, "exit 0", &["--timeout", "9s"]).run().expect(3).only_run();
    breaks(&run, "its /sbin/init did not say within 9 s that its services are started");
}

#[test]
fn an_init_that_ends_takes_all_programs_with_it() {
    let place = Place::new();
    let root = with_init(&place, &place.kept_program("init"));
    let suite = place.suite(&[("first", "kill 1; while :; do :; done"), ("second", "exit 0")]);
    let alone = ["run", UML, "--no-retry", "--isolation", "suite", "--suite", &suite];
    let call = place.kiln([&alone[..], &["--root", text(&root), "--systemd"]].concat());
    let runs = call.run().expect(3).finished();
    let cases: Vec<&Run> = runs.iter().filter(|run| !run.is_boot).collect();
    assert_eq!(cases.len(), 2, "{runs:#?}");
    cases.iter().for_each(|run| breaks(run, "its init has ended, and with it all of its programs"));
}

/// The threads that there may be are fewer than there are.
#[test]
fn an_init_outlives_a_fork_that_fails() {
    let place = Place::new();
    let root = with_init(&place, &place.kept_program("init"));
    let job = job(&place, KERNEL, &root, "echo 20 > /proc/sys/kernel/threads-max", &[]);
    job.run().expect(0);
}

#[test]
fn systemd_needs_a_root_of_its_own() {
    let place = Place::new();
    let job = place.script("job", "exit 0");
    let alone = place.exec(&job, &["--systemd"]).run().expect(2);
    assert!(alone.stderr.contains("--root <ROOT>"), "{}", alone.stderr);
    let host = place.exec(&job, &["--systemd", "--root", "host"]).run().expect(2);
    assert!(host.stderr.contains("systemd needs a root of its own"), "{}", host.stderr);
}

#[test]
#[ignore = "makes a user space with systemd and boots it: a minute of CPU"]
fn programs_have_the_services_of_a_stock_systemd() {
    let place = Place::new();
    let suite = place.suite(&[
        ("running", "test \"$(systemctl is-system-running)\" = running"),
        ("service", "systemd-run --wait --quiet true && ! systemd-run --wait --quiet false"),
        ("journal", "journalctl --quiet --boot --unit systemd-journald | grep -q Journal"),
    ]);
    let root = ["--root", "debian:systemd-sysv,dbus", "--systemd"];
    let call = place.kiln([&["run", KERNEL, "--no-retry", "--suite", &suite], &root[..]].concat());
    let done = call.run_within(BUILD).expect(0);
    assert_eq!(done.finished().len(), 3);
}
