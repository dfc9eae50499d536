//! What uses too much ends with an error that says so.

use judge::{Blame, Outcome};
use script::{Limits, Setup};

use crate::fake::{BEGIN, Ran, run_with, setup};

fn small() -> Setup {
    let limits = Limits {
        statements: 200_000,
        heap_bytes: 16 * 1024 * 1024,
        steps: 3,
        machines: 2,
        segments: 2,
        branches: 4,
        records: 5,
        ..Limits::default()
    };
    Setup { limits, ..setup() }
}

fn run(script: &str) -> Ran {
    run_with(&[("experiment.star", &format!("{BEGIN}{script}"))], &small())
}

fn in_step(body: &str) -> Ran {
    let lines: Vec<String> = body.lines().map(|line| format!("    {line}")).collect();
    run(&format!("def check(lab):\n{}\nstep(check)\n", lines.join("\n")))
}

#[test]
fn each_limit_has_its_error() {
    let bodies = [
        "x = 0\nfor i in range(1000):\n    for j in range(1000):\n        x += 1",
        "x = [i for i in range(1000) for j in range(1000)]",
        "l = list(range(1000))\nx = [1 for a in l for b in l for c in l if False]",
        "x = {(a, b): 1 for a in range(1000) for b in range(1000)}",
        "x = range(2000000000)",
        "x = \"x\" * 1000000000",
        "x = 1000000000 * [1]",
        "x = \"x\"\nx *= 1000000000",
        "x = 9223372036854775807 + 1\nx = x * x",
        "x = 1 << 64",
        "x = 1\nfor i in range(100000):\n    x <<= 1000",
        "x = 9223372036854775807 + 1\nx = x << 1",
        "x = \"x\" * 1000\nfor i in range(30):\n    x += x",
        "x = [1]\nfor i in range(30):\n    x = x + x",
        "x = [\"y\" * 100000 for i in range(1000)]",
        "def f(n):\n    return f(n + 1)\nf(0)",
        "for i in range(3):\n    lab.machine()",
        "for i in range(3):\n    lab.segment()",
        "for i in range(6):\n    note(\"x\")",
        "lab.parallel([branch(check) for i in range(5)])",
        "x = []\nfor i in range(50):\n    x = [x]\nfinding(\"deep\", x = x)",
        "x = []\nx.append(x)\nfinding(\"round\", x = x)",
    ];
    let mut said = Vec::new();
    for body in bodies {
        let ran = in_step(body);
        assert_eq!((ran.verdict.outcome, ran.verdict.blame), (Outcome::Broken, Some(Blame::Case)), "{body}");
        said.push(format!("{body}\n=>\n{}", ran.said()));
    }
    insta::assert_snapshot!("limits", said.join("\n"));
}

#[test]
fn limits_hold_at_the_top_of_a_file_too() {
    for script in [
        "x = [i for i in range(1000) for j in range(1000)]\n",
        "x = []\nfor i in range(300000):\n    x.append(i)\n",
        "def f(lab):\n    pass\nfor i in range(4):\n    step(f, name = str(i))\n",
    ] {
        let ran = run(script);
        assert_eq!(ran.verdict.outcome, Outcome::Broken, "{script}: {}", ran.said());
    }
}

#[test]
fn values_in_values_do_not_overflow_the_stack() {
    let whole = Setup { limits: Limits::default(), ..setup() };
    let top = |count| {
        let script = format!("{BEGIN}{}def f(lab):\n    pass\nstep(f)\n", deep(count));
        run_with(&[("experiment.star", &script)], &whole)
    };
    assert_eq!(top(100_000).verdict.outcome, Outcome::Pass, "{}", top(100_000).said());
    assert!(top(250_000).said().contains("more than 4 MiB"), "{}", top(250_000).said());
    use_deep(100_000);
}

#[test]
#[ignore = "takes minutes"]
fn the_deepest_value_that_fits_does_not_overflow_the_stack() {
    let most = Limits::default().heap_bytes / 24;
    assert!(crate::fake::run_step(&deep(most)).said().contains("more than 64 MiB"));
    use_deep(most * 95 / 100);
}

fn deep(count: usize) -> String {
    format!("x = ()\nfor i in range({count}):\n    x = (x,)\n")
}

/// What follows a value to its depth either has a limit or the stack for it.
fn use_deep(count: usize) {
    for (use_it, outcome) in [
        ("y = str(x)", Outcome::Pass),
        ("y = \"%s\" % (x,)", Outcome::Pass),
        ("y = {x: 1}", Outcome::Pass),
        ("y = x == (x,)", Outcome::Broken),
        ("y = json.encode(x)", Outcome::Broken),
        ("return x", Outcome::Broken),
    ] {
        let ran = crate::fake::run_step(&format!("{}{use_it}", deep(count)));
        assert_eq!(ran.verdict.outcome, outcome, "{use_it}: {}", ran.said());
    }
}

#[test]
fn what_is_within_the_limits_runs() {
    let ran = in_step(
        "x = \"x\" * 1000\ny = [i for i in range(1000)]\nz = 3 * 4 * 5\nw = [0] * 1000\nz *= 2\nz <<= 3\nz = 1 << 62",
    );
    assert_eq!(ran.verdict.outcome, Outcome::Pass, "{}", ran.said());
}
