//! From the results of a boot to Runs.

use std::ops::Range;

use console::{BootFailure, BootTrouble, message};

use super::BOOT;
use super::console::{Boot, Console};
use super::judge::{Verdict, is_past_tests, judge};
use super::lines::{outside, own_lines};
use super::names::{Names, part};
use super::provoked::is_provoked;
use super::stack::running_test;
use crate::boot::{booted_badly, did_not_boot};
use crate::kernel_report::{self, KernelReport};
use crate::ktap::{Results, Status, Test, What};
use crate::outcome::{Blame, Outcome};
use crate::run::Run;

/// Case of a boot that gave no results, and first part of names that nobody knows.
const KUNIT: &str = "kunit";

/// What a boot gave.
#[derive(Debug, Default)]
pub struct Story {
    /// In the order of the console.
    pub runs: Vec<Planned>,
    /// Tests that were planned and never reached.
    pub not_run: u32,
    /// What is worth knowing and belongs to no test.
    pub notes: Vec<String>,
}

/// A Run and the lines of the console that belong to it.
#[derive(Debug)]
pub struct Planned {
    /// The Run.
    pub run: Run,
    /// The numbers of its lines.
    pub lines: Range<u64>,
    /// It is a test, not the boot.
    pub is_case: bool,
}

impl Story {
    /// Names of the cases, in order.
    pub fn planned(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().filter(|planned| planned.is_case).map(|planned| planned.run.case.as_str())
    }
}

/// What the boot gave.
#[must_use]
pub fn story(console: &mut Console, boot: &Boot) -> Story {
    let end = console.count();
    let results = console.results();
    let mut teller = Teller { console, boot, end, names: Names::default(), story: Story::default() };
    for group in &results.groups {
        teller.not_run(group.missing);
        group.tests.iter().for_each(|test| teller.test(test, &[]));
    }
    teller.whole(&results);
    teller.boot(&results);
    teller.notes(&results);
    teller.story
}

/// Turns tests into Runs.
struct Teller<'a> {
    console: &'a Console,
    boot: &'a Boot,
    /// Lines of the console.
    end: u64,
    names: Names,
    story: Story,
}

