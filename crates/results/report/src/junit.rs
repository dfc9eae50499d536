//! JUnit XML, for CI servers.
//!
//! The subset that all viewers read: flat suites, one per area or program, with the path in `classname`. A case
//! that was planned and never ran is an error of type `harness`: a report without it would be green.
//!
//! A case that failed in one of several Runs is a failure, with a `rerunFailure` for each other Run that failed. A
//! `flakyFailure` means that the case passed in the end (Maven Surefire, "Rerun failing tests"), and viewers show
//! it green: a kernel that fails now and then is not well.

use std::io::{self, Write};
use std::time::Duration;

use judge::run::Repeat;
use judge::{Blame, Outcome, Run};
use lab::event::Session;
use lab::{Event, Listener};
use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestRerun, TestSuite};

use crate::evidence;
use crate::repeats::{repeats, why_and_repeats};
use crate::safe::{safe, safe_line};
use crate::sink::Sink;
use crate::words::{split, why};

/// Bytes of text that are attached to a case in one place.
const TEXT_MAX: usize = 64 << 10;

/// Lines of evidence; a file may be longer than a screen.
const LINES: usize = 400;

/// Writes one document at the end.
#[derive(Debug)]
pub struct Junit<W> {
    sink: Sink<W>,
    session: Option<Session>,
    /// Planned cases that have not finished.
    waiting: Vec<String>,
    suites: Vec<TestSuite>,
}

impl<W: Write> Junit<W> {
    /// A report that writes to `out`.
    pub fn new(out: W) -> Self {
        Self { sink: Sink::new(out), session: None, waiting: Vec::new(), suites: Vec::new() }
    }

    /// Ends the report and gives the first error in writing.
    ///
    /// # Errors
    ///
    /// When something could not be written.
    pub fn finish(self) -> io::Result<()> {
        self.sink.finish()
    }

    fn planned(&mut self, session: &Session) {
        self.waiting.clone_from(&session.cases);
        self.session = Some(session.clone());
    }

    fn finished(&mut self, run: &Run) {
        if let Some(at) = self.waiting.iter().position(|case| *case == run.case) {
            self.waiting.remove(at);
        }
        let mut case = TestCase::new(safe_line(split(&run.case).1), status(run));
        case.set_time(run.duration);
        if let Some(repeats) = repeats(run) {
            case.add_property(Property::new("repeats", repeats));
        }
        if !run.output.is_empty() {
            case.set_system_out(tail(&safe(&run.output)));
        }
        self.add(&run.case, case);
    }

    fn add(&mut self, name: &str, mut case: TestCase) {
        let area = safe_line(split(name).0.unwrap_or(name));
        case.set_classname(format!("kiln.{area}"));
        let at = self.suites.iter().position(|suite| suite.name.as_str() == area).unwrap_or_else(|| {
            self.suites.push(TestSuite::new(area));
            self.suites.len() - 1
        });
        let suite = &mut self.suites[at];
        let time = suite.time.unwrap_or_default() + case.time.unwrap_or_default();
        suite.set_time(time).add_test_case(case);
    }

    fn ended(&mut self, took: Duration) {
        for name in std::mem::take(&mut self.waiting) {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_type("harness").set_message("not run");
            self.add(&name, TestCase::new(safe_line(split(&name).1), status));
        }
        let mut report = Report::new("kiln");
        report.set_time(took);
        for mut suite in std::mem::take(&mut self.suites) {
            if let Some(session) = &self.session {
                describe(&mut suite, session);
            }
            report.add_test_suite(suite);
        }
        match report.to_string() {
            Ok(text) => self.sink.write(&text),
            Err(error) => self.sink.fail(io::Error::other(error)),
        }
        self.sink.flush();
    }
}

impl<W: Write> Listener for Junit<W> {
    fn on_event(&mut self, event: &Event) {
        match event {
            Event::Planned(session) => self.planned(session),
            Event::Booted { release, .. } => {
                if let Some(session) = &mut self.session {
                    session.release.get_or_insert_with(|| release.clone());
                }
            }
            Event::Finished(run) => self.finished(run),
            Event::Ended { took, .. } => self.ended(*took),
            _ => {}
        }
    }
}

fn describe(suite: &mut TestSuite, session: &Session) {
    // The setter wants a type of a second library for time; an attribute is an attribute.
    suite.extra.insert("timestamp".into(), session.started.to_string().into());
    let release = session.release.as_ref().unwrap_or(&session.provenance);
    let properties = [
        ("kernel", release),
        ("identity", &session.identity),
        ("machine", &session.machine),
        ("locator", &session.locator),
    ];
    suite.add_properties(properties.map(|(name, value)| Property::new(name, safe_line(value))));
}

fn status(run: &Run) -> TestCaseStatus {
    let kind = match run.outcome {
        Outcome::Pass if !run.expected_failure => return TestCaseStatus::success(),
        Outcome::Pass | Outcome::Skip => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(why(run));
            return status;
        }
        Outcome::Fail | Outcome::Crash | Outcome::Hang => NonSuccessKind::Failure,
        Outcome::Broken => NonSuccessKind::Error,
    };
    let ty = match (run.outcome, run.blame) {
        (Outcome::Broken, Some(Blame::Case) | None) => "case",
        (Outcome::Broken, _) => "harness",
        (outcome, _) => outcome.name(),
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(ty).set_message(why_and_repeats(run)).set_description(tail(&description(run)));
    status.add_reruns(reruns(run));
    status
}

/// The other Runs of a case that was run more than once and did not pass.
fn reruns(run: &Run) -> impl Iterator<Item = TestRerun> {
    let is_first = |repeat: &Repeat| {
        (repeat.outcome, &repeat.reason, repeat.clone) == (run.outcome, &run.reason, run.clone)
    };
    let first = run.repeats.iter().position(is_first);
    let others = run.repeats.iter().enumerate().filter(move |(index, _)| Some(*index) != first);
    others.filter_map(|(_, repeat)| {
        let kind = match repeat.outcome {
            Outcome::Pass | Outcome::Skip => return None,
            Outcome::Fail | Outcome::Crash | Outcome::Hang => NonSuccessKind::Failure,
            Outcome::Broken => NonSuccessKind::Error,
        };
        let mut rerun = TestRerun::new(kind);
        rerun
            .set_type(repeat.outcome.name())
            .set_message(safe_line(&repeat.reason))
            .set_time(repeat.duration);
        Some(rerun)
    })
}

fn description(run: &Run) -> String {
    let evidence = evidence::collect(run, LINES);
    let lines = evidence.lines.iter().map(|(label, line)| format!("{label}: {line}"));
    let more = (evidence.more > 0).then(|| format!("… {} more lines", evidence.more));
    let head = [safe_line(&run.about), why(run)];
    head.into_iter().chain(lines).chain(more).collect::<Vec<_>>().join("\n")
}

/// The end of `text`, where the reason usually stands.
fn tail(text: &str) -> String {
    if text.len() <= TEXT_MAX {
        return text.to_string();
    }
    let cut = text.ceil_char_boundary(text.len() - TEXT_MAX);
    format!("… {cut} bytes left out\n{}", &text[cut..])
}
