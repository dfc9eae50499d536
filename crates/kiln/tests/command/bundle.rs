//! `kiln bundle`: what it packs runs without kiln and says the same.

use std::process::Command;

use crate::support::bundle::{says_the_same, script, unpacked};
use crate::support::planted::Fault;
use crate::support::{KERNEL, Place, TURN, UML, kernel_of};

#[test]
fn a_case_with_a_disk_and_modules_passes() {
    let place = Place::new();
    let done = place.kiln(["run", KERNEL, "--suite", "full", "--case", "fs/direct"]).run().expect(0);
    assert_eq!(says_the_same(&place, &done, "fs/direct"), "pass    fs/direct\n");
}

#[test]
fn a_program_with_a_disk_and_modules_finds_them() {
    let place = Place::new();
    let body = r#"char *mkfs[] = { "mkfs.ext4", "-q", "/dev/vda", NULL }; execvp(mkfs[0], mkfs); return 9;"#;
    let program = place.program("makes-ext4", body);
    let needs = "file system ext4,program mkfs.ext4,a disk of 64 MiB";
    let done = place.exec(&program, &["--need", needs]).run().expect(0);
    assert_eq!(says_the_same(&place, &done, "makes-ext4"), "pass    makes-ext4\n");
}

#[test]
fn a_program_that_fails_gives_its_own_exit_status() {
    let place = Place::new();
    let program = place.script("seven", "echo \"$1\"; printf 'end exited 0\\033[m'; exit 7");
    let done = place.exec(&program, &["--append", "kiln.test='; exit 0; '", "--", "it's"]).run().expect(7);
    let text = says_the_same(&place, &done, "seven");
    assert_eq!(text, "fail    seven: exit status 7\n        output  it's\n        output  end exited 0?[m\n");
}

#[test]
fn a_panic_is_a_crash_in_every_shell() {
    let place = Place::new();
    let program = place.script("panic", &format!("echo before\n{TURN}\necho c > /proc/sysrq-trigger"));
    let done = place.exec(&program, &[]).run().expect(1);
    let text = says_the_same(&place, &done, "panic");
    assert!(text.contains("kernel  Kernel panic - not syncing: sysrq triggered crash"), "{text}");
    assert!(text.ends_with("output  before\n"), "{text}");
    let busybox = script(&place.path().join("bug"), &["busybox", "sh"]);
    assert_eq!(busybox.status.code(), Some(1));
    let first = text.lines().next().expect("a verdict");
    assert!(String::from_utf8_lossy(&busybox.stdout).starts_with(first));
}

