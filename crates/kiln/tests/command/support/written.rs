//! Sessions and bisections that are written down: to show one needs no machine.

use std::fs;
use std::path::{Path, PathBuf};

use judge::{Outcome, Run};
use ledger::Journal;
use serde_json::{Value, json};

use super::Place;

/// Where the sessions of a place are.
pub(crate) fn sessions_of(place: &Place) -> PathBuf {
    let root = place.path().join("state/kiln/runs");
    fs::create_dir_all(&root).expect("writable");
    root
}

/// What `session.json` of one that came to its end says.
pub(crate) fn document(cases: &[&str]) -> Value {
    let release = "6.1.0-56-cloud-amd64";
    json!({
        "started": "2026-11-20T10:07:31Z", "kiln": "0.1.0", "locator": format!("deb:{release}"), "kernel": format!("deb:{release}"),
        "provenance": "Debian 6.1.176-1", "release": release, "identity": "x", "machine": "QEMU with TCG, 1 CPU, 1024 MiB",
        "suite": "smoke", "cases": cases, "command": ["run", format!("deb:{release}"), "--case", "pipe/*"], "took_seconds": 75.5,
        "summary": {"pass": 1, "fail": 1, "crash": 0, "hang": 0, "skip": 0, "broken": 0, "not_run": 0},
    })
}

/// A Run of a case with this conclusion.
pub(crate) fn run(case: &str, outcome: Outcome, reason: &str) -> Run {
    let duration = std::time::Duration::from_millis(1_500);
    Run { case: case.to_owned(), outcome, reason: reason.to_owned(), duration, ..Run::unstarted() }
}

/// Writes a session, as a recorder does: first its folder, and what is in it little by little.
pub(crate) fn session(root: &Path, name: &str, document: &Value, runs: &[Run]) {
    let folder = root.join(name);
    fs::create_dir(&folder).expect("writable");
    fs::write(folder.join("session.json"), document.to_string()).expect("writable");
    runs.iter().for_each(|run| add_run(&folder, run));
}

/// A bisection with this question, on which somebody works as long as its journal is open.
pub(crate) fn bisection(place: &Place, name: &str, question: &str) -> Journal {
    let folder = place.path().join("state/kiln/bisections").join(name);
    let (journal, _) = Journal::open::<Value>(&folder).expect("writable");
    goes_on(&journal, question, 1);
    journal
}

/// So many of its states have been tested.
pub(crate) fn goes_on(journal: &Journal, question: &str, steps: usize) {
    let names: Vec<String> = (1..=8).map(|number| format!("{question} c{number}")).collect();
    let state = |(number, name): (usize, &String)| {
        let (bad, good) = if number < 2 { (0, 3) } else { (3, 0) };
        json!({"point": {"after": number}, "name": name, "bad": bad, "good": good, "evidence": {"release": null}})
    };
    let states: Vec<Value> = names.iter().enumerate().take(steps).map(state).collect();
    let tests =
        json!([{"name": names[steps], "times": 4, "purpose": "search", "since": "2026-11-20T10:07:31Z"}]);
    let belief = json!({"probabilities": vec![0.125; 8], "steps": steps, "steps_left": 2.5, "time_left": 60.0, "rate": [1.0, true]});
    let document = json!({
        "kind": "commits", "question": {"case": question}, "fixed": false, "ends": [question, question], "candidates": names,
        "threshold": null, "states": states, "testing": tests, "belief": belief,
    });
    journal.keep("underway", &document).expect("writable");
}

/// Adds what came of one more case.
pub(crate) fn add_run(session: &Path, run: &Run) {
    let path = session.join("cases").join(format!("{}.json", judge::run::file_name(&run.case)));
    fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
    fs::write(path, serde_json::to_vec(run).expect("a document")).expect("writable");
}
