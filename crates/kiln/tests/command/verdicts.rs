//! What a user's own program can conclude, and how it reports.

use judge::exit::Speaker;
use judge::{Accused, Blame, Exit, Outcome, Run};
use lab::Event;
use protocol::{Counts, End};

use crate::support::{Done, KERNEL, Place, kernel};

fn run(place: &Place, program: &std::path::Path, code: i32) -> (Run, Done) {
    let done = place.exec(program, &[]).run().expect(code);
    let name = program.file_name().expect("it has one").to_string_lossy().into_owned();
    (done.document(&name), done)
}

#[test]
fn a_program_that_exits_with_0_passes() {
    let place = Place::new();
    let program = place.script("quiet", "exit 0");
    let (run, done) = run(&place, &program, 0);
    assert_eq!((run.outcome, run.counts, run.end), (Outcome::Pass, Counts::default(), Some(End::Exited(0))));
    assert!(done.stderr.is_empty(), "{}", done.stderr);
    let kinds: Vec<String> = done.recorded("events.jsonl").lines().map(kind).collect();
    assert_eq!(kinds.first().map(String::as_str), Some("planned"));
    assert_eq!(kinds[kinds.len() - 3..], ["started", "finished", "ended"]);
}

#[test]
fn the_command_line_of_a_boot_is_recorded() {
    let place = Place::new();
    let program = place.script("quiet", "exit 0");
    // With clones a machine that is kept needs no boot.
    let done = place.exec(&program, &["--isolation", "suite"]).run().expect(0);
    assert!(done.recorded("qemu.sh").contains("qemu-system-x86_64 -nodefaults"));
}

fn kind(line: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
    value["event"].as_str().expect("every event has a kind").to_string()
}

#[test]
fn the_programs_own_exit_status_is_passed_on_and_named() {
    let place = Place::new();
    let program = place.script("seven", "echo something >&2; exit 7");
    let (run, done) = run(&place, &program, 7);
    assert_eq!((run.outcome, run.reason.as_str()), (Outcome::Fail, "exit status 7"));
    assert_eq!(done.stderr, "kiln: exit status 7 is the program's\n");
    done.says("something");
}

#[test]
fn the_last_event_says_whose_exit_status_it_is() {
    let place = Place::new();
    for (name, status, of) in [("three", 3, Speaker::Program), ("none", 0, Speaker::Kiln)] {
        let program = place.script(name, &format!("exit {status}"));
        let state = place.path().join(format!("state-{name}"));
        let call = place.exec(&program, &["--format", "json"]).env("XDG_STATE_HOME", state);
        let done = call.run().expect(status);
        let last = done.stdout.lines().last().expect("events");
        let Event::Ended { exit, .. } = serde_json::from_str(last).expect("an event") else {
            panic!("{last}")
        };
        assert_eq!(exit, Some(Exit { code: u8::try_from(status).expect("small"), of }));
    }
}

#[test]
fn a_program_ends_alike_alone_and_in_a_suite() {
    let place = Place::new();
    let cases = [
        ("fails", "exit 1"),
        ("expected", "echo XFAIL; exit 2"),
        ("unexpected", "exit 3"),
        ("skips", "exit 4"),
        ("killed", "kill -9 $$"),
        ("passes", "true"),
    ];
    let suite = place.suite(&cases);
    let together = place.kiln(["run", KERNEL, "--no-retry", "--suite", &suite]).run().expect(1);
    together_says(&together);
    for (name, body) in cases {
        let alone = Place::new();
        let program = alone.script(name, body);
        let alone = alone.exec(&program, &[]).run().document(name);
        let inside = together.document(name);
        let ending = |run: &Run| (run.outcome, run.accused, run.reason.clone(), run.expected_failure);
        assert_eq!(ending(&alone), ending(&inside), "{name}");
    }
}

fn together_says(done: &Done) {
    let last = "; programs failed, the kernel reported nothing\n";
    assert!(done.stdout.contains(last), "no {last:?} in {}", done.stdout);
}

#[test]
fn a_program_that_the_oom_killer_ends_is_no_failure_of_the_kernel() {
    let place = Place::new();
    let body = "for (;;) { char *more = malloc(1 << 20); if (more) memset(more, 1, 1 << 20); }";
    let program = place.program("eats", body);
    let done = place.exec(&program, &["--memory", "256M"]).run().expect(3);
    let run = done.document("eats");
    assert_eq!((run.outcome, run.blame), (Outcome::Broken, Some(Blame::Case)), "{run:?}");
    let reason = run.reason.strip_prefix("the machine ran out of memory (Out of memory: Killed process ");
    assert!(reason.is_some_and(|rest| rest.ends_with(" (eats)): --memory gives it more")), "{}", run.reason);
    let done =
        done.says("broken, no verdict").says(" invoked oom-killer: ").says("Out of memory: Killed process ");
    for noise in ["Call Trace", "RAX: ", "Mem-Info", "oom_score_adj name"] {
        assert!(!done.stdout.contains(noise), "{noise} in {}", done.stdout);
    }
}