#[test]
fn a_defect_that_the_kernel_reports_has_the_same_title() {
    let place = Place::new();
    let program = place.planted("oops", Fault::NullPointer, "");
    let done = place.exec(&program, &[]).run().expect(1);
    let text = says_the_same(&place, &done, "oops");
    assert!(text.starts_with("fail    oops: BUG: kernel NULL pointer dereference"), "{text}");
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_skip_and_a_case_that_is_broken_keep_their_reasons() {
    let place = Place::new();
    let program = place.script("skips", "kiln-report skip 'no such device'; exit 4");
    let done = place.exec(&program, &[]).run().expect(4);
    says_the_same(&place, &done, "skips");
    let place = Place::new();
    let program = place.script("resets", "echo b > /proc/sysrq-trigger");
    let done = place.exec(&program, &[]).run().expect(3);
    let folder = unpacked(&place, "last");
    let output = script(&folder, &["sh"]);
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8_lossy(&output.stdout);
    let reason = done.document("resets").reason;
    assert!(text.starts_with(&format!("broken  resets: by the case: {reason}\n")), "{text}");
}

#[test]
fn a_boot_that_fails_fails_elsewhere() {
    let place = Place::new();
    let done = place.kiln(["run", KERNEL, "--case", "pipe/*", "--append", "rdinit=/nowhere"]).run().expect(1);
    says_the_same(&place, &done, "boot");
}

#[test]
fn what_was_kept_of_the_run_is_in_the_bundle() {
    let place = Place::new();
    let program = place.script("fails", "exit 1");
    let done = place.exec(&program, &[]).run().expect(1);
    let folder = unpacked(&place, "last");
    for (name, kept) in [
        ("run.json", "cases/fails.json"),
        ("session.json", "session.json"),
        ("console.log", "cases/fails.console"),
    ] {
        assert_eq!(std::fs::read_to_string(folder.join(name)).expect("packed"), done.recorded(kept));
    }
    let readme = std::fs::read_to_string(folder.join("README")).expect("packed");
    assert!(readme.starts_with("fail  fails: exit status 1\n") && readme.contains(KERNEL), "{readme}");
}

#[test]
fn what_cannot_be_bundled_is_told_in_one_line_and_leaves_nothing() {
    let place = Place::new();
    let program = place.script("fails", "exit 1");
    place.exec_on(UML, &program, &[]).run().expect(1);
    assert_eq!(kernel_of(UML).arch, kernel::Arch::Um);
    let archive = place.path().join("x/bug.tar").display().to_string();
    let done = place.kiln(["bundle", "last", "-o", &archive]).run().expect(2);
    assert!(done.stderr.starts_with("kiln: a Run under UML cannot be bundled: "), "{}", done.stderr);
    let done = place.kiln(["bundle", "last", "-o", "bug.zip"]).run().expect(2);
    assert!(done.stderr.contains(".tar.zst or .tar"), "{}", done.stderr);
    place.exec(&program, &[]).run().expect(1);
    let done = place.kiln(["bundle", "last", "-o", &archive]).run().expect(3);
    assert!(done.stderr.contains("x/bug.tar: No such file"), "{}", done.stderr);
    assert!(!place.path().join("x").exists());
}

/// What the script says, and its exit code, of a QEMU that does this in the folder of the machine.
fn of_qemu(place: &Place, body: &str) -> (Option<i32>, String, String) {
    let folder = place.path().join("bug");
    let programs = folder.join("bin");
    std::fs::create_dir_all(&programs).expect("writable");
    place.script("qemu-system-x86_64", body);
    let qemu = programs.join("qemu-system-x86_64");
    std::fs::rename(place.path().join("qemu-system-x86_64"), qemu).expect("one file system");
    let mut command = Command::new("sh");
    command.arg(folder.join("run.sh")).env_clear().env("TMPDIR", &programs);
    let output =
        command.env("PATH", format!("{}:/usr/bin:/bin", programs.display())).output().expect("a shell");
    assert_eq!(std::fs::read_dir(&programs).expect("readable").count(), 1, "nothing is left behind");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_script_tells_what_happens_to_qemu_from_what_happens_to_the_kernel() {
    let place = Place::new();
    let program = place.script("fails", "exit 1");
    place.exec(&program, &[]).run().expect(1);
    let script = unpacked(&place, "last").join("run.sh");
    // Silence is long where nobody knows the host.
    let text = std::fs::read_to_string(&script).expect("packed");
    let impatient = text.replace("$((64 * times))", "$((2 * times))");
    assert_ne!(text, impatient);
    std::fs::write(&script, impatient).expect("writable");

    let (code, text, _) = of_qemu(&place, "echo 'qemu: terminating on signal 15 from pid 1' >&2");
    assert_eq!(
        (code, text.as_str()),
        (Some(3), "broken  boot: by the machine: QEMU was ended by a signal\n")
    );
    let (code, text, complaint) = of_qemu(&place, "echo 'no such machine' >&2; exit 1");
    assert_eq!((code, complaint.as_str()), (Some(3), "no such machine\n"));
    assert!(text.starts_with("broken  boot: by the machine: QEMU: exit status 1"), "{text}");
    let (code, text, _) =
        of_qemu(&place, "echo 'hello 6.1' > control; echo last words > console; exec sleep 1000");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.starts_with("hang    fails: the machine stopped answering for 2 s\n"), "{text}");
    assert!(text.contains("last words"), "{text}");
    let (code, text, _) = of_qemu(&place, "dd if=/dev/urandom of=control bs=64k count=4; cp control console");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.bytes().all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~')), "{text:?}");
}
