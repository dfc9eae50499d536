//! Boots of kernels that run KUnit tests, on a fake machine.

use std::fs;
use std::path::Path;

use judge::{Blame, Outcome};
use lab::Event;
use machine::BootTrouble;

use crate::fake::{self, Boot, Story};

/// One suite with what every KUnit prints around it.
const HEAD: &str =
    "KTAP version 1\n1..2\n    KTAP version 1\n    # Subtest: alpha\n    1..3\n    ok 1 first\n";

fn boots(console: &str) -> Story {
    fake::kunit(Boot::Prints(console.into(), Ok(String::new())))
}

fn dies(console: &str, trouble: BootTrouble) -> Story {
    fake::kunit(Boot::Prints(console.into(), Err(trouble)))
}

/// Case and Outcome of every Run.
fn outcomes(story: &Story) -> Vec<(&str, Outcome)> {
    story.runs().iter().map(|run| (run.case.as_str(), run.outcome)).collect()
}

fn notes(story: &Story) -> Vec<&str> {
    let mut notes = Vec::new();
    for event in &story.events {
        if let Event::Note { text } = event {
            notes.push(text.as_str());
        }
    }
    notes
}

/// A text of the corpus without its head.
fn corpus(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../judge/tests/ktap").join(name);
    let text = fs::read_to_string(path).expect("it is there");
    text.split_once("--- ktap ---\n").expect("a head and a text").1.to_owned()
}

fn hang() -> BootTrouble {
    BootTrouble::Hang { lines: 9, seconds: 30 }
}

#[test]
fn each_test_is_a_run_and_parameters_are_a_third_level() {
    let story = boots(&format!(
        "{HEAD}        KTAP version 1\n        # Subtest: each\n        ok 1 1/2 of it\n        ok 2 1/2 of it\n    \
         # each: pass:2 fail:0 skip:0 total:2\n    ok 2 each\n    ok 3 last # SKIP no disk\nok 1 alpha\n    \
         KTAP version 1\n    # Subtest: beta\n    # module: beta_test\n    1..1\n    # only.speed: slow\n    ok 1 only\nok 2 beta\n"
    ));
    let expected = [
        ("alpha/first", Outcome::Pass),
        ("alpha/each/1_2 of it", Outcome::Pass),
        ("alpha/each/1_2 of it.2", Outcome::Pass),
        ("alpha/last", Outcome::Skip),
        ("beta/only", Outcome::Pass),
    ];
    assert_eq!(outcomes(&story), expected);
    assert_eq!((story.run("alpha/last").reason.as_str(), story.exit_code()), ("no disk", 0));
    assert_eq!((story.seen.powered_off, story.summary().not_run), (1, 0));
    assert!(notes(&story).is_empty(), "{:?}", notes(&story));
}

#[test]
fn the_events_are_in_the_order_of_the_console() {
    let story = boots(&format!(
        "{HEAD}    ok 2 b\n    ok 3 c\nok 1 alpha\n    # Subtest: beta\n    1..1\n    ok 1 d\nok 2 beta\n"
    ));
    let words: Vec<String> = story
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Console { line, .. } => Some(line.trim().to_string()),
            Event::Started { case, .. } => Some(format!("started {case}")),
            Event::Finished(run) => Some(format!("finished {}", run.case)),
            Event::Booted { .. } => Some("booted".into()),
            _ => None,
        })
        .collect();
    let at = |word: &str| words.iter().position(|known| known == word).expect("it is told");
    assert!(at("started alpha/b") < at("ok 2 b") && at("ok 2 b") < at("finished alpha/b"));
    assert!(at("finished alpha/b") < at("ok 3 c") && at("ok 1 alpha") < at("started beta/d"));
    assert_eq!(at("booted"), words.len() - 1);
}

