//! `kiln shell`: one command, and a person before a terminal.

use crate::support::terminal::Terminal;
use crate::support::{KERNEL, Place};

#[test]
fn one_command_gives_its_output_and_its_exit_status() {
    let place = Place::new();
    let done = place.kiln(["shell", KERNEL, "-c", "echo hi; echo there >&2; exit 5"]).run().expect(5);
    assert_eq!(done.stdout, "hi\nthere\n");
    assert_eq!(done.stderr, "kiln: exit status 5 is the command's\n");
}

#[test]
fn a_command_gets_what_is_piped_or_redirected_into_kiln() {
    let place = Place::new();
    let text = place.file("text", "one\ntwo\n");
    let kiln = place.kiln(["shell", KERNEL, "-c", "wc -l; exit 6"]);
    let done =
        kiln.through(&["sh", "-c", &format!("exec \"$@\" < {}", text.display()), "sh"]).run().expect(6);
    assert_eq!(done.stdout.trim(), "2");
    let kiln = place.kiln(["shell", KERNEL, "-c", "cat"]);
    let done = kiln.through(&["sh", "-c", "echo piped | (sleep 1; exec \"$@\")", "sh"]);
    assert_eq!(done.run().expect(0).stdout, "piped\n");
}

#[test]
fn a_script_that_is_piped_or_redirected_into_a_shell_runs_to_its_end() {
    let place = Place::new();
    let script =
        place.file("script", "uname -s\ncat <<END\nheld\nEND\nif true; then\n  exit 7\nfi\necho never\n");
    let with = |how: &str| place.kiln(["shell", KERNEL]).through(&["sh", "-c", how, "sh"]).run();
    let redirected = with(&format!("exec \"$@\" < {}", script.display())).expect(7);
    assert_eq!(redirected.stdout, "Linux\nheld\n");
    assert_eq!(redirected.stderr, "kiln: exit status 7 is the command's\n");
    let piped = with("echo 'echo piped' | (sleep 1; exec \"$@\")").expect(0);
    assert_eq!(piped.stdout, "piped\n");
    // What has no input ends at once.
    with("exec \"$@\" < /dev/null").expect(0);
}

#[test]
fn a_parameter_that_the_kernel_of_a_shell_does_not_know_is_named() {
    let place = Place::new();
    let shell = || place.kiln(["shell", KERNEL, "-c", "echo hi", "--append", "frobnicate=1"]);
    // The second machine is a clone of the first, which said it.
    for _ in 0..2 {
        let done = shell().run().expect(0);
        assert_eq!(done.stdout, "hi\n");
        assert_eq!(done.stderr, "kiln: note: the kernel does not know these parameters: frobnicate=1\n");
    }
}

#[test]
fn a_command_that_kills_the_guest_says_so() {
    let place = Place::new();
    let done = place.kiln(["shell", KERNEL, "-c", "echo c > /proc/sysrq-trigger"]).run().expect(1);
    assert!(done.stderr.contains("sysrq triggered crash"), "{}", done.stderr);
}

#[test]
fn a_kernel_that_does_not_boot_gives_no_shell() {
    let place = Place::new();
    let done = place.kiln(["shell", KERNEL, "-c", "true", "--append", "rdinit=/nowhere"]).run().expect(1);
    assert!(
        done.stderr.contains("kiln: the kernel panicked: VFS: Unable to mount root fs"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_person_works_in_the_guest_and_leaves() {
    let place = Place::new();
    let mut terminal = Terminal::with_shell(&place, 33, 101);
    let before = format!("{:?}", terminal.settings());
    terminal.shows("kiln: Ctrl-A x exits\r\n");
    terminal.shows("# ");
    terminal.types("echo $((40 + 2)) $TERM\r");
    terminal.shows("\n42 vt100\r\n");
    terminal.types("stty size\r");
    terminal.shows("\n33 101\r\n");
    terminal.resize(20, 60);
    // The size is on its way to the guest; the shell looks until it is there.
    terminal.types("until [ \"$(stty size)\" = '20 60' ]; do :; done; echo re''sized\r");
    terminal.shows("\nresized\r\n");
    // Ctrl-C is for the guest, where cat has the terminal as soon as it repeats what is typed.
    terminal.types("echo wai''ting; cat\r");
    terminal.shows("\nwaiting\r\n");
    terminal.types("typed\r");
    terminal.shows("typed\r\n");
    terminal.shows("typed\r\n");
    terminal.types("\x03");
    terminal.shows("# ");
    terminal.types("\x01x");
    assert_eq!(terminal.end(), Some(0));
    assert_eq!(format!("{:?}", terminal.settings()), before, "the terminal is as before");
}

#[test]
fn the_end_of_the_shell_is_the_end_of_the_machine() {
    let place = Place::new();
    let mut terminal = Terminal::with_shell(&place, 24, 80);
    terminal.shows("# ");
    terminal.types("exit 3\r");
    terminal.shows("kiln: exit status 3 is the command's");
    assert_eq!(terminal.end(), Some(3));
}
