//! What holds for every script: it never passes when something in it failed.

use judge::Outcome;
use proptest::prelude::*;
use script::Source;
use script::check::check_source;

use crate::fake::{BEGIN, run};

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

/// An expression, as long as is read at once.
fn expression() -> impl Strategy<Value = String> {
    let leaf =
        prop::sample::select(&["x", "1", "\"a\"", "()", "(1,)", "[]", "(x)", "((x, 1))", "lab.seed"][..]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 24, 3, |inner| {
        let pair = (inner.clone(), inner.clone());
        let triple = (inner.clone(), inner.clone(), inner);
        prop_oneof![
            pair.clone().prop_map(|(a, b)| format!("[{a} for x in {b}]")),
            pair.clone().prop_map(|(a, b)| format!("({a}) * {b}")),
            pair.clone().prop_map(|(a, b)| format!("{a} << ({b})")),
            pair.clone().prop_map(|(a, b)| format!("[({a}, 2) for (x, y) in ( # (\n {b})]")),
            pair.prop_map(|(a, b)| format!("f({a}, *{b})")),
            triple.clone().prop_map(|(a, b, c)| format!("{{{a}: {b} for x in [{c}]}}")),
            triple.clone().prop_map(|(a, b, c)| format!("[{a} for x in ({b},) if x for y in {c}]")),
            triple.prop_map(|(a, b, c)| format!("({a} if {b} else [lambda: {c}])")),
        ]
    })
}

/// Words of the language.
const WORDS: &[&str] = &[
    "x",
    "lab",
    "metric",
    "1",
    "2.5",
    "\"a\"",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "=",
    "*=",
    "<<=",
    "*",
    "<<",
    "+",
    "-",
    ".",
    "for",
    "in",
    "if",
    "else",
    "not",
    "lambda",
    "def",
    "return",
    "\n",
    "\n    ",
    "*",
    "**",
    "and",
    "[x for x in",
    "{x: 1 for x, y in",
    "disk(",
    "step(",
    "\u{e4}",
    "#",
    "\\",
    "'",
    "f\"{x}\"",
    "x if y else z",
];

fn is_well_read(text: &str) {
    for problem in check_source(Source::new("experiment.star", text)) {
        assert!(!problem.text.contains("misread"), "{text}\n{problem}");
    }
}

proptest! {
    #[test]
    fn every_text_is_checked(words in prop::collection::vec(prop::sample::select(WORDS), 0..40), text in ".{0,60}") {
        is_well_read(&words.join(" "));
        is_well_read(&format!("{BEGIN}{}", words.join(" ")));
        is_well_read(&format!("{BEGIN}y = [{}]", words.join(" ")));
        is_well_read(&text);
    }

    #[test]
    fn what_counts_is_added_to_every_expression(a in expression(), b in expression()) {
        let text = format!("{BEGIN}y = {a}\ny *= {b}\nd[{a}] <<= ({b})\nfor z in {a}:\n    {b}\n");
        let problems = check_source(Source::new("experiment.star", text.as_str()));
        // It was read, and something is said about it: nothing has the name x.
        let is_read = |text: &str| text.contains("nothing has") || text.contains("never recorded") || text.contains("no step");
        prop_assert!(problems.iter().all(|problem| is_read(&problem.text)), "{text}\n{problems:?}");
    }
}

#[test]
fn the_deepest_script_that_is_read_does_not_overflow_the_stack() {
    let twice = |open: &str, close: &str, count: usize| {
        format!("{BEGIN}y = {}x{}\n", open.repeat(count), close.repeat(count))
    };
    let blocks: String = (0..39).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect();
    let scripts = [
        twice("[", "]", 390),
        twice("(", ",)", 390),
        twice("f(", ")", 195),
        twice("{1: ", "}", 130),
        twice("not ", "", 390),
        twice("-", "", 390),
        twice("", ".a", 195),
        twice("", "[0]", 130),
        twice("", " + 1", 195),
        twice("", " * 1", 195),
        twice("[", " for x in x]", 60),
        twice("lambda: ", "", 190),
        twice("", " if x else x", 95),
        format!("{BEGIN}{blocks}{}pass\n", " ".repeat(39)),
        format!("{BEGIN}if x:\n  pass\n{}", "elif x:\n  pass\n".repeat(99)),
    ];
    for script in scripts {
        let problems = check_source(Source::new("experiment.star", script.as_str()));
        let is_read = |text: &str| !text.contains("too long") && !text.contains("too many");
        assert!(problems.iter().all(|problem| is_read(&problem.text)), "{problems:?}");
        is_well_read(&script);
    }
}
