//! What must hold for the KTAP of every session.

use std::collections::HashMap;

use judge::ktap::Status;
use judge::{Blame, Outcome, Run};
use proptest::prelude::*;
use report::Ktap;

use crate::ktap_reader::{Level, Test, read};
use crate::sessions::{emit, empty, events, exec, interrupted, no_boot, rich, run, session};
use crate::snapshots::written;
use crate::streams::{Stream, stream};

#[test]
fn written_sessions_are_ktap() {
    for events in [rich(), no_boot(), exec(), empty(), interrupted()] {
        let text = written!(events, Ktap::new);
        read(&text).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
    }
}

#[test]
fn areas_in_turns_stay_together() {
    let cases = ["pipe/full", "mm/oops", "pipe/splice", "true"];
    let runs = cases.map(|case| run(case, Outcome::Pass, "")).to_vec();
    let text = written!(events(session("all", &cases), runs, false), Ktap::new);
    let results: Vec<_> = text.lines().filter(|line| !line.contains('#')).collect();
    let expected = [
        "KTAP version 1",
        "1..3",
        "  KTAP version 1",
        "  1..1",
        "  ok 1 oops",
        "ok 1 mm",
        "  KTAP version 1",
        "  1..2",
        "  ok 1 full",
        "  ok 2 splice",
        "ok 2 pipe",
        "ok 3 true",
    ];
    assert_eq!(results, expected);
}

fn has_result(run: &Run) -> bool {
    !matches!(run.blame, Some(Blame::Machine | Blame::Host | Blame::Kiln))
}

/// `ok` and the first word of the directive.
type Shape = (bool, Option<String>);

fn expected(run: &Run) -> Shape {
    let (ok, word) = match run.outcome {
        Outcome::Pass => (true, None),
        Outcome::Skip => (true, Some("SKIP")),
        Outcome::Fail => (false, None),
        Outcome::Crash | Outcome::Broken => (false, Some("ERROR")),
        Outcome::Hang => (false, Some("TIMEOUT")),
    };
    (ok, word.map(str::to_string))
}

fn shape(test: &Test) -> Shape {
    let word = test.directive.as_ref().and_then(|directive| directive.split(' ').next());
    (test.ok, word.map(str::to_string))
}

/// How many results of each shape are in the document, areas left out.
fn leaves(level: &Level) -> HashMap<Shape, usize> {
    let leaves = level.tests.iter().flat_map(|test| match &test.inside {
        Some(inside) => inside.tests.iter().collect(),
        None => vec![test],
    });
    count(leaves.map(shape))
}

fn count(shapes: impl Iterator<Item = Shape>) -> HashMap<Shape, usize> {
    let mut counts = HashMap::new();
    shapes.for_each(|shape| *counts.entry(shape).or_default() += 1);
    counts
}

fn unique_names(level: &Level) -> bool {
    let mut names: Vec<_> = level.tests.iter().map(|test| &test.name).collect();
    let all = names.len();
    names.sort();
    names.dedup();
    names.len() == all && level.tests.iter().filter_map(|test| test.inside.as_ref()).all(unique_names)
}

/// Areas and programs of the plan.
fn planned_tests(stream: &Stream) -> usize {
    let mut areas: Vec<_> = stream.cases.iter().filter_map(|case| area(case)).collect();
    areas.sort_unstable();
    areas.dedup();
    areas.len() + stream.cases.iter().filter(|case| area(case).is_none()).count()
}

fn area(case: &str) -> Option<&str> {
    case.split_once('/').filter(|(area, rest)| !area.is_empty() && !rest.is_empty()).map(|(area, _)| area)
}

/// A test as kiln's own reader must read it; the strict one has read the document before.
fn as_read_back(test: &Test) -> (String, Status) {
    let word = test.directive.as_ref().and_then(|directive| directive.split(' ').next());
    let status = match (test.ok, word) {
        (_, Some("SKIP")) => Status::Skip,
        (_, Some("TIMEOUT")) => Status::Timeout,
        (_, Some("ERROR")) => Status::Error,
        (true, _) => Status::Pass,
        (false, _) => Status::Fail,
    };
    // Without a name, what stands after the directive is one.
    let text =
        test.directive.as_ref().and_then(|directive| directive.split_once(' ')).map_or("", |(_, text)| text);
    let name = if test.name.is_empty() { text.trim() } else { &test.name };
    (name.to_string(), status)
}

/// Paths and status of all tests that have a result.
fn written_tests(tests: &[Test], above: &str, all: &mut Vec<(String, Status)>) {
    for test in tests {
        let (name, status) = as_read_back(test);
        let path = format!("{above}/{name}");
        written_tests(test.inside.as_ref().map_or(&[], |inside| &inside.tests), &path, all);
        all.push((path, status));
    }
}

fn read_tests(tests: &[judge::ktap::Test], above: &str, all: &mut Vec<(String, Status)>) {
    for test in tests.iter().filter(|test| test.status != Status::Unfinished) {
        let path = format!("{above}/{}", test.name);
        read_tests(test.tests(), &path, all);
        all.push((path, test.status));
    }
}

/// What the strict reader and kiln's own find in the same document.
fn both_readers(text: &str) -> Result<[Vec<(String, Status)>; 2], String> {
    let (mut written, mut read_back) = (Vec::new(), Vec::new());
    written_tests(&read(text)?.tests, "", &mut written);
    judge::ktap::read(text).groups.iter().for_each(|group| read_tests(&group.tests, "", &mut read_back));
    Ok([written, read_back])
}

#[test]
fn names_that_look_like_syntax_are_names() {
    let names = [
        "Subtest: x/y",
        "p/Subtest: x",
        "selftests: x/y",
        "RUN x/y ...",
        "- x/- y",
        "-",
        "--",
        "q/-",
        "1..2/ok 1",
    ];
    for outcome in [Outcome::Pass, Outcome::Skip, Outcome::Fail] {
        let runs = names.map(|case| run(case, outcome, "")).to_vec();
        let text = written!(events(session("all", &names), runs, false), Ktap::new);
        let [written, read_back] = both_readers(&text).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
        assert_eq!(written, read_back, "{text}");
        for name in ["/Subtest: x/y", "/- x/- y", "/-", "/q/-"] {
            assert!(read_back.iter().any(|(path, _)| path == name), "{name} in {text}");
        }
    }
}

proptest! {
    #[test]
    fn every_session_is_read_back(stream in stream()) {
        let text = written!(stream.events(), Ktap::new);
        let [written, read_back] = both_readers(&text).map_err(TestCaseError::fail)?;
        prop_assert_eq!(written, read_back, "{}", text);
        let results = judge::ktap::read(&text);
        prop_assert_eq!(results.groups.len(), 1);
        prop_assert_eq!(results.groups[0].bail_out.is_some(), stream.interrupted || stream.boot_failed);
    }

    #[test]
    fn every_session_is_ktap(stream in stream()) {
        let text = written!(stream.events(), Ktap::new);
        let level = read(&text).map_err(|problem| TestCaseError::fail(format!("{problem}\n{text}")))?;
        prop_assert_eq!(leaves(&level), count(stream.runs.iter().filter(|run| has_result(run)).map(expected)));
        prop_assert_eq!(level.plan, planned_tests(&stream));
        prop_assert_eq!(level.bail_out.is_some(), stream.interrupted || stream.boot_failed);
        prop_assert!(unique_names(&level), "{}", text);
        prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
    }
}
