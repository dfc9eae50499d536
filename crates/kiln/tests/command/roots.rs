//! User spaces for programs: Debian's packages, this host's files, directories and images.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use judge::{Blame, Outcome};
use protocol::count::CountReport;

use crate::support::bundle::says_the_same;

use crate::support::root::{DEBIAN, hostile, with_busybox};
use crate::support::{BUILD, COMPLETE, Call, KERNEL, Place, UML, text};

/// A program of the host in a root on the stock kernel.
fn in_root(place: &Place, root: &str, program: &Path) -> Call {
    place.exec(program, &["--root", root])
}

/// A script for the bash of a root, which ends with the first command that fails.
fn bash(place: &Place, name: &str, body: &str) -> PathBuf {
    let path = place.script(name, "");
    fs::write(&path, format!("#!/bin/bash\nset -e\n{body}\n")).expect("writable");
    path
}

#[test]
fn programs_of_packages_run_on_a_stock_kernel() {
    let place = Place::new();
    let body = "ip -V | grep iproute2
        dpkg --status iproute2 | grep -q installed
        test $(cat /etc/hostname) = kiln
        # What is written goes to memory, and the next clone does not see it.
        test ! -e /usr/bin/written
        touch /usr/bin/written
        # A root as any other: in a chroot, user namespaces are refused.
        unshare --user --map-root-user --mount true
        test $(id -u nobody) = 65534
        test $PWD = /tmp
        # The machine's own file systems are there, and the agent's files are not.
        test -r /proc/kallsyms -a -d /sys/fs/cgroup -a -w /dev/shm
        test ! -e /kiln -a ! -e /init
        kiln-report pass 'reported from the root'";
    for place in [&place, &Place::new()] {
        let job = bash(place, "job", body);
        let done = in_root(place, DEBIAN, &job).run_within(BUILD).expect(0).says("root debian:iproute2");
        let run = done.only_run();
        assert_eq!(run.outcome, Outcome::Pass, "{run:?}");
        assert!(run.reports.iter().any(|report| report.text.contains("from the root")), "{run:?}");
        assert!(run.notes.is_empty(), "nothing is left behind: {run:?}");
    }
    let tree = place.kiln(["shell", KERNEL, "--root", DEBIAN, "-c", "dpkg --status iproute2 && exit 7"]);
    tree.run().expect(7).says("Package: iproute2");
}

/// With its root, it is run without kiln.
#[test]
fn a_failure_in_a_root_is_handed_over() {
    let place = Place::new();
    let root = with_busybox(&place);
    let job = place.script("job", "busybox test -e /usr/bin/busybox && exit 9");
    let done = in_root(&place, text(&root), &job).run().expect(9);
    says_the_same(&place, &done, "job");
    place.kiln(["replay", "last"]).run().expect(9).says("same as before");
}

/// A folder is there under its own path, and its programs find what the root has.
#[test]
fn suites_run_in_a_root() {
    let place = Place::new();
    let suite = place.suite(&[("finds", "command -v ip"), ("lacks", "command -v no-such-program")]);
    let call = place.kiln(["run", KERNEL, "--no-retry", "--suite", &suite, "--root", DEBIAN]);
    let runs = call.run_within(BUILD).expect(1).finished();
    let outcome = |name: &str| runs.iter().find(|run| run.case == name).map(|run| run.outcome);
    assert_eq!((outcome("finds"), outcome("lacks")), (Some(Outcome::Pass), Some(Outcome::Fail)));
}

#[test]
fn a_directory_is_a_root_and_keeps_what_is_in_it() {
    let place = Place::new();
    let root = with_busybox(&place);
    fs::create_dir(root.join("etc")).expect("writable");
    fs::write(root.join("etc/hosts"), "mine").expect("writable");
    let job = place.script("job", "[ \"$(busybox cat /etc/hosts)\" = mine ] && [ -e /etc/passwd ]");
    in_root(&place, text(&root), &job).run().expect(0);
    // A change is seen, without being told of.
    fs::write(root.join("etc/hosts"), "other").expect("writable");
    in_root(&place, text(&root), &job).run().expect(1);
    assert!(!root.join("etc/passwd").exists() && !root.join("proc").exists());
}

