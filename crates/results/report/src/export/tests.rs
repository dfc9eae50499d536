use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::RowAccessor;
use judge::{Outcome, Run};
use lab::event::{Origin, Session};
use ledger::KnownRun;

use super::*;
use crate::results::tests::run;

fn odd() -> KnownRun {
    KnownRun {
        origin: Some("lab7".to_owned()),
        blame: Some("case".to_owned()),
        release: None,
        is_boot: true,
        ..run("evil\u{1b}[31m,\"x\"", Outcome::Broken, "two\nlines")
    }
}

#[test]
fn a_table_has_a_row_for_each_run_and_no_value_that_a_terminal_obeys() {
    let mut out = Vec::new();
    runs().csv(&[run("pipe/full", Outcome::Pass, ""), odd()], &mut out).expect("written");
    let text = String::from_utf8(out).expect("UTF-8");
    assert!(!text.contains('\u{1b}'), "{text}");
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let heads: Vec<String> = reader.headers().expect("a line").iter().map(str::to_owned).collect();
    let rows: Vec<_> = reader.records().map(|row| row.expect("a row")).collect();
    let field = |row: usize, name: &str| {
        let column = heads.iter().position(|head| head == name).expect("a column");
        rows[row].get(column).expect("a field").to_owned()
    };
    assert_eq!([field(0, "outcome"), field(0, "case"), field(0, "blame")], ["pass", "pipe/full", ""]);
    assert_eq!([field(0, "duration_seconds"), field(0, "is_boot")], ["1.5", "false"]);
    assert_eq!([field(1, "reason"), field(1, "origin"), field(1, "release")], ["two lines", "lab7", ""]);
    assert_eq!(field(1, "started"), "2026-11-20T10:00:00Z");
}

#[test]
fn parquet_gives_back_what_was_written_byte_for_byte() {
    let mut out = Vec::new();
    runs().parquet(&[run("pipe/full", Outcome::Pass, ""), odd()], &mut out).expect("written");
    let reader = SerializedFileReader::new(bytes::Bytes::from(out)).expect("a file");
    let rows: Vec<_> = reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row")).collect();
    let columns = runs().0;
    let column = |name: &str| columns.iter().position(|column| column.name == name).expect("a column");
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1].get_string(column("case")).expect("text"), "evil\u{1b}[31m,\"x\"");
    assert_eq!(rows[1].get_string(column("reason")).expect("text"), "two\nlines");
    assert!(rows[1].get_string(column("release")).is_err(), "null is no text");
    assert_eq!(rows[0].get_string(column("release")).expect("text"), "6.1.0-47-amd64");
    assert!(rows[0].get_double(column("duration_seconds")).is_ok_and(|value| (value - 1.5).abs() < 1e-9));
    assert!(rows[1].get_bool(column("is_boot")).expect("a flag"));
    assert_eq!(
        rows[0].get_timestamp_millis(column("started")).expect("a time"),
        1_763_632_800_000 + 31_536_000_000
    );
}

#[test]
fn no_run_is_a_table_of_no_rows() {
    let mut out = Vec::new();
    runs().parquet(&[], &mut out).expect("written");
    let reader = SerializedFileReader::new(bytes::Bytes::from(out)).expect("a file");
    assert_eq!(reader.get_row_iter(None).expect("rows").count(), 0);
}

fn session() -> Session {
    let document = r#"{"started": "2026-11-20T10:00:00Z", "kiln": "0", "locator": "git:~/linux@v6.12",
        "kernel": "git:~/linux@0123456789012345678901234567890123456789", "provenance": "x\u0000\u001b[31m",
        "release": null, "identity": "x", "machine": "QEMU", "suite": "smoke", "cases": []}"#;
    serde_json::from_str(document).expect("a session")
}

fn origin() -> Origin {
    Origin { host: "lab7".to_owned(), session: "2026-1".to_owned() }
}

#[test]
fn events_are_lines_that_a_terminal_survives() {
    let planned = Session { origin: Some(origin()), ..session() };
    let events = [Event::Planned(Box::new(planned)), Event::Note { text: "a\u{9b}b".to_owned() }];
    let mut out = Vec::new();
    session_json(events.clone().into_iter(), &mut out).expect("written");
    let text = String::from_utf8(out).expect("UTF-8");
    assert!(!text.contains('\u{9b}'));
    let back: Vec<Event> = text.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    assert_eq!(back, events);
}

fn submission(runs: &[Run]) -> serde_json::Value {
    let mut kcidb = Kcidb::new("mylab");
    kcidb.add(&origin(), &session(), runs);
    let mut out = Vec::new();
    kcidb.write(&mut out).expect("written");
    serde_json::from_slice(&out).expect("JSON")
}

#[test]
fn outcomes_are_those_of_kcidb_and_failures_that_are_alike_are_one_issue() {
    let run = |case: &str, outcome, blame, reason: &str| Run {
        case: case.into(),
        outcome,
        blame,
        reason: reason.into(),
        boot: 1,
        ..Run::unstarted()
    };
    let (fail, broken) = (Outcome::Fail, Outcome::Broken);
    let crash = Run { is_boot: true, ..run("boot", Outcome::Crash, None, "panic") };
    let all = submission(&[
        crash,
        run("pipe/fu ll", Outcome::Pass, None, ""),
        run("a", fail, None, "is 1"),
        run("a", fail, None, "is 2"),
        run("b", broken, Some(judge::Blame::Case), "x"),
        run("c", broken, Some(judge::Blame::Host), "x"),
        run("d", Outcome::Skip, None, "no TPM"),
    ]);
    let texts = |list: &str, field: &str| -> Vec<String> {
        let all = all[list].as_array().expect("a list");
        all.iter().map(|one| one[field].as_str().expect("text").to_owned()).collect()
    };
    assert_eq!(texts("tests", "status"), ["FAIL", "PASS", "FAIL", "FAIL", "ERROR", "MISS", "SKIP"]);
    assert_eq!(texts("tests", "path")[..2], ["boot", "kiln.pipe.fu_ll"]);
    assert_eq!((texts("issues", "id").len(), texts("incidents", "id").len()), (2, 3));
    assert_eq!(all["checkouts"][0]["git_commit_hash"], "0123456789012345678901234567890123456789");
    assert!(!all.to_string().contains("\\u0000"), "{all}");
    assert_eq!(all["tests"][2]["id"], all["tests"][3]["id"], "the same case of the same session");
}

#[test]
fn a_boot_that_went_well_is_a_test_and_an_excerpt_has_its_end() {
    let evidence = vec!["ä".repeat(20_000) + " the end"];
    let run = Run { case: "a".into(), outcome: Outcome::Fail, boot: 1, evidence, ..Run::unstarted() };
    let all = submission(&[run]);
    assert_eq!([&all["tests"][0]["path"], &all["tests"][0]["status"]], ["boot", "PASS"]);
    let excerpt = all["tests"][1]["log_excerpt"].as_str().expect("text");
    assert!(excerpt.chars().count() == 16_384 && excerpt.ends_with(" the end"), "{}", excerpt.len());
}
