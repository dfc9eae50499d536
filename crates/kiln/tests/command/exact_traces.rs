//! `kiln trace --exact`: what a kernel does is the same each time.

use serde_json::Value;

use crate::support::{Done, KERNEL, Place, text};

fn recorded(place: &Place, name: &str, more: &[&str]) -> Done {
    let output = place.path().join(name);
    place.kiln([&["trace", "--exact", "--in", KERNEL, "-o", text(&output)], more].concat()).run()
}

/// What `kiln trace diff` says of two recordings, in its first line.
fn compared(place: &Place, names: [&str; 2]) -> String {
    let [one, other] = names.map(|name| text(&place.path().join(name)).to_owned());
    let done = place.kiln(["trace", "diff", &one, &other]).run().expect(0);
    done.stdout.lines().next().unwrap_or_default().to_owned()
}

fn statistics(place: &Place, name: &str, filter: &str) -> Value {
    let folder = place.path().join(name);
    place
        .kiln(["trace", "view", text(&folder), "--stats", "--json", "--filter", filter])
        .run()
        .expect(0)
        .stated()
}

#[test]
fn one_case_does_the_same_each_time_and_another_does_not() {
    let place = Place::new();
    for name in ["first", "second"] {
        let done = recorded(&place, name, &["--case", "pipe/full"]).expect(0);
        assert!(
            done.stderr.contains("pipe/full: pass; ") && done.stderr.contains(", none lost"),
            "{}",
            done.stderr
        );
    }
    assert!(compared(&place, ["first", "second"]).ends_with(": the same, to the nanosecond"));
    recorded(&place, "other", &["--case", "pipe/broken"]).expect(0);
    assert!(compared(&place, ["first", "other"]).ends_with(": different"));
    let marks =
        place.kiln(["trace", "view", text(&place.path().join("first")), "--filter", "name == print"]).run();
    let lines: Vec<&str> = marks.stdout.lines().collect();
    assert!(
        lines.len() == 2
            && lines[0].contains("kiln: pipe/full begins")
            && lines[1].contains("kiln: pipe/full ends: exit status: 0"),
        "{lines:?}"
    );
}

#[test]
fn a_program_is_recorded_once_and_ends_as_it_says() {
    let place = Place::new();
    let code = "for (int i = 0; i < 5; i++) syscall(SYS_getppid); \
                puts(\"so it is\"); return argc > 1 ? atoi(argv[1]) : 0;";
    let program = text(&place.program("asking", code)).to_owned();
    let run =
        |name: &str, status: &str| recorded(&place, name, &["--only", "--exec", &program, "--", status]);
    run("well", "0").expect(0);
    assert_eq!(statistics(&place, "well", "comm == workload")["names"]["syscalls:sys_enter_getppid"], 5);
    // Only what the program does is in it, and the process that starts it.
    let foreign = statistics(&place, "well", "name == sys_enter_read && comm != workload && comm != micro");
    assert_eq!(foreign["events"], 0);
    for (name, status, code, message) in [
        ("fails", "3", 1, "asking: fail: the program ended with exit status: 3: so it is; "),
        ("skips", "4", 4, "asking: skip: the program skips: so it is; "),
    ] {
        let done = run(name, status).expect(code);
        assert!(done.stderr.contains(message), "{}", done.stderr);
    }
    let nothing = recorded(&place, "nothing", &["--exec", &program, "--events", "no:such"]).expect(4);
    assert!(
        nothing.stderr.contains("asking: skip: the kernel has none of these events"),
        "{}",
        nothing.stderr
    );
    assert!(!place.path().join("nothing").exists());
}

#[test]
fn what_cannot_be_the_same_each_time_is_refused() {
    let place = Place::new();
    let case = ["--in", KERNEL, "--exact", "--case", "pipe/full"];
    let root = text(place.path()).to_owned();
    let beside = "a recording without --exact can have";
    for (more, messages) in [
        (&["--cpus", "2"][..], ["--cpus, --need cpus=N", beside]),
        (&["--device", "balloon"], ["what is counted would depend on when the host answers for it", beside]),
        (&["--accel", "kvm"], ["only TCG counts instructions", "a recording without --exact can use KVM"]),
        (&["--buffer", "65M"], ["--buffer", "at most 64 MiB"]),
        (&["--root", &root], ["--root has no effect on kiln's own cases", "--exec"]),
        (&["--case", "pipe/*", "-o", "new"], ["-o is for one recording", "cases"]),
    ] {
        let done = place.kiln([&["trace"], &case[..], more].concat()).run().expect(2);
        messages
            .iter()
            .for_each(|message| assert!(done.stderr.contains(message), "{more:?}: {}", done.stderr));
    }
    let done = place.kiln(["trace", "--exact", "--exec", "true"]).run().expect(2);
    assert!(done.stderr.contains("--in <KERNEL>"), "{}", done.stderr);
    let done = place.kiln(["trace", "--in", KERNEL, "--case", "pipe/full", "-o", "new"]).run().expect(2);
    assert!(
        done.stderr.contains("-o is for recordings of this host and those of --exact"),
        "{}",
        done.stderr
    );
    let uml = place.kiln(["trace", "--exact", "--in", "uml:deb", "--case", "pipe/full"]).run().expect(2);
    assert!(uml.stderr.contains("build for --arch x86_64"), "{}", uml.stderr);
}
