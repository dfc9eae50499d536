//! What is wrong with a script is found without running it.

use std::fs;

use script::{Experiment, check};

use crate::fake::BEGIN;

fn said(files: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    check(folder.path())
        .err()
        .unwrap_or_default()
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn the_example_has_no_problem() {
    let page = include_str!("../../../../../docs/scripts.md");
    let (_, example) = page.split_once("```python\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    assert_eq!(said(&[("experiment.star", example)]), "");
}

#[test]
fn problems_are_found_without_running() {
    let script = format!(
        "load(\"helper.star\", \"gret\", \"VALUE\")\n{BEGIN}{}",
        r#"
def check(lab):
    m = lab.mashine(cpus = 2)
    m = lab.machine(cpsu = 2)
    m.run("true", timeout = "5 minutes")
    m.run("true", allow = ["crahs"])
    m.run()
    d = metric_info("a", unit = "b", better = "much")
    n = note
    metric("sped", 1)
    nto("x")
    print("x")
    words = "a b".split(" ")
    words.append("c")
    m.run("x", **VALUE)
    s = struct(custom = gret)
    s.custom(1)
    table("x")
    job = m.start("x")
    job.wait(timeout = 3, signal = 1)
"#
    );
    insta::assert_snapshot!(
        "check",
        said(&[("experiment.star", &script), ("helper.star", "def greet(lab):\n    pass\nVALUE = {}\n")])
    );
}

#[test]
fn the_plan_names_the_steps_or_what_is_wrong_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let plan = |steps: &str| {
        let script = format!("{BEGIN}\ndef f(lab, x = 0):\n    lab.machine()\n{steps}");
        fs::write(folder.path().join("experiment.star"), script).unwrap();
        Experiment::open(folder.path()).unwrap().plan()
    };
    assert_eq!(plan("[step(f, x, name = \"f %d\" % x) for x in range(3)]\n").unwrap(), ["f 0", "f 1", "f 2"]);
    let twice = plan("step(f)\nstep(f, 1)\n").unwrap_err().to_string();
    assert!(twice.contains("there is a step f already") && twice.starts_with("experiment.star:"), "{twice}");
    assert!(plan("").unwrap_err().text.contains("no step"));
    assert!(plan("[step(f, 1 // 0)]\n").is_err());
}

#[test]
fn a_folder_without_a_script_has_one_problem() {
    insta::assert_snapshot!("check-nothing", said(&[]));
    assert!(said(&[("experiment.star", "x = (\n")]).starts_with("experiment.star:"));
}

#[test]
fn what_cannot_be_known_is_no_problem() {
    let script = format!(
        "{BEGIN}def f(lab, name, kinds):\n    metric(name, 1)\n    lab.machine(disks = kinds).run(name, allow = kinds)\nstep(f, \"speed\", [])\n"
    );
    assert_eq!(said(&[("experiment.star", &script)]), "");
    let own = format!(
        "{BEGIN}def skip(x):\n    return x\ndef f(lab):\n    skip(1)\n    metric(\"speed\", skip(2))\nstep(f)\n"
    );
    assert_eq!(said(&[("experiment.star", &own)]), "");
    let conditions = format!("{BEGIN}def expect(x, y):\n    return x\nstep(expect, 1)\n");
    assert!(said(&[("experiment.star", &conditions)]).contains("expect is kiln's: use another name"));
}
