//! Programs that are measured in a user space.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use judge::Outcome;
use measure::{Measurement, Metric};
use verdict::{Comparison, Verdict};

use crate::support::root::{DEBIAN, hostile, with_busybox};
use crate::support::{BUILD, Call, KERNEL, Place, cache, text};

/// A measurement of a program of the host in a root on one boot of the stock kernel.
fn measure(place: &Place, root: &Path, program: &Path) -> Call {
    let program = text(program);
    place.kiln(["measure", KERNEL, "--boots", "1", "--json", "--root", text(root), "--exec", program])
}

/// What it says of the program.
fn of_program(measured: &Measurement) -> &Metric {
    measured.metrics.iter().find(|metric| metric.name == "job").expect("the program")
}

/// On a machine that was kept, and on one that was booted anew.
#[test]
fn a_program_of_packages_costs_the_same_each_time() {
    let place = Place::new();
    let job = place.script("job", "ip -V && touch /usr/bin/written");
    let call = || measure(&place, Path::new(DEBIAN), &job);
    let done = call().run_within(BUILD).expect(0);
    assert!(done.stderr.contains("root debian:iproute2: Debian"), "{}", done.stderr);
    let first: Measurement = done.stated();
    let machine = &first.subject.machine;
    assert!(machine.contains("root debian:iproute2, hash of the root "), "{machine}");
    let templates = place.templates();
    symlink(cache().join("kiln/roots"), templates.join("kiln/roots")).expect("writable");
    let anew = call().env("XDG_CACHE_HOME", text(&templates)).run_within(BUILD).expect(0);
    for again in [call().run().expect(0), anew] {
        let again: Measurement = again.stated();
        assert_eq!(again.subject, first.subject);
        let (again, first) = (of_program(&again), of_program(&first));
        assert!(!first.values.is_empty() && again.values == first.values, "{again:?}");
    }
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn programs_are_compared_in_a_root() {
    let place = Place::new();
    let root = with_busybox(&place);
    let few = place.script("few", "busybox true");
    let more = place.script("more", "for i in 1 2 3; do busybox true; done");
    let call = ["compare", KERNEL, "--boots", "1", "--json", "--root", text(&root)];
    let call = [&call[..], &["--exec-a", text(&few), "--exec-b", text(&more)]].concat();
    let comparison: Comparison = place.kiln(call).run_within(BUILD).expect(1).stated();
    let [other] = &comparison.others[..] else { panic!("{comparison:?}") };
    assert_eq!(other.subject.machine, comparison.base.machine);
    let row = other.rows.iter().find(|row| row.metric == "workload").expect("the programs");
    assert_eq!(row.verdict, Verdict::Worse, "{row:?}");
}

/// What is wrong with a root is never the kernel's fault.
#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_program_that_cannot_run_in_its_root_is_broken() {
    let place = Place::new();
    let exit = place.script("job", "exit 0");
    let no_filesystem = place.path().join("damaged.squashfs");
    fs::write(&no_filesystem, [&b"hsqs"[..], &[0xff; (2 << 20) - 4]].concat()).expect("writable");
    let other = Place::new();
    let python = other.file("job", "#!/usr/bin/python3\nprint('hello')\n");
    fs::set_permissions(&python, PermissionsExt::from_mode(0o755)).expect("it is ours");
    for (root, job, why) in [
        (hostile(&place), &exit, "the root cannot be used: "),
        (no_filesystem, &exit, "the root cannot be used: mounting /kiln/lower: "),
        (
            with_busybox(&other),
            &python,
            "cannot execute /usr/local/bin/workload: there is no /usr/bin/python3",
        ),
    ] {
        let measured: Measurement = measure(&place, &root, job).run_within(BUILD).expect(3).stated();
        let not = of_program(&measured).not_measured.as_ref().expect("broken");
        assert!(not.outcome == Outcome::Broken && not.reason.starts_with(why), "{not:?}");
    }
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn roots_in_which_nothing_can_be_measured() {
    let place = Place::new();
    let job = place.script("job", "exit 0");
    let (none, odd) = (place.file("none", "text"), place.path().join("odd.squashfs"));
    fs::write(&odd, [&b"hsqs"[..], &[0; 4096]].concat()).expect("writable");
    for (root, words) in [
        (Path::new("host"), "root host: figures would depend on when this host answers for its files"),
        (Path::new("debian:no-such-package-here"), "has no package no-such-package-here"),
        (&none, "not an image of a file system"),
        (&odd, "`truncate -s %2M "),
    ] {
        let done = measure(&place, root, &job).run_within(BUILD).expect(2);
        assert!(done.stderr.contains(words), "{}", done.stderr);
    }
    let done = place.kiln(["measure", KERNEL, "--root", text(&odd)]).run().expect(2);
    assert!(done.stderr.contains("--root has no effect on the suite of operations"), "{}", done.stderr);
}