#[test]
fn a_failed_expectation_is_the_reason() {
    let story = boots(&format!(
        "{HEAD}    # b: going to fail\n    # b: EXPECTATION FAILED at lib/x.c:29\n    Expected 1 + 1 == 3, but\n        \
         1 + 1 == 2\n    not ok 2 b\n    ok 3 c\nnot ok 1 alpha\n    # beta:     # failed to initialize (-22)\nnot ok 2 beta\n"
    ));
    let expected = [
        ("alpha/first", Outcome::Pass),
        ("alpha/b", Outcome::Fail),
        ("alpha/c", Outcome::Pass),
        ("beta", Outcome::Fail),
    ];
    assert_eq!(outcomes(&story), expected);
    assert_eq!(story.run("alpha/b").reason, "EXPECTATION FAILED at lib/x.c:29");
    assert_eq!(story.run("alpha/b").evidence.len(), 3);
    assert_eq!((story.run("beta").reason.as_str(), story.exit_code()), ("failed to initialize (-22)", 1));
}

#[test]
fn a_suite_that_fails_without_a_failed_test_has_a_run_of_its_own() {
    let story = boots(&format!(
        "{HEAD}    ok 2 b\n    ok 3 c\nnot ok 1 alpha\n    # Subtest: z\n    1..1\n    ok 1 d\nok 2 z\n"
    ));
    assert_eq!(outcomes(&story)[3], ("alpha", Outcome::Fail));
}

#[test]
fn a_test_that_kunit_gave_up_hangs() {
    let story = boots(&format!("{HEAD}    # b: try timed out\n    not ok 2 b\n"));
    assert_eq!(outcomes(&story)[1], ("alpha/b", Outcome::Hang));
}

const WARNING: &str = "WARNING: CPU: 0 PID: 80 at fs/foo.c:12 foo_bar+0x1/0x20\n";

#[test]
fn a_warning_fails_the_test_in_which_it_comes_and_no_other() {
    let story = boots(&format!("{HEAD}{WARNING}    ok 2 b\n    ok 3 c\nok 1 alpha\n"));
    assert_eq!(
        outcomes(&story)[..3],
        [("alpha/first", Outcome::Pass), ("alpha/b", Outcome::Fail), ("alpha/c", Outcome::Pass),]
    );
    assert_eq!(story.run("alpha/b").reason, "WARNING in foo_bar");
}

#[test]
fn a_warning_between_tests_fails_the_suite_or_the_boot() {
    let story = boots(&format!(
        "{HEAD}    ok 2 b\n    ok 3 c\n{WARNING}ok 1 alpha\n    # Subtest: z\n    1..1\n    ok 1 d\nok 2 z\n{WARNING}"
    ));
    assert_eq!(outcomes(&story)[3], ("alpha", Outcome::Fail));
    assert_eq!(outcomes(&story)[5], ("boot", Outcome::Fail));
}

#[test]
fn a_suite_that_provokes_reports_passes_with_them() {
    let report = "BUG: KASAN: slab-out-of-bounds in foo+0x1/0x20\n";
    let suite = |name: &str| {
        format!("KTAP version 1\n1..1\n    # Subtest: {name}\n    1..1\n{report}    ok 1 a\nok 1 {name}\n")
    };
    assert_eq!(outcomes(&boots(&suite("kasan"))), [("kasan/a", Outcome::Pass)]);
    assert_eq!(outcomes(&boots(&suite("other"))), [("other/a", Outcome::Fail)]);
}

#[test]
fn the_test_in_which_the_kernel_dies_crashes_and_the_rest_is_not_run() {
    let oops = "    # b: about to die\n[    1.000000] Kernel panic - not syncing: planted\n";
    let story = dies(&format!("{HEAD}{oops}"), BootTrouble::Panic("planted".into()));
    assert_eq!(outcomes(&story), [("alpha/first", Outcome::Pass), ("alpha/b", Outcome::Crash)]);
    // One of this suite, and the other suite.
    assert_eq!((story.summary().not_run, story.exit_code()), (2, 1));
    assert_eq!(story.run("alpha/b").reason, "Kernel panic: planted");
    assert!(!story.run("alpha/b").evidence.is_empty());
}

