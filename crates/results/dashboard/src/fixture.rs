//! Sessions for tests.

use std::path::Path;

use bisect::Underway;
use lab::event::Session;
use ledger::Journal;
use outbox::Outbox;
use post::Posts;

use crate::store::Folders;

/// What is kept beside sessions is below them here.
pub(crate) fn folders(root: &Path) -> Folders {
    let [figures, bisections, checks] =
        ["figures", "bisections", "checks"].map(|name| root.join("beside").join(name));
    let outbox = Outbox::at(root.join("beside/outbox"));
    let posts = Posts::at(&root.join("beside/posts"));
    Folders { sessions: root.to_owned(), figures, bisections, checks, outbox, posts }
}

/// The plan of a session with these cases.
pub(crate) fn session(cases: &[&str]) -> Session {
    let document = serde_json::json!({
        "started": "2026-11-20T10:00:00Z", "kiln": "0.1.0", "locator": "deb:6.1.0-47-amd64", "provenance": "",
        "identity": "x", "machine": "QEMU", "suite": "smoke", "cases": cases, "jobs": 1,
    });
    serde_json::from_value(document).expect("a session")
}

/// A bisection with this question, on which a kiln works as long as its journal is open.
pub(crate) fn bisect(folder: &Path, question: &str) -> Journal {
    let state = |point: &str, name: &str, bad: u32, good: u32| serde_json::json!({"point": point, "name": name, "bad": bad, "good": good, "evidence": {}});
    let document = serde_json::json!({
        "kind": "commits", "question": {"case": question}, "fixed": false, "ends": ["v6.1", "v6.2"], "candidates": ["c1", "c2", "c3"],
        "threshold": null, "states": [state("first", "v6.1", 0, 3), state("last", "v6.2", 3, 0)],
        "testing": [{"name": "c2", "times": 4, "purpose": "search", "since": "2026-11-20T10:07:31Z"}],
        "belief": {"probabilities": [0.3, 0.3, 0.4], "steps": 1, "steps_left": 1.5, "time_left": 60.0, "rate": [1.0, true]},
    });
    let underway: Underway = serde_json::from_value(document).expect("a search");
    let (journal, _) = Journal::open::<serde_json::Value>(folder).expect("a journal");
    journal.keep("underway", &underway).expect("writable");
    journal
}

/// A session with a Run of this case that failed for this reason.
pub(crate) fn add(root: &Path, name: &str, case: &str, reason: &str) {
    let folder = root.join(name);
    std::fs::create_dir_all(folder.join("cases")).expect("a folder");
    let session = r#"{"started": "2026-11-20T10:00:00Z", "kiln": "0.1.0", "locator": "deb:6.1.0-47-amd64", "kernel": "deb:6.1.0-47-amd64",
        "provenance": "", "release": "6.1.0-47-amd64", "identity": "x", "machine": "QEMU", "suite": "smoke", "cases": ["CASE"],
        "command": ["run", "deb:6.1.0-47-amd64"], "summary": {"pass": 0, "fail": 1, "crash": 0, "hang": 0, "skip": 0, "broken": 0, "not_run": 0}}"#;
    std::fs::write(folder.join("session.json"), session.replace("CASE", case)).expect("writable");
    let run = judge::Run {
        case: case.to_owned(),
        outcome: judge::Outcome::Fail,
        reason: reason.to_owned(),
        ..judge::Run::unstarted()
    };
    let path = folder.join("cases").join(format!("{case}.json"));
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, serde_json::to_vec(&run).expect("a document")).expect("writable");
}
