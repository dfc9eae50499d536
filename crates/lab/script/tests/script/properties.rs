//! What holds for every script: it never passes when something in it failed.

use judge::Outcome;
use proptest::prelude::*;

use crate::fake::run;

/// Commands that go wrong; the last two in ways that no script allows.
const BAD: &[&str] = &[
    "exit 1", "signal 9", "timeout", "crash", "hang", "reboot", "stopped", "missing", "report", "refused",
    "host", "liar",
];

/// A statement, and whether the step goes on after it.
fn statement() -> impl Strategy<Value = (String, bool)> {
    let name = |command: &str| command.split(' ').next().unwrap().to_owned();
    prop_oneof![
        8 => Just(("m.run(\"true\")".to_owned(), true)),
        4 => Just(("note(\"x\")".to_owned(), true)),
        4 => Just(("metric(\"speed\", 1)".to_owned(), true)),
        2 => Just(("expect(True, \"x\")".to_owned(), true)),
        2 => Just(("lab.parallel([branch(good), branch(good)])".to_owned(), true)),
        1 => prop::sample::select(BAD).prop_map(|command| (format!("m.run({command:?})"), false)),
        1 => prop::sample::select(&BAD[..10]).prop_map(move |command| {
            (format!("m.run({command:?}, allow = [{:?}])", name(command)), true)
        }),
        1 => prop::sample::select(&["exit 1", "crash", "host"][..]).prop_map(|command| {
            (format!("lab.parallel([branch(good), branch(bad, m, {command:?})])"), false)
        }),
        1 => Just(("expect(False, \"x\")".to_owned(), false)),
        1 => Just(("fail(\"x\")".to_owned(), false)),
        1 => Just(("skip(\"x\")".to_owned(), false)),
        1 => Just(("x = 1 // 0".to_owned(), false)),
        1 => Just(("m.nothing()".to_owned(), false)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_script_passes_only_if_all_of_it_did(
        steps in prop::collection::vec(prop::collection::vec(statement(), 0..5), 1..4),
    ) {
        let mut script = "def good(lab):\n    pass\ndef bad(lab, m, command):\n    m.run(command)\n".to_owned();
        for (index, step) in steps.iter().enumerate() {
            script += &format!("def step{index}(lab):\n    m = lab.machine()\n");
            for (line, _) in step {
                script += &format!("    {line}\n");
            }
            script += &format!("step(step{index})\n");
        }
        let is_well = steps.iter().flatten().all(|(_, goes_on)| *goes_on);
        let ran = run(&script);
        prop_assert_eq!(ran.verdict.outcome == Outcome::Pass, is_well, "{}\n{}", script, ran.said());
        prop_assert_eq!(ran.verdict.problem.is_none(), is_well);
    }
}
