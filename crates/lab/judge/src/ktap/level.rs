//! A level that is being read.

use super::budget::Budget;
use super::problem::What;
use super::result::ResultLine;
use super::tree::{Level, Plan, Status, Test, Version};
use super::words::diagnostic;

/// Attributes that wait for their test at most.
const ATTRIBUTES_MAX: usize = 16;

/// What one program has printed of a level: a test of kselftest may run several, one after the other.
#[derive(Debug, Default)]
struct Part {
    planned: Option<u64>,
    /// Tests of the level before it.
    before: usize,
    /// The number after which the next one comes.
    last_number: u64,
    /// Tests in its totals: some programs count results that they never print.
    counted: u64,
}

/// A level, and what is known of its test in progress.
#[derive(Debug, Default)]
pub(super) struct Open {
    pub(super) column: usize,
    pub(super) in_comment: bool,
    /// The test whose inside this is, if the text said it at the beginning.
    pub(super) name: Option<String>,
    pub(super) level: Level,
    /// The part of it that the last version line began.
    part: Part,
    /// Name of the test in progress, if it was announced.
    pub(super) announced: Option<String>,
    /// A runner of kselftest announced it: its output comes in comments.
    pub(super) by_runner: bool,
    /// Log of the test in progress.
    pub(super) log: Vec<String>,
    /// First line of the test in progress.
    start: u64,
    /// Of this level's own test.
    attributes: Vec<(String, String)>,
    /// Of the test in progress.
    test_attributes: Vec<(String, String)>,
}

impl Open {
    pub(super) fn new(column: usize, in_comment: bool, line: u64) -> Self {
        let level = Level { lines: line..line, ..Level::default() };
        Self { column, in_comment, level, start: line + 1, ..Self::default() }
    }

    /// Whether a version line may still belong to it.
    pub(super) fn is_fresh(&self) -> bool {
        self.level.version.is_none() && self.level.plan.is_none() && self.level.tests.is_empty()
    }

    /// Whether a name may still belong to it.
    pub(super) fn is_unnamed(&self) -> bool {
        self.name.is_none() && self.level.tests.is_empty()
    }

    /// Another program prints into the same level.
    pub(super) fn begin_part(&mut self, budget: &mut Budget) {
        self.end_part("", budget);
        self.part = Part { before: self.level.tests.len(), ..Part::default() };
    }

    pub(super) fn has_plan(&self) -> bool {
        self.part.planned.is_some()
    }

    pub(super) fn plan(&mut self, count: u64, skip: Option<&str>) {
        self.part.planned = Some(count);
        let before = self.level.plan.take();
        let (more, why) = before.map_or((0, None), |plan| (plan.count, plan.skip));
        let skip = why.or_else(|| skip.map(str::to_string));
        self.level.plan = Some(Plan { count: more.saturating_add(count), skip });
    }

    /// Whether nothing that was planned is still to come.
    pub(super) fn is_complete(&self) -> bool {
        self.part.planned.is_some_and(|planned| planned <= self.found())
    }

    /// Totals of the program that prints.
    pub(super) fn count(&mut self, total: u64) {
        self.part.counted = total;
    }

    /// Results of the part.
    fn found(&self) -> u64 {
        ((self.level.tests.len() - self.part.before) as u64).max(self.part.counted)
    }

    /// Counts what the part lacks, for the test with this name.
    fn end_part(&mut self, name: &str, budget: &mut Budget) {
        let found = self.found();
        if let Some(planned) = self.part.planned.filter(|&planned| planned > found) {
            budget.problem(What::Missing { name: name.to_string(), planned, found });
            self.level.missing = self.level.missing.saturating_add(planned - found);
        }
    }

    pub(super) fn set_version(&mut self, version: Version, budget: &mut Budget) {
        match version {
            Version::Ktap(1) | Version::Tap(12..=14) => {}
            Version::Ktap(other) | Version::Tap(other) => budget.problem(What::Version(other)),
        }
        self.level.version = Some(version);
    }

    pub(super) fn announce(&mut self, name: &str, by_runner: bool) {
        self.announced = Some(name.to_string());
        self.by_runner = by_runner;
    }

    /// Keeps an attribute of `test`, or of the level's own test.
    pub(super) fn attribute(&mut self, test: Option<&str>, key: &str, value: &str) {
        let list = if test.is_some() { &mut self.test_attributes } else { &mut self.attributes };
        if list.len() < ATTRIBUTES_MAX {
            list.push((key.to_string(), value.to_string()));
        }
    }