#[test]
fn a_test_that_nobody_names_is_named_by_the_stack() {
    let oops = "BUG: kernel NULL pointer dereference, address: 0000000000000000\n\
                RIP: 0010:victim+0x5/0x10\nCall Trace:\n <TASK>\n killer_test+0x2a/0x60\n \
                kunit_try_run_case+0x51/0x90\n </TASK>\n---[ end trace 0 ]---\n\
                Kernel panic - not syncing: Fatal exception\n";
    let story = dies(&format!("{HEAD}{oops}"), BootTrouble::Panic("Fatal exception".into()));
    assert_eq!(outcomes(&story)[1], ("alpha/killer_test", Outcome::Crash));
    assert!(story.run("alpha/killer_test").reason.starts_with("BUG: kernel NULL pointer dereference"));
    let story = dies(HEAD, BootTrouble::Reset);
    assert_eq!(outcomes(&story)[1], ("alpha", Outcome::Crash));
}

#[test]
fn the_test_in_which_the_kernel_goes_silent_hangs() {
    let story = dies(HEAD, hang());
    assert_eq!(outcomes(&story), [("alpha/first", Outcome::Pass), ("alpha", Outcome::Hang)]);
    assert!(story.run("alpha").reason.contains("said nothing for 30 s"));
}

#[test]
fn a_kernel_that_dies_after_its_tests_did_not_boot() {
    let all =
        format!("{HEAD}    ok 2 b\n    ok 3 c\nok 1 alpha\n    # Subtest: z\n    1..1\n    ok 1 d\nok 2 z\n");
    let story = dies(&all, BootTrouble::Panic("planted".into()));
    assert_eq!(outcomes(&story)[4], ("boot", Outcome::Crash));
    assert_eq!(story.runs().len(), 5);
    // A kernel without user space is at its end, and well.
    let story = dies(&all, BootTrouble::Panic("VFS: Unable to mount root fs on unknown-block(0,0)".into()));
    assert_eq!((story.runs().len(), story.exit_code()), (4, 0));
    assert!(notes(&story)[0].starts_with("after its tests: "));
}

#[test]
fn a_kernel_without_results_is_broken_and_says_why() {
    for (console, why) in [
        ("hello\n", "the kernel printed no KUnit results"),
        ("[    0.1] kunit: disabled\n", "KUnit is disabled"),
        ("kunit executor: unknown action 'x'\n", "kunit executor: unknown action 'x'"),
        ("KTAP version 1\n1..0\n", "KUnit ran no tests"),
    ] {
        for story in [boots(console), dies(console, BootTrouble::NoControlPort { option: "CONFIG_SSL" })] {
            assert_eq!(outcomes(&story), [("kunit", Outcome::Broken)]);
            assert_eq!(story.run("kunit").blame, Some(Blame::Case));
            assert!(story.run("kunit").reason.starts_with(why), "{}", story.run("kunit").reason);
            assert_eq!(story.exit_code(), 3);
        }
    }
}

#[test]
fn a_kernel_that_does_not_even_begin_is_told_as_such() {
    let story = dies("Linux version 6.1\n", hang());
    assert_eq!(outcomes(&story), [("boot", Outcome::Hang)]);
    let story = fake::kunit(Boot::Impossible);
    assert!(story.result.is_err() && story.runs().is_empty());
}

#[test]
fn a_user_who_stops_it_keeps_what_was_finished() {
    let story = dies(HEAD, BootTrouble::Interrupted);
    assert_eq!(outcomes(&story), [("alpha/first", Outcome::Pass)]);
    assert_eq!(story.summary().not_run, 3);
    assert!(matches!(story.events.last(), Some(Event::Ended { interrupted: true, .. })));
}

#[test]
fn results_that_come_after_the_hello_count() {
    let late = "    ok 2 b\n    ok 3 c\nok 1 alpha\n    # Subtest: z\n    1..1\n    ok 1 d\nok 2 z\n";
    let story = fake::kunit(Boot::Prints(HEAD.into(), Ok(late.into())));
    assert_eq!((story.runs().len(), story.exit_code()), (4, 0));
}