/// The program of `kiln count` is this host's, as that of `kiln run` is; what it calls is the root's.
#[test]
fn instruments_look_at_programs_of_this_host_in_a_root() {
    let place = Place::new();
    let root = with_busybox(&place);
    let load = place.script("load", "(exit 0); (exit 0); exit 3");
    let call = ["count", "--in", KERNEL, "--root", text(&root), "--events", "forks", "--json", "--exec"];
    let report: CountReport = place.kiln([&call[..], &[text(&load)]].concat()).run().expect(0).stated();
    assert_eq!((report.status, report.counted.first().map(|one| one.value)), (Some(3), Some(2)));
}

/// It would run instead.
#[test]
fn a_root_may_not_have_another_program_in_the_place_of_the_users() {
    let place = Place::new();
    let root = with_busybox(&place);
    let bin = root.join("usr/local/bin");
    fs::create_dir_all(&bin).expect("writable");
    fs::copy(root.join("bin/busybox"), bin.join("job")).expect("writable");
    let job = place.script("job", "exit 0");
    let run = in_root(&place, text(&root), &job).run().expect(3).only_run();
    assert_eq!((run.outcome, run.blame), (Outcome::Broken, Some(Blame::Case)), "{run:?}");
    assert!(run.reason.contains("the root has another /usr/local/bin/job"), "{}", run.reason);
}

/// Programs begin where kiln does, and write to memory, but for a directory that is named.
#[test]
fn the_files_of_this_host_are_a_root() {
    let release = fs::read_to_string("/usr/lib/os-release").expect("every Debian has it");
    for (kernel, filesystem) in [(COMPLETE, "9p"), (UML, "hostfs")] {
        let place = Place::new();
        let kept = place.path().join("kept");
        fs::create_dir(&kept).expect("writable");
        let body = format!(
            "test $PWD = /usr/lib
            test \"$(cat os-release)\" = \"$1\"
            grep -q \" $2 {filesystem} \" /proc/mounts
            echo gone > os-release
            echo gone > /usr/bin/kiln-was-here
            echo kept > $2/file"
        );
        let job = bash(&place, "job", &body);
        let root = format!("host:{}", text(&kept));
        let call = place.exec_on(kernel, &job, &["--root", &root, "--", release.trim_end(), text(&kept)]);
        let done = call.from("/usr/lib").run_within(BUILD).expect(0);
        let run = done.only_run();
        assert!(run.notes.is_empty(), "nothing is left behind: {run:?}");
        assert_eq!(fs::read_to_string(kept.join("file")).expect("kept"), "kept\n");
        assert_eq!(fs::read_to_string("/usr/lib/os-release").expect("readable"), release);
        assert!(!Path::new("/usr/bin/kiln-was-here").exists());
    }
}

#[test]
fn the_files_of_this_host_are_not_handed_over() {
    let place = Place::new();
    let job = place.script("job", "exit 1");
    place.exec_on(COMPLETE, &job, &["--root", "host"]).run_within(BUILD).expect(1);
    let archive = place.path().join("bug.tar");
    let packed = place.kiln(["bundle", "last", "-o", text(&archive)]).run().expect(2);
    assert!(packed.stderr.contains("a bundle cannot hold the files of this host"), "{}", packed.stderr);
}

/// Whoever changes them changes what is run.
#[test]
fn what_ran_with_the_files_of_this_host_is_run_again() {
    let place = Place::new();
    let job = place.script("job", "exit 1");
    let run = |more: &[&str]| place.exec_on(UML, &job, &[&["--root", "host"], more].concat());
    run(&[]).run().expect(1);
    run(&["--resume"]).run().expect(1).says("had a root of this host's files, which may have changed");
    place.kiln(["replay", "last"]).run().expect(1).says("which may have changed since session");
}

