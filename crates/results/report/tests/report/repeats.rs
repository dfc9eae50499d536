//! What each report makes of cases that were run more than once.

use std::path::PathBuf;

use judge::{Outcome, Run};
use lab::Event;
use quick_junit::{FlakyOrRerun, NonSuccessKind, TestCaseStatus};
use report::{Human, Json, Junit, Ktap, Plain};

use crate::sessions::{emit, events, run, session, standing};
use crate::snapshots::written;
use crate::terminal::seen;

const PASS: (Outcome, &str) = (Outcome::Pass, "");
const WARNED: (Outcome, &str) = (Outcome::Fail, "WARNING in mm_oops");
const LOST: (Outcome, &str) = (Outcome::Fail, "bytes: is 3, expected 4096 (cases/splice.rs:41)");
const LOST_MORE: (Outcome, &str) = (Outcome::Fail, "bytes: is 17, expected 4096 (cases/splice.rs:41)");
const DIED: (Outcome, &str) = (Outcome::Crash, "Kernel panic: Fatal exception [#1]");
const BROKEN: (Outcome, &str) = (Outcome::Broken, "QEMU ended with signal 9");

fn repeated(case: &str, repeats: &[(Outcome, &str)]) -> Run {
    standing(run(case, Outcome::Pass, ""), repeats)
}

/// Passes but for the numbers of `failed`, from 1.
fn now_and_then(count: usize, failed: &[usize]) -> Vec<(Outcome, &'static str)> {
    (1..=count).map(|number| if failed.contains(&number) { WARNED } else { PASS }).collect()
}

/// A consistent failure, an intermittent one, twenty passes, a failure at the 17th time, several kinds of failure,
/// and a case that was never run to its end; two of them side by side.
fn several() -> Vec<Event> {
    let runs = vec![
        repeated("pipe/splice", &[LOST, LOST_MORE, LOST, LOST]),
        repeated("pipe/full", &[PASS; 20]),
        repeated("net/loopback", &now_and_then(20, &[4, 11, 12])),
        repeated("mm/oops", &now_and_then(17, &[17])),
        repeated("mm/odd", &[DIED, LOST, BROKEN, DIED]),
        repeated("net/gone", &[BROKEN; 4]),
        run("pipe/once", Outcome::Pass, ""),
    ];
    let cases = ["pipe/splice", "pipe/full", "net/loopback", "mm/oops", "mm/odd", "net/gone", "pipe/once"];
    let mut events = events(session("all", &cases), runs, false);
    // The third Run of pipe/splice ends when the first of pipe/full is there.
    let third = events.iter().position(|event| matches!(event, Event::Repeated(run) if run.clone == 3));
    let first =
        events.iter().position(|event| matches!(event, Event::Started { case, .. } if case == "pipe/full"));
    let (third, first) = (third.unwrap(), first.unwrap());
    events[third..first + 2].rotate_right(2);
    events
}

#[test]
fn each_report_tells_them_apart() {
    let human = written!(several(), |out| Human::new(out, false, Some(PathBuf::from("/results/17"))));
    insta::assert_snapshot!("repeats-human", human);
    insta::assert_snapshot!("repeats-live", seen(&several()).join("\n"));
    insta::assert_snapshot!("repeats-plain", written!(several(), Plain::new));
    insta::assert_snapshot!("repeats-ktap", written!(several(), Ktap::new));
    insta::assert_snapshot!("repeats-junit", written!(several(), Junit::new));
}

#[test]
fn json_has_them_all() {
    let runs = vec![repeated("net/loopback", &[PASS, WARNED])];
    let events = events(session("all", &["net/loopback"]), runs, false);
    insta::assert_snapshot!("repeats-json", written!(events, Json::new));
}

#[test]
fn a_case_that_fails_now_and_then_is_never_green() {
    let report = quick_junit::Report::deserialize_from_str(&written!(several(), Junit::new)).unwrap();
    let cases = report.test_suites.iter().flat_map(|suite| &suite.test_cases);
    let intermittent = cases.clone().find(|case| case.name.as_str() == "loopback").unwrap();
    let TestCaseStatus::NonSuccess { kind: NonSuccessKind::Failure, reruns, .. } = &intermittent.status
    else {
        panic!("{:?}", intermittent.status);
    };
    assert_eq!((reruns.kind, reruns.runs.len()), (FlakyOrRerun::Rerun, 2));
    for case in cases {
        if let TestCaseStatus::Success { flaky_runs } = &case.status {
            assert!(flaky_runs.is_empty(), "{:?}", case.name);
        }
    }
    assert!(written!(several(), Ktap::new).contains("  not ok 1 loopback\n"));
}

#[test]
fn many_cases_that_passed_each_time_take_one_line() {
    let cases: Vec<_> = (0..97).map(|number| format!("pipe/{number}")).collect();
    let cases: Vec<_> = cases.iter().map(String::as_str).collect();
    let runs = cases.iter().map(|case| repeated(case, &[PASS; 20])).collect();
    let text = written!(events(session("all", &cases), runs, false), |out| Human::new(out, false, None));
    assert!(text.starts_with("pass    0 of 20 failed in one boot, at most 80 %: 97 cases\n\n"), "{text}");
}

#[test]
fn a_case_counts_once() {
    let text = written!(several(), Plain::new);
    assert!(text.contains("7/7"), "{text}");
    assert!(text.trim_end().ends_with("1 crash, 3 fail, 1 broken, 2 pass"), "{text}");
}
