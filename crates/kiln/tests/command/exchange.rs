//! `kiln export` and `kiln import`: sessions for other programs and hosts.

use std::path::PathBuf;

use measure::Measurement;
use serde_json::Value;

use crate::results::place;
use crate::support::python::python;
use crate::support::{Done, KERNEL, Place, text};

fn exported(place: &Place, more: &[&str]) -> String {
    place.kiln([&["export"], more].concat()).run().expect(0).stdout
}

/// The same sessions as another host has them.
fn from_elsewhere(place: &Place) -> PathBuf {
    let text = exported(place, &[]);
    let planned: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    let host = format!("\"host\":{}", planned["origin"]["host"]);
    assert_eq!(text.matches(&host).count(), 2, "{host}");
    place.file("there.jsonl", text.replace(&host, "\"host\":\"lab7\""))
}

#[test]
fn sessions_of_another_host_are_like_those_of_this_one() {
    let (there, here) = (place(), Place::new());
    let file = from_elsewhere(&there);
    let imported = here.kiln(["import", text(&file)]).run().expect(0).stdout;
    assert_eq!(imported, "imported 2 sessions; 0 were here already\n");
    let again = here.kiln(["import", text(&file)]).run().expect(0).stdout;
    assert_eq!(again, "imported 0 sessions; 2 were here already\n");
    assert_eq!(
        exported(&here, &[]),
        std::fs::read_to_string(&file).expect("text"),
        "nothing has changed on the way"
    );
    let runs = |place: &Place| {
        let listed = place.kiln(["results", "--json"]).run().expect(0).stdout;
        listed.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")).collect::<Vec<_>>()
    };
    let mut known = runs(&here);
    for run in &mut known {
        assert_eq!(run.as_object_mut().expect("an object").remove("origin"), Some("lab7".into()));
    }
    assert_eq!(known, runs(&there));
    let shown = here.kiln(["show", "last"]).run().expect(0).stdout;
    assert!(shown.contains("some words") && shown.contains("lab7"), "{shown}");
    for verb in [&["replay", "last"][..], &["bundle", "last", "-o", "x.tar"]] {
        let refused = here.kiln(verb.iter().copied()).run().expect(2).stderr;
        assert!(refused.contains("was run on lab7: make a bundle there"), "{refused}");
    }
    let home = there.kiln(["import", text(&there.file("own.jsonl", exported(&there, &[])))]).run().expect(0);
    assert_eq!(home.stdout, "imported 0 sessions; 2 were here already\n");
}

#[test]
fn a_session_is_written_later_as_it_was_printed_then() {
    let place = Place::new();
    for format in ["ktap", "junit"] {
        let done = place.kiln(["run", KERNEL, "--case", "pipe/*", "--format", format]).run().expect(0);
        assert_eq!(exported(&place, &["last", "--format", format]), done.stdout);
    }
    let refused = place.kiln(["export", "--format", "ktap"]).run().expect(2).stderr;
    assert!(refused.contains("2 sessions match, and this format has room for one: name it"), "{refused}");
    let table = exported(&place, &["--format", "csv"]);
    let cases = table.lines().filter(|line| line.contains(",pipe/full,")).count();
    assert!(cases == 2 && table.starts_with("session,origin,started,"), "{table}");
    let folder = std::fs::read_dir(place.path().join("state/kiln/runs")).expect("there").flatten();
    let sessions = folder.filter(|entry| entry.path().join("session.json").is_file());
    sessions.for_each(|session| std::fs::remove_dir_all(session.path()).expect("it is there"));
    assert_eq!(exported(&place, &["--format", "csv"]), table, "rows need no folders");
    let done = place.kiln(["export"]).run().expect(0);
    assert!(done.stdout.is_empty(), "{}", done.stdout);
    assert!(done.stderr.contains("2 of 2 sessions have no folders any more"), "{}", done.stderr);
}

