//! Lab scripts that record what a kernel does.

use std::path::{Path, PathBuf};

use crate::experiments::{call, folder, result};
use crate::support::{KERNEL, Place, text};

const SCRIPT: &str = r#"
experiment(question = "what does the kernel do?", time = "5m")

def recorded(lab):
    m = lab.machine(disks = ["16M"])
    expect(m.end_trace(allow = ["refused"]) == None, "there is no recording")
    m.trace(events = ["sched", "syscalls:sys_enter_sync", "nothing:here"], buffer = "1M")
    expect(m.trace(allow = ["refused"]).error == "refused", "one at a time")
    expect(m.snapshot(allow = ["refused"]).error == "refused", "it would go on behind its end")
    m.run("sync; echo in the middle > $KILN_TRACE_MARKER")
    m.pause()
    m.resume()
    whole = m.end_trace()
    expect(whole["events"] > 0 and whole["lost"] == 0 and whole["is_whole"], "all of it")
    expect(whole["missing"] == ["nothing:here"], "an event that is not there")
    m.run("true")

    m.trace()
    # The agent passes on what is recorded when the machine idles, and the power cut loses the rest.
    m.run("for nap in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; done")
    m.power_cut()
    cut = m.end_trace()
    expect(cut["events"] > 0 and not cut["is_whole"], "up to the power cut")
    m.run("true")
    expect(m.trace(events = ["nothing"], allow = ["missing"]).error == "missing", "nothing to record")
    expect(m.trace(events = ["../x"], allow = ["refused"]).error == "refused", "no event")
    expect(m.trace(buffer = 1, allow = ["refused"]).error == "refused", "no buffer")
    m.trace()

step(recorded)
"#;

/// The traces below a folder, in the order of their numbers.
fn traces(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("readable").flatten() {
            let path = entry.path();
            if path.join("metadata").exists() {
                found.push(path);
            } else if path.is_dir() {
                open.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_script_records_what_the_kernel_does_up_to_a_power_cut() {
    let place = Place::new();
    let (folder, results) = (folder(&place, SCRIPT), place.path().join("results"));
    let done = call(&place, &folder, &[KERNEL, "--results", text(&results)]).run();
    let run = result(&done);
    assert_eq!(run.outcome, judge::Outcome::Pass, "{run:#?}");
    let traces = traces(&results);
    let [whole, cut, last] = &traces[..] else { panic!("{traces:?}") };
    let shown = |trace: &PathBuf, filter: &str| {
        place.kiln(["trace", "view", text(trace), "--filter", filter]).run().expect(0).stdout
    };
    let marks = shown(whole, "name == print");
    let mut lines = marks.lines();
    for mark in ["kiln: run command=", "in the middle", "kiln: pause", "kiln: end_trace"] {
        assert!(lines.any(|line| line.contains(mark)), "no {mark:?} in its place: {marks}");
    }
    assert_eq!(shown(whole, "name == sys_enter_sync").lines().count(), 1);
    assert_eq!(shown(whole, "name == step"), "");
    for (trace, step) in [(cut, "kiln: power_cut"), (last, "kiln: the machine ends")] {
        let all = shown(trace, "time >= 0");
        assert!(all.lines().last().is_some_and(|line| line.contains(step)), "{step}: {all}");
    }
}