#[test]
fn commands_that_a_script_misses_are_named_though_it_ends_well() {
    let place = Place::new();
    let program = place.script("hopes", "frobnicate --all\ngrobnicate\necho done");
    let (run, done) = run(&place, &program, 0);
    assert_eq!(
        (run.outcome, run.not_found),
        (Outcome::Pass, vec!["frobnicate".to_string(), "grobnicate".to_string()])
    );
    done.says("pass    but its shell did not find frobnicate, grobnicate: hopes");
}

#[test]
fn what_a_program_writes_is_shown_where_that_is_wanted() {
    let place = Place::new();
    let program = place.script("talks", "echo one; echo two >&2; printf three");
    let quiet = place.exec(&program, &[]).run().expect(0);
    assert!(!quiet.stdout.contains("three"), "{}", quiet.stdout);
    let state = place.path().join("verbose");
    let done = place.exec(&program, &["-v"]).env("XDG_STATE_HOME", &state).run().expect(0);
    let lines: Vec<&str> = done.stdout.lines().filter(|line| line.starts_with("output")).collect();
    let texts: Vec<&str> = lines.iter().map(|line| line["output".len()..].trim()).collect();
    assert_eq!(texts, ["talks: one", "talks: two", "talks: three"]);
}

#[test]
fn a_parameter_that_the_kernel_does_not_know_is_named() {
    let place = Place::new();
    let program = place.script("quiet", "exit 0");
    let done = place.exec(&program, &["--append", "frobnicate=1 loglevel=7"]).run().expect(0);
    done.says("the kernel does not know these parameters: frobnicate=1");
}

#[test]
fn a_program_that_exits_with_4_is_skipped() {
    let place = Place::new();
    let program = place.script("skips", "kiln-report skip 'no such device'; exit 4");
    let (run, _) = run(&place, &program, 4);
    assert_eq!((run.outcome, run.reason.as_str()), (Outcome::Skip, "no such device"));
}

#[test]
fn processes_of_a_program_wait_for_each_other() {
    let place = Place::new();
    let body = "order=/tmp/order\n\
                (kiln-checkpoint wait first; echo second >> $order; exec kiln-checkpoint reach second) &\n\
                (kiln-checkpoint wait second; echo third >> $order; kiln-checkpoint reach both) &\n\
                echo first >> $order; kiln-checkpoint reach first; kiln-checkpoint wait both\n\
                (kiln-checkpoint reach both; kiln-checkpoint reach both) & kiln-checkpoint wait both 3\n\
                kiln-report pass \"$(echo $(while read -r line; do echo $line; done < $order))\"\n\
                kiln-checkpoint wait both x; kiln-report pass \"exit status $?\"";
    let program = place.script("ordered", body);
    let (run, _) = run(&place, &program, 0);
    let texts: Vec<&str> = run.reports.iter().map(|report| report.text.as_str()).collect();
    assert_eq!(texts, ["first second third", "exit status 2"], "{}", run.output);
}

#[test]
fn a_signal_ends_it_badly() {
    let place = Place::new();
    let program = place.program("aborts", "abort();");
    let (run, done) = run(&place, &program, 128 + 6);
    assert_eq!((run.outcome, run.end), (Outcome::Fail, Some(End::Signalled(6))));
    assert_eq!(
        (run.accused, run.reason.as_str()),
        (Some(Accused::Program), "the program was killed by signal 6")
    );
    assert_eq!(done.stderr, "kiln: exit status 134 is the program's: signal 6 ended it\n");
}

#[test]
fn a_dynamic_program_brings_its_libraries_and_gets_its_arguments() {
    let place = Place::new();
    let body = r#"printf("%s %s %.1f\n", argv[1], argv[2], sqrt(atof(argv[1])));"#;
    let program = place.compile("dynamic", body, "#include <math.h>", &["-lm", "-fno-builtin"]);
    let done = place.exec(&program, &["--", "81", "--loops"]).run().expect(0);
    assert_eq!(done.document("dynamic").output, "81 --loops 9.0\n");
}

#[test]
fn a_script_reports_also_from_children_and_after_exec() {
    let place = Place::new();
    let body = "kiln-report pass one\n(kiln-report pass two)\nsh -c 'exec kiln-report pass three'\n\
                kiln-report fail 'the sum is 5'\nexec /bin/sh -c 'kiln-report pass four; exit 0'";
    let program = place.script("reports", body);
    let (run, done) = run(&place, &program, 1);
    assert_eq!((run.outcome, run.reason.as_str()), (Outcome::Fail, "the sum is 5"));
    assert_eq!(run.counts, Counts { pass: 4, fail: 1, ..Counts::default() });
    let texts: Vec<&str> = run.reports.iter().map(|report| report.text.as_str()).collect();
    assert_eq!(texts, ["one", "two", "three", "the sum is 5", "four"]);
    assert!(done.stderr.is_empty(), "the exit status was 0: {}", done.stderr);
}