#[test]
fn a_result_that_is_lost_is_never_a_pass() {
    // A thread of KUnit died and the kernel went on with the next suite.
    let story = boots(&format!("{HEAD}    # b: x\n    # Subtest: z\n    1..1\n    ok 1 d\nok 2 z\n"));
    assert_eq!(
        outcomes(&story),
        [("alpha/first", Outcome::Pass), ("alpha/b", Outcome::Broken), ("z/d", Outcome::Pass),]
    );
    assert_eq!((story.summary().not_run, story.exit_code()), (1, 3));
}

#[test]
fn lines_of_others_between_results_change_nothing() {
    let stamped: String = HEAD
        .lines()
        .chain([
            "    ok 2 b",
            "    ok 3 c",
            "ok 1 alpha",
            "    # Subtest: z",
            "    1..1",
            "    ok 1 d",
            "ok 2 z",
        ])
        .map(|line| {
            format!(
                "[    1.000000][    T1] usb 1-1: new\n[    1.000001][    T1] {line}\nok 7 from a program\n"
            )
        })
        .collect();
    let story = boots(&stamped);
    let printed: Vec<_> = outcomes(&story).into_iter().filter(|(case, _)| case.contains('/')).collect();
    assert_eq!(
        printed.iter().map(|(case, _)| *case).collect::<Vec<_>>(),
        ["alpha/first", "alpha/b", "alpha/c", "z/d"]
    );
    assert!(printed.iter().all(|(_, outcome)| *outcome == Outcome::Pass));
}

#[test]
fn consoles_of_real_kernels_become_runs() {
    let story = boots(&corpus("6.1-kunit-fails.txt"));
    assert_eq!(story.summary().fail, 3, "{:?}", outcomes(&story));
    assert_eq!(story.run("planted/planted_params/number 2 of 3, a_b").outcome, Outcome::Fail);
    assert_eq!(story.run("broken_init").reason, "failed to initialize (-22)");
    let story = dies(&corpus("6.1-kunit-panic.txt"), BootTrouble::Panic("planted".into()));
    // Its name is not known: this stack is only guessed, and KUnit names a test when it has ended.
    assert_eq!(story.run("planted").outcome, Outcome::Crash);
    assert_eq!(story.run("planted").notes, ["it began after planted/planted_warning"]);
    let story = dies(&corpus("6.1-kunit-hang.txt"), hang());
    assert_eq!(story.run("planted/planted_death").outcome, Outcome::Hang);
    let story = boots(&corpus("6.1-kunit-warns.txt"));
    assert_eq!(story.run("planted/planted_warning").outcome, Outcome::Fail);
    let story = boots(&corpus("6.1-kunit-x86-kasan.txt"));
    assert_eq!(story.run("planted/planted_death").reason, "BUG: KASAN: slab-out-of-bounds in planted_death");
    assert!(!story.run("planted/planted_death").duration.is_zero());
    let story = dies(&corpus("6.1-kunit-x86-oops-panic.txt"), BootTrouble::Panic("Fatal exception".into()));
    assert_eq!(story.run("planted/planted_death").outcome, Outcome::Crash);
    let story = dies(&corpus("6.1-kunit-x86-oops.txt"), hang());
    assert_eq!(story.run("planted/planted_death").outcome, Outcome::Hang);
}

#[test]
fn a_parameter_that_the_kernel_does_not_know_is_named() {
    let line = "[    0.1] Unknown kernel command line parameters \"frobnicate=1 splash\", will be passed to user space.";
    let boot =
        Boot::Prints(format!("{line}\n{HEAD}    ok 2 each\n    ok 3 last\nok 1 alpha\n"), Ok(String::new()));
    let story = fake::kunit_with(boot, &["quiet frobnicate=1"]);
    assert!(
        notes(&story).contains(&"the kernel does not know these parameters: frobnicate=1"),
        "{:?}",
        notes(&story)
    );
}
