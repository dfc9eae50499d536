//! Each error: its Outcome, and what people read.

use judge::{Blame, Outcome};
use script::ErrorName;

use crate::fake::{BEGIN, Fake, Ran, run, run_on, run_step, setup};

/// What went wrong with one step of this body.
fn ended(body: &str) -> (Outcome, Option<Blame>, String) {
    let ran = run_step(body);
    (ran.verdict.outcome, ran.verdict.blame, ran.said())
}

#[test]
fn each_error_has_its_outcome_and_can_be_allowed() {
    let commands = [
        ("exit", "exit 3"),
        ("signal", "signal 11"),
        ("timeout", "timeout"),
        ("refused", "refused"),
        ("report", "report"),
        ("crash", "crash"),
        ("hang", "hang"),
        ("reboot", "reboot"),
        ("stopped", "stopped"),
        ("missing", "missing"),
    ];
    assert_eq!(commands.len() + 1, ErrorName::ALL.len());
    let mut said = Vec::new();
    for (name, command) in commands {
        let error: ErrorName = serde_json::from_value(name.into()).unwrap();
        let (outcome, _, text) = ended(&format!("m = lab.machine()\nm.run({command:?})"));
        assert_eq!(outcome, error.outcome(), "{name}");
        said.push(text);
        let allowed = format!(
            "m = lab.machine()\nr = m.run({command:?}, allow = [{name:?}])\nexpect(r.error == {name:?} and r.reason, r.error)"
        );
        assert_eq!(ended(&allowed).0, Outcome::Pass, "{name}: {}", ended(&allowed).2);
        let other = if name == "exit" { "signal" } else { "exit" };
        let other = format!("m = lab.machine()\nm.run({command:?}, allow = [{other:?}])");
        assert_eq!(ended(&other).0, error.outcome(), "{name}");
    }
    insta::assert_snapshot!("errors", said.join("\n"));
}

#[test]
fn what_broke_is_not_allowed_by_a_script() {
    let (outcome, blame, text) = ended("m = lab.machine()\nm.run(\"host\")");
    assert_eq!((outcome, blame), (Outcome::Broken, Some(Blame::Host)), "{text}");
    let (outcome, blame, text) = ended("m = lab.machine()\nm.run(\"host\", allow = [\"broken\"])");
    assert_eq!((outcome, blame), (Outcome::Broken, Some(Blame::Case)));
    assert!(text.contains("does not know \"broken\""), "{text}");
}

#[test]
fn a_call_that_gives_no_result_gives_none_for_an_error_that_is_allowed() {
    let ran =
        run_step("m = lab.machine()\nexpect(m.read(\"/none\", allow = [\"refused\"]) == None, \"none\")");
    assert_eq!(ran.verdict.outcome, Outcome::Pass, "{}", ran.said());
    let [note] = &ran.notes()[..] else { panic!("{:?}", ran.notes()) };
    assert!(note.starts_with("experiment.star:"), "{note}");
    assert!(note.ends_with("refused is allowed: /none: No such file or directory"), "{note}");
    assert_eq!(ended("lab.machine().read(\"/none\")").0, Outcome::Fail);
    assert_eq!(ended("lab.machine().wait_for(\"never\")").0, Outcome::Hang);
}

#[test]
fn variables_are_shown_as_people_write_them() {
    let (_, _, text) =
        ended("s = struct(a = 1, b = [2])\nx = 5\ng = lambda: x\ny = 6\nexpect(g() == y, \"five\")");
    let shown: Vec<&str> = text.lines().filter_map(|line| line.trim_start().strip_prefix("| ")).collect();
    assert_eq!(shown, ["^", "g() = 5", "y = 6", "s = struct(a = 1, b = list of 1)"], "{text}");
}

/// Whatever the sides are, they are evaluated once.
#[test]
fn a_comparison_that_does_not_hold_shows_both_sides() {
    for (condition, sides) in [
        ("len(\"abc\") == 4", &["len(\"abc\") = 3"][..]),
        ("(1 + 1) * 2 != 2 << 1", &["(1 + 1) * 2 = 4", "2 << 1 = 4"]),
        ("list([1])   <\n  [0]", &["list([1]) = [1]"]),
        ("(\"a\" + \"\\n\\x1b\") >= (\"b\")", &["\"a\" + \"\\n\\x1b\" = \"a\\n\\u{1b}\""]),
        (
            "{}.setdefault(\"a\", \"x\" * 200) == \"\"",
            &[concat!("{}.setdefault(\"a\", \"x\" * 200) = \"", "x")],
        ),
        ("1 == 1 and 1 + 1 == 3", &["1 + 1 = 2"]),
        ("(1 + 1 == 3) or (len(\"a\") > 1 or 2 + 2 not in [4])", &["2 + 2 = 4"]),
        ("\"a\" + \"b\" in \"b\" and fail(\"no\")", &["\"a\" + \"b\" = \"ab\""]),
        ("not (1 == 1)", &[]),
        ("1 == # here\n 2", &[]),
    ] {
        let (outcome, _, text) = ended(&format!("expect({condition}, \"so\")"));
        assert_eq!(outcome, Outcome::Fail, "{text}");
        let shown: Vec<&str> =
            text.lines().filter_map(|line| line.trim_start().strip_prefix("| ")).skip(1).collect();
        assert_eq!(shown.len(), sides.len(), "{text}");
        assert!(shown.iter().zip(sides).all(|(shown, side)| shown.starts_with(side)), "{text}");
    }
    for condition in [
        "1 == 1",
        "1 != \"a\"",
        "1 < 2",
        "2 <= 2",
        "[2] > [1]",
        "2 >= 2",
        "1 in [1]",
        "1 == 2 or 1 not in []",
    ] {
        assert_eq!(ended(&format!("expect({condition}, \"so\")")).0, Outcome::Pass, "{condition}");
    }
    let (outcome, blame, text) = ended("expect(1 < \"a\", \"so\")");
    assert_eq!((outcome, blame), (Outcome::Broken, Some(Blame::Case)), "{text}");
}

