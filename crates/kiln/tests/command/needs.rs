//! What a user asks for beside a program or a suite: it is there, or what needs it is skipped.

use judge::{Blame, Outcome, Run};

use crate::support::{KERNEL, Place};

/// A static program that makes an ext4 on its disk, writes a file and reads it back, and exits with 7.
const USES_DISK: &str = r#"
char *mkfs[] = { "mkfs.ext4", "-q", "/dev/vda", NULL };
pid_t child = fork();
if (!child) { execvp(mkfs[0], mkfs); _exit(9); }
int status, fd;
char text[6] = "";
if (waitpid(child, &status, 0) != child || status) { printf("mkfs: %d\n", status); return 1; }
mkdir("/tmp/disk", 0700);
if (mount("/dev/vda", "/tmp/disk", "ext4", 0, NULL)) { perror("mount"); return 1; }
fd = open("/tmp/disk/file", O_RDWR | O_CREAT, 0600);
if (write(fd, "kiln\n", 5) != 5 || fsync(fd) || pread(fd, text, 5, 0) != 5) { perror("file"); return 1; }
printf("%ld CPUs, %s", sysconf(_SC_NPROCESSORS_ONLN), text);
close(fd);
umount("/tmp/disk");
return 7;
"#;

const NEEDS: &str = "fs=ext4,program=mkfs.ext4,disk=64M";

#[test]
fn a_program_finds_what_it_asked_for_also_when_it_is_replayed() {
    let place = Place::new();
    let program = place.program("uses-disk", USES_DISK);
    let done = place.exec(&program, &["--need", NEEDS, "--need", "cpus=2"]).run().expect(7);
    assert_eq!(done.document("uses-disk").output, "2 CPUs, kiln\n");
    place.kiln(["replay", "last"]).run().expect(7).says("same as before: fail uses-disk: exit status 7");
}

#[test]
fn the_reproducer_of_a_race_in_xfs_finds_a_fixed_kernel_whole() {
    let place = Place::new();
    let program = place.kept_program("xfs-reflink-race");
    let needs = "fs=xfs,program=mkfs.xfs,disk=512M,cpus=2";
    let done = place.exec(&program, &["--need", needs, "--", "50"]).run().expect(0);
    assert_eq!(done.document("xfs-reflink-race").output, "the original stayed whole for 50 rounds\n");
}

/// How a program that would pass ends when it asks for this.
fn asking(need: &str, more: &[&str], code: i32) -> Run {
    let place = Place::new();
    let program = place.program("passes", "");
    place.exec(&program, &[&["--need", need], more].concat()).run().expect(code).document("passes")
}

#[test]
fn a_program_without_what_it_asked_for_is_skipped() {
    for (need, more, reason) in [
        ("module=nowhere", &[][..], "the kernel has no module nowhere"),
        ("config=UML", &[], "the kernel was built without CONFIG_UML"),
        ("program=mkfs.nothing", &[], "this host has no mkfs.nothing"),
        ("cpus=2", &["--cpus", "1"], "needs 2 CPUs, the machine has 1"),
        // The first form of --need.
        ("2 CPUs", &["--cpus", "1"], "needs 2 CPUs, the machine has 1"),
        // Only the running kernel can say.
        ("fs=nowhere", &[], "needs fs=nowhere, which this machine does not have"),
        ("device=/dev/nowhere", &[], "needs device=/dev/nowhere, which this machine does not have"),
    ] {
        let run = asking(need, more, 4);
        assert_eq!((run.outcome, run.reason.as_str()), (Outcome::Skip, reason));
    }
    assert_eq!(asking("device=/dev/null,capability=21,module loop", &[], 0).outcome, Outcome::Pass);
}

#[test]
fn each_case_of_a_suite_finds_what_was_asked_for_also_when_it_is_replayed() {
    let place = Place::new();
    let body = "test -e /sys/module/loop && nproc && test -b /dev/vda && blockdev --getsize64 /dev/vda";
    let suite = place.suite(&[("one", body), ("two", body), ("misses", "frob --now")]);
    let run = |need: &str, more: &[&str]| {
        place.kiln([&["run", KERNEL, "--no-retry", "--suite", &suite, "--need", need], more].concat()).run()
    };
    let done = run("module=loop,cpus=2,disk=64M,program=blockdev", &[]).expect(3);
    for case in ["one", "two"] {
        assert_eq!(done.document(case).output, "2\n67108864\n");
    }
    let misses = done.document("misses");
    assert_eq!((misses.outcome, misses.blame), (Outcome::Broken, Some(Blame::Case)));
    assert_eq!(misses.reason, "exit status 127: its shell cannot run frob");
    place.kiln(["replay", "last/two"]).run().expect(0).says("same as before: pass two");
    let elsewhere = place.path().join("elsewhere").display().to_string();
    let skipped = run("module=nowhere", &["--results", &elsewhere]).expect(4);
    skipped.says("skip    the kernel has no module nowhere: misses one two");
}
