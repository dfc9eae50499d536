//! Kernels from anywhere: other packages, and kernels that kiln builds from Debian's source.
//!
//! The builds are kept in the cache of all tests, so that they are made once.

use judge::{Outcome, Run};
use rustix::process::Signal;

use crate::support::{BUILD, Call, Place, SOURCE, processes, until};

/// All cases pass, or are skipped for what the kernel was built without.
pub(crate) fn passes_the_smoke_suite(call: Call, at_least: usize) {
    all_pass(&call.run_within(BUILD).expect(0).finished(), at_least);
}

/// So many of these Runs passed, and the others were skipped for a reason that is known.
#[track_caller]
pub(crate) fn all_pass(runs: &[Run], at_least: usize) {
    let passed = runs.iter().filter(|run| run.outcome == Outcome::Pass).count();
    assert!(passed >= at_least, "{passed} of {}", runs.len());
    for run in runs {
        let is_explained = run.outcome == Outcome::Skip && explains(&run.reason);
        assert!(run.outcome == Outcome::Pass || is_explained, "{run:?}");
    }
}

fn explains(reason: &str) -> bool {
    ["the kernel was built without CONFIG_", "the kernel has no module ", "needs ", "this host has no "]
        .iter()
        .any(|start| reason.starts_with(start))
}

/// Scheduler, timers and locks are what its kernel does in another way.
#[test]
#[ignore = "takes most of a minute of CPU"]
fn another_package_passes_cases_of_the_smoke_suite() {
    let place = Place::new();
    let cases =
        ["futex/*", "epoll/*", "event/*", "pipe/*", "process/*", "signal/*", "time/*", "timer/*", "module/*"];
    let cases = cases.iter().flat_map(|pattern| ["--case", pattern]);
    passes_the_smoke_suite(place.kiln(["run", "deb:6.1.0-50-rt-amd64"].into_iter().chain(cases)), 20);
}

#[test]
fn debians_user_mode_linux_is_one_locator_away() {
    let place = Place::new();
    passes_the_smoke_suite(place.kiln(["run", "uml:deb", "--case", "fs/*", "--isolation", "suite"]), 1);
}

#[test]
#[ignore = "takes minutes"]
fn debians_source_becomes_a_kernel_that_passes_the_smoke_suite_in_qemu() {
    let place = Place::new();
    let locator = place.built(&["--config", "tiny"]);
    assert_eq!(place.built(&["--config", "tiny"]), locator, "the same is built once");
    let listed = place.kiln(["kernels", &locator]).run().expect(0);
    assert!(listed.stdout.contains("x86_64 tiny"), "{}", listed.stdout);
    passes_the_smoke_suite(place.kiln(["run", &locator]), 50);
}