#[test]
fn an_image_is_a_root_in_user_mode_linux_too() {
    let place = Place::new();
    let job = bash(&place, "job", "ip -V; touch /usr/bin/written");
    let done = place.exec_on(UML, &job, &["--root", DEBIAN]).run_within(BUILD).expect(0);
    assert!(done.only_run().output.starts_with("ip utility"));
}

/// Whatever its links say, the agent finds its own files, and what goes wrong is the case's.
#[test]
fn a_hostile_root_breaks_its_cases_and_no_verdict() {
    let place = Place::new();
    let root = hostile(&place);
    let job = place.script("job", "exit 0");
    let done = in_root(&place, text(&root), &job).run().expect(3);
    let run = done.only_run();
    assert_eq!((run.outcome, run.blame), (Outcome::Broken, Some(Blame::Case)), "{run:?}");
    assert!(run.reason.contains("the root cannot be used"), "{}", run.reason);
}

#[test]
fn what_a_root_lacks_is_named() {
    let place = Place::new();
    let root = with_busybox(&place);
    let python = place.file("job.py", "#!/usr/bin/python3\nprint('hello')\n");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&python, executable).expect("it is ours");
    let run = in_root(&place, text(&root), &python).run().expect(3).only_run();
    assert_eq!((run.outcome, run.blame), (Outcome::Broken, Some(Blame::Case)), "{run:?}");
    assert!(run.reason.contains("/usr/bin/python3"), "{}", run.reason);
    let place = Place::new();
    let job = place.script("job", "exit 0");
    let needs = place.exec(&job, &["--root", text(&root), "--need", "program=fio"]).run().expect(4);
    assert_eq!(needs.only_run().outcome, Outcome::Skip);
}

#[test]
fn an_image_is_a_root_unless_it_is_damaged() {
    let place = Place::new();
    let (root, image) = (with_busybox(&place), place.path().join("root.ext4"));
    let arguments = ["-q", "-t", "ext4", "-d", text(&root), text(&image), "16M"];
    let made = Command::new("mke2fs").args(arguments).status();
    assert!(made.is_ok_and(|status| status.success()));
    let job = place.script("job", "busybox touch /written");
    let before = fs::read(&image).expect("readable");
    in_root(&place, text(&image), &job).run().expect(0);
    assert!(fs::read(&image).expect("readable") == before, "nobody writes to it");
    // Its superblock is whole, the rest is not.
    let damaged = before.iter().enumerate().map(|(at, byte)| if at < 4096 { *byte } else { 0 });
    fs::write(&image, damaged.collect::<Vec<u8>>()).expect("writable");
    let place = Place::new();
    let job = place.script("job", "exit 0");
    let run = in_root(&place, text(&image), &job).run().expect(3).only_run();
    assert_eq!((run.outcome, run.blame), (Outcome::Broken, Some(Blame::Case)), "{run:?}");
}

#[test]
fn roots_that_are_none() {
    let place = Place::new();
    let job = place.script("job", "exit 0");
    let file = place.file("file", "text");
    let empty = place.path().join("empty");
    fs::create_dir(&empty).expect("writable");
    for (root, words) in [
        ("/no/such", "/no/such: no such file or directory: name a root directory"),
        (text(&file), "not an image of a file system"),
        (text(&empty), "not a root directory"),
        ("debian:Fio", "\"Fio\" is not the name of a package"),
        ("debian:no-such-package-here", "has no package no-such-package-here"),
        ("debian/no-such-suite:fio", "has no suite no-such-suite"),
        ("host:/no/such", "/no/such: no such directory: name directories of this host"),
        ("host:/", "it holds all files of this host"),
    ] {
        let done = in_root(&place, root, &job).run_within(BUILD).expect(2);
        assert!(done.stderr.contains(words), "{}", done.stderr);
    }
    let lacking = in_root(&place, "host", &job).run().expect(4);
    let reason = "the kernel has no module 9pnet_virtio, which --root host needs";
    assert_eq!(lacking.only_run().reason, reason);
    let own = place.kiln(["run", KERNEL, "--case", "pipe/*", "--root", text(&empty)]).run().expect(2);
    assert!(own.stderr.contains("no effect on kiln's own cases"), "{}", own.stderr);
}
