//! What must hold for the JUnit of every session.

use judge::{Blame, Outcome, Run};
use proptest::prelude::*;
use quick_junit::{NonSuccessKind, Report, TestCaseStatus};
use report::Junit;

use crate::sessions::{emit, events, rich, run, session};
use crate::snapshots::written;
use crate::streams::stream;

/// Characters of XML 1.0: <https://www.w3.org/TR/xml/#charsets>.
fn is_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

#[test]
fn types_name_the_culprit() {
    let report = Report::deserialize_from_str(&written!(rich(), Junit::new)).unwrap();
    let cases = report.test_suites.iter().flat_map(|suite| &suite.test_cases);
    let types: Vec<_> = cases
        .filter_map(|case| match &case.status {
            TestCaseStatus::NonSuccess { kind, ty, .. } => {
                Some((case.name.as_str(), *kind, ty.as_deref().unwrap_or_default()))
            }
            _ => None,
        })
        .collect();
    let (failure, error) = (NonSuccessKind::Failure, NonSuccessKind::Error);
    let expected = [
        ("splice", failure, "fail"),
        ("odd#name", failure, "fail"),
        ("oops", failure, "crash"),
        ("stuck", failure, "hang"),
        ("setup", error, "case"),
        ("gone", error, "harness"),
    ];
    assert_eq!(types, expected);
}

#[test]
fn attached_text_is_capped() {
    let loud = Run { output: "ä".repeat(100_000), ..run("pipe/full", Outcome::Pass, "") };
    let text = written!(events(session("all", &["pipe/full"]), vec![loud], false), Junit::new);
    assert!(text.len() < (64 << 10) + 2048, "{}", text.len());
    assert!(text.contains("bytes left out"));
}

proptest! {
    #[test]
    fn every_session_is_junit(stream in stream()) {
        let text = written!(stream.events(), Junit::new);
        prop_assert!(text.chars().all(is_xml));
        let report = Report::deserialize_from_str(&text).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let with = |wanted: &[Outcome]| stream.runs.iter().filter(|run| wanted.contains(&run.outcome)).count();
        let (missing, boot) = (stream.cases.len() - stream.runs.len(), usize::from(stream.boot_failed));
        prop_assert_eq!(report.tests, stream.cases.len() + boot);
        prop_assert_eq!(report.failures, with(&[Outcome::Fail, Outcome::Crash, Outcome::Hang]) + boot);
        prop_assert_eq!(report.errors, with(&[Outcome::Broken]) + missing);
        prop_assert_eq!(report.skipped, with(&[Outcome::Skip]));
        let by_case = stream.runs.iter().filter(|run| run.blame == Some(Blame::Case)).count();
        prop_assert_eq!(text.matches("type=\"case\"").count(), by_case);
    }
}