#[test]
#[ignore = "takes minutes"]
fn the_same_source_is_a_kernel_without_qemu_and_its_own_tests_are_read() {
    let place = Place::new();
    let locator = place.built(&["--config", "kunit", "--arch", "um"]);
    let smoke = place.kiln(["run", &locator, "--isolation", "suite"]).env("PATH", "/usr/sbin:/sbin:/nowhere");
    passes_the_smoke_suite(smoke, 50);

    let other = Place::new();
    let done = other.kiln(["kunit", SOURCE]).run_within(BUILD).expect(0);
    let runs = done.finished();
    assert!(runs.len() > 20, "{}", runs.len());
    assert!(runs.iter().all(|run| matches!(run.outcome, Outcome::Pass | Outcome::Skip)), "{runs:?}");
    assert!(runs.iter().any(|run| run.case == "list-kunit-test/list_test_list_init"), "{runs:?}");
    assert_eq!(done.session()["machine"], "UML, 1 CPU, 1024 MiB");

    let one = Place::new();
    let some = one.kiln(["kunit", &locator, "--suite", "list*", "--format", "ktap"]).run().expect(0);
    assert!(some.stdout.starts_with("KTAP version 1\n1.."), "{}", some.stdout);
    assert!(some.finished().iter().all(|run| run.case.starts_with("list")), "{}", some.stdout);
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn what_the_tree_cannot_give_is_told_with_the_reason_of_its_kconfig() {
    let place = Place::new();
    let fragment = place.file("my.config", "CONFIG_INET=y\nCONFIG_NO_SUCH_THING=y\nCONFIG_PRINTK=y\n");
    let fragment = fragment.to_str().expect("paths of tests are UTF-8");
    let list = format!("tiny,{fragment}");
    let done = place.kiln(["build", SOURCE, "--config", &list]).run_within(BUILD).expect(2);
    for text in ["CONFIG_INET=y", "depends on", "CONFIG_NO_SUCH_THING=y", "no option of that name"] {
        assert!(done.stderr.contains(text), "{}", done.stderr);
    }
    assert!(!done.stderr.contains("CONFIG_PRINTK"), "{}", done.stderr);
}

#[test]
fn a_host_without_bison_is_told_what_to_install() {
    let place = Place::new();
    let bin = place.path().join("bin");
    std::fs::create_dir(&bin).expect("writable");
    for tool in ["make", "gcc", "ld", "flex", "bc", "git", "apt-cache"] {
        let found = std::env::split_paths(&std::env::var_os("PATH").expect("there is a PATH"))
            .map(|directory| directory.join(tool))
            .find(|path| path.is_file());
        std::os::unix::fs::symlink(found.expect("scripts/setup installs it"), bin.join(tool)).expect("new");
    }
    let call = place.kiln(["build", SOURCE, "--config", "defconfig"]).env("PATH", &bin);
    let done = call.run_within(BUILD).expect(3);
    assert!(done.stderr.contains("bison is not installed"), "{}", done.stderr);
    assert!(done.stderr.contains("apt-get install bison"), "{}", done.stderr);
    assert_eq!(done.stderr.trim().lines().count(), 1, "{}", done.stderr);
}

#[test]
fn trees_and_commits_that_are_not_there() {
    let place = Place::new();
    let refused = |locator: &str, text: &str| {
        let done = place.kiln(["build", locator]).run().expect(2);
        assert!(done.stderr.contains(text), "{}", done.stderr);
    };
    refused("/nowhere", "no such directory");
    refused(env!("CARGO_MANIFEST_DIR"), "not a kernel source tree");
    refused("git:/usr@HEAD", "not a git repository");
    refused("deb-source:99.9", "apt has no such version of linux-source-99.9");
    refused("deb:latest", "is not source");
}

/// A tree that only looks like a kernel, and whose build never ends.
const ENDLESS: &str = "\
defconfig:
\t@echo 'CONFIG_64BIT=y' > $(O)/.config
olddefconfig prepare:
\t@:
all:
\t@sleep 1000 & wait
";

#[test]
fn a_build_dies_with_kiln_and_is_taken_up_again() {
    let place = Place::new();
    let tree = place.path().join("linux");
    for directory in ["arch", "init"] {
        std::fs::create_dir_all(tree.join(directory)).expect("writable");
    }
    std::fs::write(tree.join("Makefile"), ENDLESS).expect("writable");
    std::fs::write(tree.join("Kconfig"), "config 64BIT\n\tdef_bool y\n").expect("writable");
    let tree = tree.to_str().expect("paths of tests are UTF-8");
    let build = || {
        let running = place.kiln(["build", tree, "--config", "defconfig"]).start();
        // Its sandbox lets it write nothing into the tree, so what counts is what runs below kiln.
        let all = until("the build has begun", || {
            let all = processes::descendants(running.pid());
            processes::any_runs(&all, "sleep").then_some(all)
        });
        assert!(all.len() > 3, "make, its shells, and those who wait for them: {all:?}");
        (running, all)
    };
    let (running, all) = build();
    running.signal(Signal::KILL);
    running.wait();
    until("all of them are gone", || (!all.iter().any(processes::lives)).then_some(()));

    let (running, all) = build();
    running.signal(Signal::INT);
    let done = running.wait().expect(130);
    assert!(done.stderr.contains("interrupted"), "{}", done.stderr);
    until("all of them are gone", || (!all.iter().any(processes::lives)).then_some(()));
    assert!(!place.kiln(["kernels", "--state", "built"]).run().stdout.contains(tree));
}
