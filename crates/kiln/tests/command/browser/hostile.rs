//! A ledger full of texts that want to be more than text.

use browser::{HOSTILE, hostile_lines};
use judge::kernel_report::{KernelReport, Kind};
use judge::{Outcome, Run};
use ledger::Journal;
use protocol::KernelRecord;
use serde_json::{Value, json};

use crate::support::Place;
use crate::support::written::{bisection, document, run, session, sessions_of};

/// The session with most of them.
const SESSION: &str = "2026-11-20T10-07-31Z-4711";

/// The bisection that was stopped, and the one that goes on.
const STOPPED: &str = "4f1c9a0e6b7d2c35";
const RUNNING: &str = "5f1c9a0e6b7d2c35";

/// Names of cases: a slash makes a folder, and NUL no name at all.
fn cases() -> impl Iterator<Item = &'static str> {
    [0, 1, 7].into_iter().map(|number| HOSTILE[number])
}

/// Names and paths of the pages of Runs whose cases are called so.
pub(super) fn runs() -> impl Iterator<Item = (String, String)> {
    let encoded = |case: &str| case.bytes().map(encode).collect::<String>();
    let path = move |case| format!("/session/{SESSION}/{}", encoded(case));
    cases().enumerate().map(move |(number, case)| (format!("run-hostile-{number}"), path(case)))
}

fn encode(byte: u8) -> String {
    let is_plain = byte.is_ascii_alphanumeric() || byte == b'/';
    if is_plain { char::from(byte).to_string() } else { format!("%{byte:02X}") }
}

/// Writes sessions that are hostile, imported, experiments, or at work, and bisections, of which one goes on as long as what is given
/// lives.
pub(super) fn write(place: &Place) -> Journal {
    let root = sessions_of(place);
    let mut failures: Vec<Run> = cases().map(hostile).collect();
    failures.push(Run { output: hostile_lines(), ..run("pipe/full", Outcome::Fail, "is 0 <b>") });
    let names: Vec<&str> = failures.iter().map(|run| run.case.as_str()).collect();
    session(&root, SESSION, &poisoned(document(&names)), &failures);
    session(
        &root,
        &format!("{SESSION}.2"),
        &document(&["pipe/size"]),
        &[run("pipe/size", Outcome::Pass, "")],
    );

    let mut imported = poisoned(document(&["pipe/full"]));
    imported["origin"] = json!({"host": HOSTILE[4], "session": HOSTILE[7]});
    session(&root, "2026-11-19T10-07-31Z-1", &imported, &[hostile("pipe/full")]);

    session(&root, "2026-11-18T10-07-31Z-1", &document(&["exp/dock"]), &[]);
    std::fs::write(root.join("2026-11-18T10-07-31Z-1/result.json"), experiment().to_string())
        .expect("writable");

    let mut at_work = document(&["pipe/full", "pipe/size", "pipe/fifo"]);
    at_work
        .as_object_mut()
        .expect("a document")
        .retain(|field, _| !["summary", "took_seconds"].contains(&field.as_str()));
    session(&root, "2026-11-21T10-07-31Z-4711", &at_work, &[run("pipe/size", Outcome::Pass, "")]);

    let all = HOSTILE.join(" ");
    drop(bisection(place, STOPPED, &all));
    bisection(place, RUNNING, &all)
}

/// A session whose every text for people is hostile.
fn poisoned(mut document: Value) -> Value {
    let all = HOSTILE.join(" ");
    for field in ["kiln", "locator", "provenance", "release", "machine", "suite"] {
        document[field] = all.clone().into();
    }
    document["command"] = json!(["run", all, HOSTILE[1]]);
    document
}

/// A Run whose every text is hostile.
fn hostile(case: &str) -> Run {
    let all = HOSTILE.join("\n");
    let record =
        |text: &str| KernelRecord { sequence: 1, time_us: 2_500_000, level: 4, text: text.to_owned() };
    let report = |text: &&str| KernelReport {
        kind: Kind::Bug,
        title: format!("BUG in {text}"),
        lines: HOSTILE.map(str::to_owned).into(),
    };
    Run {
        about: all.clone(),
        evidence: HOSTILE.map(str::to_owned).into(),
        kernel_reports: HOSTILE.iter().map(report).collect(),
        output: hostile_lines(),
        log: hostile_lines().lines().map(record).collect(),
        notes: HOSTILE.map(str::to_owned).into(),
        not_found: HOSTILE.map(str::to_owned).into(),
        ..run(case, Outcome::Crash, &format!("BUG in {}", HOSTILE[0]))
    }
}

/// What an experiment recorded.
fn experiment() -> Value {
    let figures = HOSTILE.map(|name| json!({"name": name, "value": 2.5}));
    let run = serde_json::to_value(run("exp/dock", Outcome::Pass, "")).expect("a document");
    json!({
        "name": HOSTILE[0], "ended": "2026-11-18T10:08:31Z", "kernels": HOSTILE, "run": run, "figures": figures,
        "request": {"version": 1, "folder": HOSTILE[2], "kernels": []},
    })
}
