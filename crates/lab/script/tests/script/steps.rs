//! Steps: in order, with what earlier ones returned, and with machines of their own.

use judge::Outcome;
use script::Event;

use crate::fake::{BEGIN, Fake, run, run_on, setup};

#[test]
fn later_steps_get_what_earlier_ones_returned() {
    let ran = run(r#"
def measure(lab, n):
    result = lab.machine().run("echo x")
    return {"n": n, "result": result, "list": [1.5, None, True]}

def tell(lab, first, second):
    note(first["result"]["output"] + str(first["n"]) + str(second[0]["n"]) + str(first["list"]))

first = step(measure, 1, name = "first")
second = step(measure, 2)
step(tell, first, [second])
"#);
    assert_eq!(ran.notes(), ["x12[1.5, None, True]"], "{}", ran.said());
    let names: Vec<String> = ran
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Started { step, .. } => Some(step.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["first", "measure", "tell"]);
}

#[test]
fn a_step_that_does_not_pass_ends_the_script_and_its_machines() {
    let fake = Fake::default();
    let script = format!(
        "{BEGIN}def a(lab):\n    lab.machine().run(\"crash\")\ndef b(lab):\n    lab.machine()\nstep(a)\nstep(b)\n"
    );
    let ran = run_on(&fake, &[("experiment.star", &script)], &setup());
    assert_eq!((ran.verdict.outcome, ran.verdict.step.as_deref()), (Outcome::Crash, Some("a")));
    assert_eq!(*fake.ended.lock().unwrap(), ["a"]);
    assert_eq!(ran.calls.len(), 2);
    let ended = Event::Ended {
        step: "a".to_owned(),
        outcome: Outcome::Crash,
        reason: Some("there was a crash".to_owned()),
    };
    assert_eq!(ran.events.last(), Some(&ended));
}

#[test]
fn machines_end_with_their_step() {
    let ran = run(
        "def a(lab):\n    return [lab.machine()]\ndef b(lab, m):\n    m[0].run(\"true\")\nx = step(a)\nstep(b, x)\n",
    );
    assert_eq!(ran.verdict.outcome, Outcome::Broken);
    assert!(
        ran.said().contains("the step a returns a machine") && ran.said().contains("end with their step"),
        "{}",
        ran.said()
    );
}