/// Mistakes, each the last line of a step.
const MISTAKES: &[&str] = &[
    "lab.mashine()",
    "m = lab.machine(cpu_count = 2)",
    "m = lab.machine(memory = \"four\")",
    "m = lab.machine(disks = [4096])",
    "m = lab.machine(disks = [lab])",
    "m = lab.machine(cpus = 99999999999)",
    "m = lab.machine(cpus = -1)",
    "m = lab.machine()\nm.run()",
    "m = lab.machine()\nm.run(\"a\", \"b\")",
    "m = lab.machine()\nm.run(1)",
    "m = lab.machine()\nm.run(\"a\", allow = [\"crahs\"])",
    "m = lab.machine()\nm.rewind(m)",
    "m = lab.machine()\nm.write(\"/x\", m)",
    "m = lab.machine()\nm.put(\"file\")",
    "lab.file(\"../x\")",
    "lab.file(\"/etc/passwd\")",
    "lab.file(\"nothing\")",
    "metric(\"sped\", 1)",
    "metric(\"speed\", \"1\")",
    "metric(\"speed\", float(\"nan\"))",
    "table(\"t\", [\"a\", \"b\"], [[1, 2], [3]])",
    "finding(\"x\", what = lab)",
    "lab.parallel(check)",
    "lab.parallel([check])",
    "lab.barrier(\"x\")",
    "branch(1)",
    "branch(lambda lab: 1)",
    "step(check)",
    "experiment(question = \"why?\")",
    "x = {}[\"nothing\"]",
    "x = 1 + \"a\"",
    "x = \"a\" * \"b\"",
    "fail(\"nothing works\")",
    "skip(\"no IOMMU\")",
    "x = [1, 2, 3]\nn = \"hi\"\nexpect(len(x) == 4 and\n       n == \"hi\", \"all are there\")",
    "lab.machine().run(\"liar\")",
    "lab.machine().run(\"nothing\")",
    "return lab.machine()",
    "return check",
    "lab.machine().sysctl(\"a\", [lab])",
];

#[test]
fn mistakes_point_to_their_line_and_say_what_to_do() {
    let mut said = Vec::new();
    for mistake in MISTAKES {
        let (outcome, blame, text) = ended(mistake);
        assert_ne!(outcome, Outcome::Pass, "{mistake}");
        let blame = blame.map(|blame| format!(" by {}", blame.name())).unwrap_or_default();
        said.push(format!("{mistake}\n=> {}{blame}\n{text}", outcome.name()));
    }
    insta::assert_snapshot!("mistakes", said.join("\n"));
}

#[test]
fn mistakes_outside_of_steps_are_reported_too() {
    let scripts = [
        "",
        "def f(lab):\n    pass\nf(1)\n",
        "def f(lab):\n    pass\nstep(f)\nstep(f)\n",
        "def f(lab):\n    pass\nstep(f(1))\n",
        "def f(lab):\n    pass\nstep(f, nmae = \"x\")\n",
        "step()\n",
        "note(\"early\")\n",
        "def f(lab, a):\n    pass\nstep(f)\n",
        "x = undefined\n",
        "def f(lab):\n    y = undefined\nstep(f)\n",
        "LIST = []\ndef f(lab):\n    LIST.append(1)\nstep(f)\n",
        "def f(lab):\n    return g(lab, 1)\ndef g(lab, x):\n    values = [x]\n    return lab.machine().run(\"exit 2\")\nstep(f)\n",
    ];
    let said: Vec<String> =
        scripts.iter().map(|script| format!("{script}=>\n{}", run(script).said())).collect();
    insta::assert_snapshot!("mistakes-outside", said.join("\n"));
}

#[test]
fn too_few_kernels_are_a_skip() {
    let script = "experiment(question = \"why?\", kernels = 2)\ndef f(lab):\n    pass\nstep(f)\n";
    let ran: Ran = run_on(&Fake::default(), &[("experiment.star", script)], &setup());
    assert_eq!(
        (ran.verdict.outcome, ran.said().trim()),
        (Outcome::Skip, "the experiment takes 2 kernels, not 1")
    );
}

#[test]
fn a_script_that_is_interrupted_is_broken_and_goes_on_later() {
    let fake = Fake { cancelled: true, ..Fake::default() };
    let script = format!("{BEGIN}def f(lab):\n    pass\nstep(f)\n");
    let ran = run_on(&fake, &[("experiment.star", &script)], &setup());
    assert_eq!(
        (ran.verdict.outcome, ran.verdict.blame),
        (Outcome::Broken, Some(Blame::Host)),
        "{}",
        ran.said()
    );
    assert!(!ran.verdict.is_final());
}
