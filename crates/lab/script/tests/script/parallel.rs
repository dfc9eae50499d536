//! Branches: at the same time, and reported as if they were not.

use judge::Outcome;
use script::Event;

use crate::fake::{Ran, run};

#[test]
fn branches_take_handles_and_give_values_in_order() {
    let ran = run(r#"
def one(lab, machine, text):
    note(text)
    metric("speed", len(text))
    return machine.run("echo " + text)

def check(lab):
    m = lab.machine()
    results = lab.parallel([branch(one, m, "aaa"), branch(one, m, "b"), branch(one, m, "cc")])
    note(",".join([r.output for r in results]))

step(check)
"#);
    assert_eq!(ran.verdict.outcome, Outcome::Pass, "{}", ran.said());
    assert_eq!(ran.notes(), ["aaa", "b", "cc", "aaa,b,cc"]);
    let speeds = ran.events.iter().filter_map(|event| match event {
        Event::Metric(figure) => Some(figure.value),
        _ => None,
    });
    assert_eq!(speeds.collect::<Vec<_>>(), [3.0, 1.0, 2.0]);
}

#[test]
fn the_first_error_in_order_counts_and_the_others_are_noted() {
    let ran = run(r#"
def bad(lab, number):
    expect(number == 0, "the number %d is 0" % number)

def check(lab):
    lab.parallel([branch(bad, 0), branch(bad, 1), branch(bad, 2)])

step(check)
"#);
    assert_eq!(ran.verdict.outcome, Outcome::Fail);
    assert!(ran.said().contains("the number 1 is 0") && ran.said().contains("number = 1"), "{}", ran.said());
    assert_eq!(
        ran.notes(),
        ["the branch bad ended too: expected: the number 2 is 0; this does not hold: number == 0"]
    );
}

fn meeting(first: &str, second: &str) -> Ran {
    run(&format!(
        "def a(lab):\n    {first}\n    return lab.random()\ndef b(lab):\n    {second}\n    return lab.random()\n\
         def check(lab):\n    note(str(lab.parallel([branch(a), branch(b)])))\nstep(check)\n"
    ))
}

#[test]
fn branches_meet_at_barriers_and_are_told_if_nobody_comes() {
    let ran = meeting("lab.barrier(\"x\")", "lab.barrier(\"x\")");
    assert_eq!(ran.verdict.outcome, Outcome::Pass, "{}", ran.said());
    assert_eq!(ran.notes(), meeting("lab.barrier(\"x\")", "lab.barrier(\"x\")").notes());
    for (first, second) in [
        ("lab.barrier(\"x\")", "pass"),
        ("lab.barrier(\"x\")", "lab.barrier(\"y\")"),
        ("lab.barrier(\"x\")", "fail(\"early\")"),
        ("lab.barrier(\"x\", branches = 3)", "pass"),
    ] {
        let ran = meeting(first, second);
        assert_ne!(ran.verdict.outcome, Outcome::Pass, "{first} {second}");
    }
}

#[test]
fn branches_may_have_branches_and_the_languages_limits() {
    let ran = run(r#"
def leaf(lab, n):
    note(str(n))
    return n

def inner(lab, n):
    return lab.parallel([branch(leaf, n), branch(leaf, n + 1)])

def check(lab):
    note(str(lab.parallel([branch(inner, 0), branch(inner, 10)])))

step(check)
"#);
    assert_eq!(ran.notes(), ["0", "1", "10", "11", "[[0, 1], [10, 11]]"], "{}", ran.said());
    let ran = run("def f(lab):\n    return lab.parallel([branch(f), branch(f)])\nstep(f)\n");
    assert!(ran.said().contains("at most 64 branches"), "{}", ran.said());
}