#[test]
fn what_cannot_leave_or_arrive_is_one_clear_message() {
    let place = Place::new();
    let refused = |arguments: &[&str], message: &str| -> Done {
        let done = place.kiln(arguments.iter().copied()).run().expect(2);
        assert!(done.stderr.contains(message) && done.stderr.lines().count() == 1, "{}", done.stderr);
        done
    };
    let nothing = place.kiln(["export"]).run().expect(0);
    assert!(nothing.stdout.is_empty() && nothing.stderr.contains("no session in "), "{}", nothing.stderr);
    place.kiln(["run", KERNEL, "--case", "pipe/full"]).run().expect(0);
    refused(&["export", "2001"], "no session \"2001\"");
    refused(&["export", "--kernel", "deb:7.*"], "no session has a kernel \"deb:7.*\"");
    refused(&["export", "--suite", "smok"], "did you mean smoke?");
    refused(&["export", "-o", "/nowhere/x"], "--output /nowhere/x: name a file that can be written");
    let origin = place.kiln(["export", "--format", "kcidb", "--origin", "My Lab"]).run().expect(2).stderr;
    assert!(origin.contains("KCIDB takes small letters, digits and _"), "{origin}");
    refused(&["import", "/nowhere"], "/nowhere: ");
    let image = place.file("image", [0x7f, b'E', b'L', b'F', 0, 1, 2, 3]);
    refused(&["import", text(&image)], "image: line 1: is not what kiln export --format json writes");
    let printed =
        place.kiln(["run", KERNEL, "--case", "pipe/full", "--format", "json"]).run().expect(0).stdout;
    let printed = place.file("printed", printed);
    refused(&["import", text(&printed)], "line 1: is not from kiln export: it has no origin");
    let evil = exported(&place, &["last"]).replacen("\"session\":\"", "\"session\":\"../../", 1);
    refused(&["import", text(&place.file("evil", evil))], "is not a valid name of a session");
    let empty = place.kiln(["import", text(&place.file("empty", ""))]).run().expect(0).stdout;
    assert_eq!(empty, "imported 0 sessions; 0 were here already\n");
}

/// A place with a measurement, and its samples as a table.
fn samples(format: &str) -> (Place, PathBuf) {
    let place = Place::new();
    place.kiln(["measure", KERNEL, "--metric", "syscall/getppid", "--boots", "2"]).run().expect(0);
    let file = place.path().join(format!("samples.{format}"));
    place.kiln(["export", "--samples", "--format", format, "-o", text(&file), "last"]).run().expect(0);
    (place, file)
}

#[test]
fn samples_of_measurements_are_rows() {
    let (place, file) = samples("csv");
    let table = std::fs::read_to_string(file).expect("written");
    let (head, rows) = table.split_once("\r\n").expect("a head");
    assert!(head.starts_with("measurement,side,locator,") && head.ends_with(",value"), "{head}");
    for boot in ["0", "1"] {
        let of_boot = format!(",syscall/getppid,instructions,false,{boot},");
        assert!(rows.lines().filter(|row| row.contains(&of_boot)).count() > 5, "{rows}");
    }
    let export = |more: &[&str]| place.kiln([&["export", "--samples"], more].concat()).run();
    let refused = |more: &[&str], why: &str| {
        let done = export(more).expect(2);
        assert!(done.stderr.contains(why), "{}", done.stderr);
    };
    refused(&[], "--samples are rows: give --format csv or --format parquet");
    refused(&["--format", "csv", "2001"], "no measurement \"2001\" in ");
    let none = export(&["--format", "csv", "--kernel", "deb:none"]).expect(0);
    assert_eq!(none.stdout.lines().count(), 1, "the head");
    assert!(none.stderr.contains("matches"), "{}", none.stderr);
}