    /// Adds a test that has a result; `inside` is the level that was open below.
    pub(super) fn add(&mut self, result: &ResultLine<'_>, inside: Option<Self>, budget: &mut Budget) {
        self.check_number(result.number, budget);
        if result.is_contradiction {
            budget.problem(What::Directive(result.name.to_string()));
        }
        let mut test = self.take_test(result.name, result.status, budget.line);
        test.number = result.number;
        test.text = result.text.to_string();
        if let Some(inside) = inside {
            test.take_inside(inside, budget);
        }
        if result.status == Status::Pass && test.is_bad() {
            budget.problem(What::Contradiction(test.name.clone()));
        }
        self.keep(test, budget);
        if let Some(planned) = self.part.planned.filter(|&planned| self.found() > planned) {
            budget.problem(What::Surplus(planned));
        }
    }

    /// Adds a test that has no result and never will: what was open below it.
    pub(super) fn add_unfinished(&mut self, mut inside: Self, budget: &mut Budget) {
        let name = inside.name.take().or_else(|| self.announced.take()).unwrap_or_default();
        budget.problem(What::NoResult(name.clone()));
        inside.end_in_progress(budget);
        let mut test = self.take_test(&name, Status::Unfinished, budget.line);
        test.take_inside(inside, budget);
        self.keep(test, budget);
    }

    /// Adds the test in progress, if there must be one.
    pub(super) fn end_in_progress(&mut self, budget: &mut Budget) {
        let is_planned = self.part.planned.is_some() && !self.is_complete();
        let is_known = self.level.tests.last().is_some_and(|test| test.status == Status::Unfinished);
        if is_known || self.level.bail_out.is_some() || !(is_planned || self.announced.is_some()) {
            return;
        }
        let name = self.announced.take().or_else(|| self.guess()).unwrap_or_default();
        let test = self.take_test(&name, Status::Unfinished, budget.line);
        self.keep(test, budget);
    }

    /// The level at its end, and the log that belongs to none of its tests.
    pub(super) fn close(mut self, name: &str, budget: &mut Budget) -> (Level, Vec<String>) {
        self.end_part(name, budget);
        self.level.lines.end = budget.line + 1;
        (self.level, self.log)
    }

    /// Tests of this level that failed.
    pub(super) fn failures(&self) -> u64 {
        self.level.tests.iter().filter(|test| test.status.is_failure()).count() as u64
    }

    fn check_number(&mut self, number: Option<u64>, budget: &mut Budget) {
        let expected = self.part.last_number.saturating_add(1);
        let Some(found) = number else {
            self.part.last_number = expected;
            return;
        };
        // Suites of modules, which are loaded one by one, have no level of their own.
        let is_counted = self.level.version.is_some() || self.level.plan.is_some();
        if is_counted && found != expected {
            budget.problem(What::Number { expected, found });
        }
        self.part.last_number = found;
    }

    /// The test in progress, which ends here.
    fn take_test(&mut self, name: &str, status: Status, line: u64) -> Test {
        let start = std::mem::replace(&mut self.start, line + 1).min(line + 1);
        self.announced = None;
        self.by_runner = false;
        Test {
            name: name.to_string(),
            number: None,
            status,
            text: String::new(),
            attributes: std::mem::take(&mut self.test_attributes),
            log: std::mem::take(&mut self.log),
            lines: start..line + 1,
            inside: None,
        }
    }

    fn keep(&mut self, test: Test, budget: &mut Budget) {
        if budget.admits_test(test.is_bad()) {
            self.level.tests.push(test);
        }
    }

    /// The test that the last diagnostic names: KUnit says only at its end which test has run.
    fn guess(&self) -> Option<String> {
        let names = self.log.iter().rev().filter_map(|line| diagnostic(line.trim_start()));
        let own = self.name.as_deref();
        names.map(|(name, _)| name).find(|name| Some(*name) != own).map(str::to_string)
    }
}

impl Test {
    fn take_inside(&mut self, mut inside: Open, budget: &mut Budget) {
        self.attributes.append(&mut inside.attributes);
        let (level, mut log) = inside.close(&self.name, budget);
        self.log.append(&mut log);
        self.log.truncate(super::LOG_LINES_MAX);
        self.inside = Some(level);
    }
}
