//! What comes from a guest is a stranger's: bounded, and escaped where it is shown.

use judge::Outcome;

use crate::fake::run_step;

#[test]
fn outputs_are_cut_off() {
    let ran = run_step(
        "m = lab.machine()\nnote(str(len(m.run(\"huge\").output)))\nnote(str(len(m.read(\"/huge\"))))",
    );
    let notes: Vec<usize> = ran.notes().iter().map(|note| note.parse().unwrap()).collect();
    assert!(notes.iter().all(|length| (1_048_576..1_048_700).contains(length)), "{notes:?}");
    let ran = run_step("m = lab.machine()\nnote(m.log()[1])");
    assert_eq!(ran.notes(), ["two\u{fffd}"]);
}

#[test]
fn what_is_too_long_is_not_recorded() {
    let ran = run_step("m = lab.machine()\nnote(m.run(\"huge\").output)");
    assert_eq!(ran.verdict.outcome, Outcome::Broken);
    assert!(ran.said().contains("a step records at most 1024 KiB at once"), "{}", ran.said());
    assert!(ran.said().len() < 2000);
}

#[test]
fn what_acts_on_a_terminal_is_escaped() {
    let ran = run_step("m = lab.machine()\nout = \"\\x1b[31mred\"\nm.run(\"exit 2\")");
    assert!(!ran.said().contains('\x1b'), "{}", ran.said());
    assert!(ran.said().contains("status 2: ls: cannot open \\u{1b}[31mx"), "{}", ran.said());
}

#[test]
fn an_answer_that_nobody_asked_for_is_kilns_fault() {
    let ran = run_step("lab.machine().run(\"liar\")");
    assert_eq!(ran.verdict.blame, Some(judge::Blame::Kiln), "{}", ran.said());
}