impl Teller<'_> {
    /// The Runs of `test`, which is in the tests of `above`: of those in it, and its own if they do not say all.
    fn test(&mut self, test: &Test, above: &[String]) {
        let mut path = above.to_vec();
        if !test.name.is_empty() {
            path.push(part(&test.name));
        }
        let inside = test.tests();
        self.not_run(test.inside.as_ref().map_or(0, |inside| inside.missing));
        inside.iter().for_each(|test| self.test(test, &path));
        let reports = self.reports(test);
        let unexpected =
            reports.iter().find(|report| !is_provoked(path.first().map_or("", |name| name), report));
        let is_reported = match test.status {
            Status::Unfinished => inside.iter().any(|test| test.status == Status::Unfinished),
            status => !status.is_failure() || inside.iter().any(Test::is_bad),
        };
        if !inside.is_empty() && is_reported && unexpected.is_none() {
            return;
        }
        if test.status == Status::Unfinished && !self.is_judged(test, &path) {
            return self.not_run(1);
        }
        let verdict = judge(test, unexpected, self.boot_of(test));
        self.add(test, path, reports, verdict);
    }

    /// Whether anything can be said about a test without a result.
    fn is_judged(&self, test: &Test, path: &[String]) -> bool {
        match self.boot {
            Boot::Failed(BootFailure { trouble: BootTrouble::Interrupted, .. }) | Boot::Never => false,
            Boot::Failed(_) if self.is_last(test) => true,
            _ => !test.name.is_empty() && !path.is_empty(),
        }
    }

    /// How the boot ended as far as `test` is concerned: the kernel outlived all but the last.
    fn boot_of(&self, test: &Test) -> &Boot {
        if self.is_last(test) { self.boot } else { &Boot::Never }
    }

    fn is_last(&self, test: &Test) -> bool {
        test.lines.end >= self.end
    }

    /// Reports in the lines of `test` that belong to no test inside.
    fn reports(&self, test: &Test) -> Vec<KernelReport> {
        let lines: Vec<&str> = own_lines(&test.lines, test.tests())
            .into_iter()
            .flat_map(|range| self.console.lines(range))
            .map(message)
            .collect();
        kernel_report::scan(&lines)
    }

    fn add(&mut self, test: &Test, mut path: Vec<String>, reports: Vec<KernelReport>, verdict: Verdict) {
        let mut notes = Vec::new();
        if test.name.is_empty() {
            path.extend(reports.first().and_then(running_test).map(part));
            let before = self.story.runs.last().map(|planned| format!("it began after {}", planned.run.case));
            notes.extend(before);
        }
        if path.is_empty() {
            path.push(KUNIT.to_string());
        }
        let module = test.attributes.iter().find(|(key, _)| key == "module");
        let about = module.map_or("KUnit test".to_string(), |(_, module)| format!("KUnit test of {module}"));
        let run = Run {
            case: self.names.give(&path),
            about,
            duration: self.console.duration(&test.lines),
            kernel_reports: reports,
            output: test.log.join("\n"),
            notes,
            ..run_of(verdict)
        };
        self.story.runs.push(Planned { run, lines: test.lines.clone(), is_case: true });
    }

    /// What is to be said about the results as a whole.
    fn whole(&mut self, results: &Results) {
        let has_tests = results.groups.iter().any(|group| !group.tests.is_empty() || group.missing > 0);
        let verdict = match self.boot {
            _ if results.lost_failures > 0 => Verdict::new(
                Outcome::Fail,
                format!("{} more tests failed than can be kept", results.lost_failures),
            ),
            boot if !has_tests && is_past_tests(boot) => Verdict::broken(Blame::Case, self.why_none(results)),
            _ => return,
        };
        let case = self.names.give(&[KUNIT.to_string()]);
        let run = Run { case, about: "the kernel runs its KUnit tests".to_string(), ..run_of(verdict) };
        self.story.runs.push(Planned { run, lines: self.end..self.end, is_case: true });
    }

    /// Why there are no results.
    fn why_none(&self, results: &Results) -> String {
        let mut texts = self.console.lines(0..self.end).map(message);
        let result =
            texts.find(|text| text.starts_with("kunit: disabled") || text.starts_with("kunit executor: "));
        match result {
            Some("kunit: disabled") => {
                "KUnit is disabled in this kernel: kunit.enable=1 enables it".to_string()
            }
            Some(text) => text.trim_end().to_string(),
            None if results.groups.is_empty() => {
                "the kernel printed no KUnit results: it was built without CONFIG_KUNIT=y or without tests"
                    .to_string()
            }
            None => "KUnit ran no tests: none is built in, or kunit.filter_glob matches none".to_string(),
        }
    }

    /// The Run of the boot itself, if it went wrong and no test is to blame.
    fn boot(&mut self, results: &Results) {
        let counts = results.counts();
        let is_complete = !results.groups.is_empty() && counts.unfinished + counts.missing == 0;
        let dead = |planned: &Planned| planned.is_case && planned.lines.end >= self.end;
        let run = match self.boot {
            Boot::Never => None,
            Boot::Failed(BootFailure { trouble: BootTrouble::Interrupted, .. }) => None,
            Boot::Failed(failure)
                if is_past_tests(self.boot) || is_complete && is_hosts(&failure.trouble) =>
            {
                self.story.notes.push(format!("after its tests: {}", failure.trouble));
                self.outside(results)
            }
            Boot::Failed(_) if !is_complete && self.story.runs.iter().any(dead) => self.outside(results),
            Boot::Failed(failure) => Some(did_not_boot(BOOT, failure)),
            Boot::Up { .. } => self.outside(results),
        };
        if let Some(run) = run {
            self.story.runs.push(Planned { run, lines: self.end..self.end, is_case: false });
        }
    }

    /// The Run of defects that the kernel reported outside its tests.
    fn outside(&self, results: &Results) -> Option<Run> {
        let tests: Vec<Range<u64>> =
            results.groups.iter().flat_map(|group| &group.tests).map(|test| test.lines.clone()).collect();
        let lines = outside(&(0..self.end), &tests);
        let lines: Vec<String> =
            lines.into_iter().flat_map(|range| self.console.lines(range)).map(str::to_string).collect();
        booted_badly(BOOT, &lines)
    }

    fn notes(&mut self, results: &Results) {
        if self.story.not_run > 0 {
            self.story.notes.push(format!("{} planned tests were never reached", self.story.not_run));
        }
        if self.console.dropped > 0 {
            let text = format!(
                "the last {} lines of the console were not searched for defects",
                self.console.dropped
            );
            self.story.notes.push(text);
        }
        // What an end without results brings along is told already.
        let problems = results.problems.iter();
        let worth =
            problems.filter(|problem| !matches!(problem.what, What::Missing { .. } | What::NoResult(_)));
        self.story.notes.extend(worth.map(|problem| format!("results, {problem}")));
    }

    fn not_run(&mut self, tests: u64) {
        let tests = u32::try_from(tests).unwrap_or(u32::MAX);
        self.story.not_run = self.story.not_run.saturating_add(tests);
    }
}

fn run_of(verdict: Verdict) -> Run {
    let Verdict { outcome, blame, reason, evidence } = verdict;
    Run { outcome, blame, reason, evidence, boot: BOOT, ..Run::unstarted() }
}

/// Whether the failure is the host's and says nothing about the kernel.
fn is_hosts(trouble: &BootTrouble) -> bool {
    matches!(trouble, BootTrouble::Machine(_))
}