#[test]
fn a_program_reports_in_another_root_through_the_inherited_descriptor() {
    let place = Place::new();
    let body = r#"
        mkdir("/tmp/root", 0755); mkdir("/tmp/root/bin", 0755);
        char copy[] = "/tmp/root/bin/kiln-report", buffer[65536]; int n;
        int from = open("/init", O_RDONLY), to = open(copy, O_WRONLY | O_CREAT, 0755);
        while ((n = read(from, buffer, sizeof buffer)) > 0) write(to, buffer, n);
        close(to);
        if (chroot("/tmp/root") || chdir("/")) return 90;
        setsid();
        if (!fork()) { if (!fork()) execl("/bin/kiln-report", "kiln-report", "fail", "from afar", NULL); wait(0); _exit(0); }
        wait(0);"#;
    let program = place.program("roots", body);
    let (run, _) = run(&place, &program, 1);
    assert_eq!((run.outcome, run.reason.as_str()), (Outcome::Fail, "from afar"));
}

#[test]
fn a_program_whose_own_set_up_fails_is_broken() {
    let place = Place::new();
    let program = place.script("unready", "kiln-report broken 'no scratch space'");
    let (run, done) = run(&place, &program, 3);
    assert_eq!((run.outcome, run.blame), (Outcome::Broken, Some(Blame::Case)));
    done.says("no scratch space");
}

#[test]
fn what_a_program_leaves_behind_is_removed_and_named() {
    let place = Place::new();
    let body = r#"
        mkdir("/tmp/place", 0755);
        if (mount("none", "/tmp/place", "tmpfs", 0, "")) return 91;
        if (!fork()) { setsid(); if (!fork()) for (;;) pause(); _exit(0); }
        wait(0);"#;
    let program = place.program("leaver", body);
    let (run, _) = run(&place, &program, 0);
    assert!(run.notes.iter().any(|note| note.starts_with("left behind: process ")), "{:?}", run.notes);
    assert!(run.notes.contains(&"left behind: mount /tmp/place".to_string()), "{:?}", run.notes);
}

#[test]
fn a_full_disk_and_a_crowd_of_processes_disturb_nobody() {
    let place = Place::new();
    let body = r#"
        static char block[1 << 20];
        int fd = open("/tmp/full", O_WRONLY | O_CREAT, 0600), children = 0;
        while (write(fd, block, sizeof block) > 0);
        if (errno != ENOSPC) return 92;
        for (; children < 300; children++) { int id = fork(); if (id < 0) break; if (!id) for (;;) pause(); }
        printf("%d\n", children);"#;
    let program = place.program("crowd", body);
    let (run, _) = run(&place, &program, 0);
    assert_eq!(run.output, "300\n");
    assert!(run.notes.iter().any(|note| note.contains("(crowd)")), "{:?}", run.notes);
}

#[test]
fn cases_of_the_suite_run_in_one_boot_and_leave_a_document_each() {
    let place = Place::new();
    let done = place.kiln(["run", KERNEL, "--case", "pipe/*", "--case", "futex/*"]).run().expect(0);
    let session = done.session();
    let cases = session["cases"].as_array().expect("planned");
    assert!(cases.len() >= 6, "{cases:?}");
    let mut clones = std::collections::HashSet::new();
    for case in cases {
        let run = done.document(case.as_str().expect("a name"));
        assert_eq!((run.outcome, run.boot), (Outcome::Pass, 1), "{run:?}");
        assert!(run.clone > 0 && clones.insert(run.clone), "each in a clone of its own: {run:?}");
        assert!(run.counts.pass > 0);
    }
    assert_eq!(session["interrupted"], false);
    done.says("all well");
}

#[test]
fn a_lone_image_is_not_accused_of_modules_that_are_not_beside_it() {
    let place = Place::new();
    let image = std::fs::read(kernel().image).expect("the package has one");
    let image = place.file("bzImage", image).display().to_string();
    let areas = ["loop/*", "fs/*", "module/*", "netlink/*"].map(|area| ["--case", area]).concat();
    let call = place.kiln(["run", &image, "--suite", "full"].into_iter().chain(areas));
    let done = call.run().expect(0);
    let summary = &done.session()["summary"];
    let counts = ["fail", "broken", "crash", "hang"].map(|outcome| summary[outcome].as_u64());
    assert_eq!(counts, [Some(0); 4], "{summary}");
    assert_eq!(done.document("loop/contents").reason, "needs module loop, which this kernel does not show");
    assert_eq!(done.document("fs/tmpfs-size").outcome, Outcome::Pass);
}