#[test]
#[ignore = "needs packages of PyPI"]
fn kernelci_pandas_and_duckdb_read_what_is_exported() {
    let place = place();
    let odd = place.script("od'd,\"x\"", "printf '\\033[31m\\303(\\n'; exit 1");
    place.kiln(["run", KERNEL, "--no-retry", "--exec", text(&odd)]).run().expect(1);
    let listed = place.kiln(["results", "--json"]).run().expect(0).stdout;
    let runs: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let failed = runs.iter().filter(|run| run["outcome"] == "fail").count();
    let write = |format: &str| {
        let file = place.path().join(format);
        let origin: &[&str] = if format == "kcidb" { &["--origin", "mylab"] } else { &[] };
        let arguments = [&["export", "--format", format, "-o", text(&file)], origin].concat();
        place.kiln(arguments).run().expect(0);
        file
    };
    let validate = "
import json, sys
from kcidb_io.schema import LATEST
document = json.load(open(sys.argv[1]))
LATEST.validate(LATEST.upgrade(document))
statuses = [test['status'] for test in document['tests']]
builds = {build['id'] for build in document['builds']}
assert all(test['build_id'] in builds for test in document['tests'])
assert {build['checkout_id'] for build in document['builds']} == {one['id'] for one in document['checkouts']}
assert {one['issue_id'] for one in document['incidents']} == {issue['id'] for issue in document['issues']}
print(len(statuses), statuses.count('FAIL'), len(document['issues']), len(builds))
";
    // The boot of each session is a test of KCIDB's.
    let wanted = format!("{} {failed} 2 1", runs.len() + 3);
    assert_eq!(python(validate, &write("kcidb")), wanted);
    let wanted = format!("{} {failed} datetime64[ms, UTC]", runs.len());
    let by_pandas = "
import pandas, sys
runs = pandas.read_parquet(sys.argv[1])
assert '''od'd,\"x\"''' in list(runs['case'])
print(len(runs), (runs.outcome == 'fail').sum(), runs.started.dtype)
";
    assert_eq!(python(by_pandas, &write("parquet")), wanted);
    let by_duckdb = "
import duckdb, sys
select = f\"SELECT count(*), count(*) FILTER (outcome = 'fail'), count(DISTINCT session) FROM '{sys.argv[1]}'\"
print(*duckdb.sql(select).fetchall()[0])
";
    let wanted = format!("{} {failed} 3", runs.len());
    let parquet = place.path().join("runs.parquet");
    std::fs::rename(place.path().join("parquet"), &parquet).expect("the same disk");
    assert_eq!(python(by_duckdb, &parquet), wanted);
    let table = place.path().join("runs.csv");
    std::fs::rename(write("csv"), &table).expect("the same disk");
    assert_eq!(python(by_duckdb, &table), wanted);
}

#[test]
#[ignore = "needs packages of PyPI"]
fn pandas_and_duckdb_read_samples() {
    let by_pandas = "
import pandas, sys
samples = pandas.read_parquet(sys.argv[1])
medians = samples[~samples.is_ticked].groupby(['metric', 'boot']).value.median()
print(*medians['syscall/getppid'])
";
    let by_duckdb = "
import duckdb, sys
select = f\"SELECT boot, median(value) FROM '{sys.argv[1]}' WHERE NOT is_ticked AND metric = 'syscall/getppid' GROUP BY boot ORDER BY boot\"
print(*[median for _, median in duckdb.sql(select).fetchall()])
";
    let (place, file) = samples("parquet");
    let folder = place.path().join("state/kiln/measurements");
    let kept = std::fs::read_dir(folder).expect("made").flatten().next().expect("one");
    let document = std::fs::read_to_string(kept.path().join("measurement.json")).expect("kept");
    let measurement: Measurement = serde_json::from_str(&document).expect("JSON");
    let metric =
        measurement.metrics.iter().find(|metric| metric.name == "syscall/getppid").expect("asked for");
    let medians =
        metric.values.iter().map(|value| format!("{:.1}", value.median)).collect::<Vec<_>>().join(" ");
    assert_eq!([by_pandas, by_duckdb].map(|program| python(program, &file)), [medians.as_str(), &medians]);
}
