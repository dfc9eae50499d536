//! Programs that say what is not true, and that say too much.

use judge::{Blame, Outcome};

use crate::support::Place;

#[test]
fn what_a_program_prints_is_output_and_nothing_else() {
    let place = Place::new();
    let body = r#"
printf 'KTAP version 1\n1..1\nok 1 all is well\n'
printf '{"event":"finished","outcome":"pass"}\n'
printf 'Kernel panic - not syncing: no\nWARNING: CPU: 0 PID: 1 at foo.c:1 f+0x1/0x2\n'
printf '\033[2J\033]0;title\007\0\377\n'
exit 1"#;
    let program = place.script("claims", body);
    let call = place.exec(&program, &["--format", "ktap"]);
    let done = call.run().expect(1);
    let run = done.document("claims");
    assert_eq!((run.outcome, run.reason.as_str()), (Outcome::Fail, "exit status 1"));
    assert!(run.kernel_reports.is_empty(), "{:?}", run.kernel_reports);
    let verdicts = done.stdout.lines().filter(|line| !line.starts_with([' ', '#']));
    let results: Vec<&str> = verdicts.filter(|line| line.contains("ok ")).collect();
    assert_eq!(results.len(), 1, "{}", done.stdout);
    assert!(results[0].starts_with("not ok 1"), "{}", done.stdout);
    assert!(!done.stdout.contains('\u{1b}'), "escape sequences reach the terminal: {:?}", done.stdout);
}

#[test]
fn bytes_on_the_control_port_are_noted_and_change_nothing() {
    let place = Place::new();
    // A frame that says `Finished`, with a check sum that lacks the key, and plain garbage.
    let body = r#"
        int port = open("/dev/ttyS1", O_WRONLY | O_NOCTTY);
        for (int i = 0; i < 50; i++) {
            static const char forged[] = "\0\x05\x02\x01\x01\x05\x01\x01\x01\x01\x01\0";
            write(port, forged, sizeof forged - 1);
            dprintf(port, "all is well, believe me %d\n", i);
        }
        return 5;"#;
    let program = place.program("forger", body);
    let done = place.exec(&program, &[]).run().expect(5);
    let run = done.document("forger");
    assert_eq!((run.outcome, run.reason.as_str()), (Outcome::Fail, "exit status 5"));
    assert!(run.notes.iter().any(|note| note.starts_with("on the control port: ")), "{:?}", run.notes);
    assert!(run.notes.len() <= 20);
}

#[test]
fn a_program_that_reads_the_control_port_does_not_pass_by_it() {
    let place = Place::new();
    // It takes messages away that the agent waits for.
    let body = r#"
        kiln-report pass 'before'
        while read -r line < /dev/ttyS1; do :; done"#;
    let program = place.script("reader", body);
    let done = place.exec(&program, &["--case-timeout", "1s"]).impatient().run().expect(1);
    assert_eq!(done.document("reader").outcome, Outcome::Hang);
}

#[test]
fn a_kernel_report_that_a_program_writes_is_not_the_kernels() {
    let place = Place::new();
    let body = r#"
echo '------------[ cut here ]------------' > /dev/kmsg
echo 'WARNING: CPU: 0 PID: 1 at foo.c:1 foo+0x1/0x2' > /dev/kmsg
echo '<0>BUG: unable to handle page fault for address: ffff' > /dev/kmsg"#;
    let program = place.script("writer", body);
    let done = place.exec(&program, &[]).run().expect(0);
    let run = done.document("writer");
    assert_eq!((run.outcome, run.kernel_reports.len()), (Outcome::Pass, 0));
    assert!(done.recorded("kernel.log").contains("WARNING: CPU: 0 PID: 1 at foo.c:1"));
}

#[test]
fn who_forges_a_panic_on_the_console_gets_one() {
    // Only the console tells of a panic, and anybody in the guest may write on it. Nothing is gained by
    // it: whoever may do that may also make the kernel panic in earnest.
    let place = Place::new();
    // The kernel keeps quiet meanwhile: its lines would come between the bytes of the program.
    let body = r#"
echo 1 > /proc/sys/kernel/printk
printf 'Kernel panic - not syncing: forged\n---[ end Kernel panic - not syncing: forged ]---\n' > /dev/ttyS0
kiln-report pass 'still here'
while :; do :; done"#;
    let program = place.script("crier", body);
    let done = place.exec(&program, &[]).run().expect(1);
    let reason = &done.document("crier").reason;
    assert!(reason.starts_with("Kernel panic: forged"), "{reason}");
}

#[test]
fn a_flood_costs_neither_memory_nor_the_verdict() {
    let place = Place::new();
    let body = r#"
        put("/proc/sys/kernel/printk_devkmsg", "on\n");
        int console = open("/dev/ttyS0", O_WRONLY | O_NOCTTY), log = open("/dev/kmsg", O_WRONLY);
        static char line[1000];
        memset(line, 'x', sizeof line); line[sizeof line - 1] = '\n';
        for (time_t end = time(0) + 3; time(0) < end;)
            for (int i = 0; i < 10; i++) {
                write(console, line, sizeof line);
                write(log, line, 200);
                fwrite(line, sizeof line, 1, stdout);
            }"#;
    let program = place.program("flood", body);
    let done = place.exec(&program, &["--case-timeout", "60s"]).run().expect(0);
    let run = done.document("flood");
    assert_eq!(run.outcome, Outcome::Pass, "{}", run.reason);
    assert!(run.output.len() <= 256 * 1024 && run.log.len() <= 2000);
    let size = |name: &str| std::fs::metadata(done.results().join(name)).expect("recorded").len();
    assert!((1 << 10..=64 << 20).contains(&size("cases/flood.console")), "{}", size("cases/flood.console"));
    assert!(size("console.log") <= 64 << 20 && size("kernel.log") <= 1 << 20);
    assert!(done.stdout.len() < 4000, "a pass is not worth so many words");
}

#[test]
fn a_message_that_never_ends_is_the_cases_fault_at_most() {
    let place = Place::new();
    let body = r#"
        int port = open("/dev/ttyS1", O_WRONLY | O_NOCTTY);
        static char block[100000];
        memset(block, 'x', sizeof block);
        write(port, block, sizeof block);"#;
    let program = place.program("endless", body);
    let done = place.exec(&program, &[]).run().expect(0);
    let run = done.document("endless");
    assert_eq!((run.outcome, run.blame), (Outcome::Pass, None::<Blame>));
    assert_eq!(run.notes, ["on the control port: 100000 bytes that are not a message"]);
}

#[test]
fn a_results_page_that_is_cut_off_is_empty_and_harms_nobody() {
    let place = Place::new();
    let program = place.script("cuts", "kiln-report pass one\n: > \"$KILN_RESULTS\"\nexit 5");
    let run = place.exec(&program, &[]).run().expect(5).document("cuts");
    assert_eq!((run.outcome, run.reason.as_str()), (Outcome::Fail, "exit status 5"));
    assert_eq!(run.counts, protocol::Counts::default());
}
