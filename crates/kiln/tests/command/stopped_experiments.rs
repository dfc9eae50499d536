//! kiln ends while it runs an experiment: nothing of it is left, and the next call goes on after the last complete step.

use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;

use crate::support::held::{as_it_is, await_held, with_programs};
use crate::support::root::with_busybox;
use crate::support::stopping::{SIGNALS, half, stop, with_own_temporary};
use crate::support::{BUILD, Call, KERNEL, Place, Running, text, until};

/// Two steps. The second one says when it is time, and ends, in QEMU, with a machine whose root is yet to be made, which takes as
/// long as the program of this host that makes it.
const SCRIPT: &str = r#"
experiment(question = "why?", time = "60m", measures = [metric_info("number", unit = "1")])

def first(lab):
    note("first on " + lab.machine().run("uname -s").output.strip())
    return 7

def second(lab, number):
    BEFORE
    note("it is time")
    NOW
    if not lab.kernels[0].locator.startswith("uml"):
        lab.machine(root = "ROOT")
    metric("number", number)

step(second, step(first))
"#;

/// When a call is stopped.
struct Phase {
    /// What the script does before, and then.
    script: (&'static str, &'static str),
    /// How it is recognised, after the script has said that it is time.
    is_time: fn(&Running),
}

const BOOTS: Phase =
    Phase { script: ("", "m = lab.machine(clone = False)"), is_time: |running| assert!(running.qemu() > 0) };
const IS_CLONED: Phase =
    Phase { script: ("", "m = lab.machine()"), is_time: |running| assert!(running.qemu() > 0) };
const RUNS: Phase = Phase { script: ("m = lab.machine()\n    m.start(\"sleep 3600\")", ""), is_time: |_| () };
const WRITES: Phase = Phase {
    script: ("m = lab.machine()", "m.write(\"/tmp/x\", \"0123456789abcdef\" * (1 << 15))"),
    is_time: |_| (),
};
const CARRIES: Phase = Phase {
    script: (
        r#"wire = lab.segment()
    m = lab.machine(nics = [wire.nic()])
    b = lab.machine(nics = [wire.nic("10.77.0.9")])
    m.start("ping -i 0.01 10.77.0.9")
    m.run("ping -c 1 10.77.0.9")"#,
        "",
    ),
    is_time: |_| (),
};
const IS_KEPT: Phase = Phase {
    script: (
        "m = lab.machine()\n    m.run(\"dd if=/dev/urandom of=/tmp/x bs=1M count=100\")",
        "m.snapshot()",
    ),
    is_time: |_| (),
};
const GETS_A_ROOT: Phase = Phase { script: ("", "m = lab.machine(root = \"ROOT\")"), is_time: await_held };

/// An experiment in a place.
struct Trial {
    place: Place,
    folder: PathBuf,
}

impl Trial {
    fn new((before, now): (&str, &str)) -> Self {
        let place = Place::new();
        let (folder, root) = (place.path().join("it"), with_busybox(&place));
        fs::create_dir(&folder).expect("writable");
        let script = SCRIPT.replace("BEFORE", before).replace("NOW", now).replace("ROOT", text(&root));
        fs::write(folder.join("experiment.star"), script).expect("writable");
        Self { place, folder }
    }

    /// The program of this name waits.
    fn call(&self, held: &str, kernels: &[&str]) -> Call {
        let results = self.place.path().join("results");
        let first = ["exp", "run", text(&self.folder), "--results", text(&results)];
        let kernels = kernels.iter().flat_map(|kernel| ["--kernel", kernel]);
        let call = self.place.kiln(first.into_iter().chain(kernels));
        let call = with_programs(&self.place, call, &[as_it_is("mkfs.erofs")], held);
        with_own_temporary(&self.place, call)
    }

    /// All that was recorded.
    fn journal(&self) -> String {
        let entries = fs::read_dir(self.place.path().join("results")).into_iter().flatten().flatten();
        let journals = entries.map(|entry| entry.path().join("journal.jsonl"));
        journals.filter_map(|path| fs::read_to_string(path).ok()).collect()
    }

    fn await_record(&self, text: &str, count: usize) {
        until(text, || (self.journal().matches(text).count() >= count).then_some(()));
    }
}

#[track_caller]
fn survives(phase: &Phase, signal: Signal) {
    let trial = Trial::new(phase.script);
    let running = trial.call("mkfs.erofs", &[KERNEL]).start();
    trial.await_record("it is time", 1);
    (phase.is_time)(&running);
    stop(&trial.place, running, signal);
    let done = trial.call("", &[KERNEL]).run_within(BUILD).expect(0);
    let done = done.says("goes on after the steps").says("number = 7");
    assert_eq!(trial.journal().matches("first on").count(), 1, "{}", done.stdout);
    assert_eq!(half(&trial.place.path().join("results")), [""; 0].map(PathBuf::from));
}

fn survives_each(phase: &Phase) {
    SIGNALS.into_iter().for_each(|signal| survives(phase, signal));
}

#[test]
fn while_a_machine_boots() {
    survives_each(&BOOTS);
}

#[test]
fn while_a_machine_is_cloned() {
    survives_each(&IS_CLONED);
}

#[test]
fn while_a_command_runs() {
    survives_each(&RUNS);
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn while_a_file_is_written() {
    survives_each(&WRITES);
}

#[test]
fn while_a_segment_carries_frames() {
    survives_each(&CARRIES);
}

#[test]
fn while_a_machine_is_kept_in_a_snapshot() {
    survives_each(&IS_KEPT);
}

#[test]
fn while_a_user_space_is_made_for_a_machine() {
    survives_each(&GETS_A_ROOT);
}

/// One of them is complete, and the other one waits for its root.
#[test]
fn while_runs_are_compared() {
    let trial = Trial::new(RUNS.script);
    let call = |held| trial.call(held, &["uml:deb", KERNEL]);
    let running = call("mkfs.erofs").start();
    trial.await_record("concluded", 1);
    await_held(&running);
    stop(&trial.place, running, Signal::KILL);
    let done = call("").run_within(BUILD).expect(0).says("goes on after the steps").says("all kernels");
    assert_eq!(done.stdout.matches("outcome").count(), 1, "{}", done.stdout);
}
