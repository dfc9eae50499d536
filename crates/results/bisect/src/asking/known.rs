//! What is known of a point, and what tests cost.

use std::time::Duration;

use verdict::BootRuns;

use crate::answer::Answer;
use crate::bisection::{Evidence, StateReport};
use crate::point::Point;
use crate::question::Threshold;
use crate::tester::Tested;

/// A boot and a run take so long before one has been seen.
const USUAL_BOOT: Duration = Duration::from_secs(3);
const USUAL_RUN: Duration = Duration::from_secs(1);

/// Runs on end that answer nothing after which a state cannot be tested.
const LOST_MAX: usize = 3;

/// What is known of a point.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub(super) name: String,
    /// Several runs share a boot.
    nests_runs: bool,
    boots: Vec<BootRuns>,
    pub(super) values: Vec<f64>,
    /// It cannot be tested since it fails in another way.
    pub(super) fails_otherwise: bool,
    /// Runs, whatever they answered.
    runs: u32,
    /// The last so many runs answered nothing.
    lost: usize,
    pub(super) untestable: Option<String>,
    pub(super) evidence: Evidence,
}

impl Known {
    pub(super) fn new(nests_runs: bool) -> Self {
        Self { nests_runs, ..Self::default() }
    }

    /// The boots, with values compared with a threshold.
    pub(super) fn boots(&self, threshold: Option<Threshold>) -> Vec<BootRuns> {
        let of_value = |threshold: Threshold, value: &f64| BootRuns::one(threshold.is_bad(*value));
        threshold.map_or_else(
            || self.boots.clone(),
            |threshold| self.values.iter().map(|value| of_value(threshold, value)).collect(),
        )
    }

    /// Runs that showed the failure, and those that did not.
    pub(super) fn counts(&self, threshold: Option<Threshold>) -> (u32, u32) {
        match threshold {
            Some(threshold) => threshold.count(&self.values),
            None => {
                let BootRuns { failures, passes } = self.boots.iter().copied().sum();
                (failures, passes)
            }
        }
    }

    /// The number of a boot that there was not yet.
    pub(super) fn next_boot(&self) -> u32 {
        u32::try_from(self.boots.len().max(self.values.len())).unwrap_or(u32::MAX)
    }

    /// Runs, whatever they answered.
    pub(super) fn runs(&self) -> u32 {
        self.runs
    }

    /// Takes in what a test gave.
    pub(super) fn take(&mut self, name: String, boot: u32, tested: Tested) {
        self.name = name;
        let others = u32::try_from(tested.others.len()).unwrap_or(u32::MAX);
        self.runs = self.runs.saturating_add(tested.answer.count()).saturating_add(others);
        let before = self.answers();
        let mut why = None;
        match tested.answer {
            Answer::Runs { bad, good } => {
                let (had_bad, _) = self.counts(None);
                self.evidence.add(tested.evidence, bad > 0 && had_bad == 0);
                self.add(boot, BootRuns { failures: bad, passes: good });
            }
            Answer::Values(values) => {
                self.evidence.add(tested.evidence, self.values.is_empty());
                self.values.extend(values);
            }
            Answer::CannotTest(reason) => {
                self.evidence.add(tested.evidence, false);
                why = Some(reason);
            }
        }
        if self.answers() > before {
            self.lost = 0;
            return;
        }
        self.lost += tested.others.len().max(1);
        // What could be tested once may only have bad luck now.
        if self.lost >= LOST_MAX || (before == 0 && why.is_some()) {
            let other = tested.others.last().map(|other| format!("it fails in another way: {other}"));
            let nothing = || "its runs say nothing about the kernel".to_string();
            // A single failure of another kind does not make this one of a run that says itself that it is none.
            self.fails_otherwise = why.is_none() && other.is_some();
            self.untestable = why.or(other).or_else(|| Some(nothing()));
        }
    }

    fn add(&mut self, boot: u32, runs: BootRuns) {
        if self.nests_runs {
            let boot = boot as usize;
            self.boots.resize(self.boots.len().max(boot + 1), BootRuns::default());
            self.boots[boot].add(runs);
        } else {
            let each = |fails, count| (0..count).map(move |_| BootRuns::one(fails));
            self.boots.extend(each(true, runs.failures).chain(each(false, runs.passes)));
        }
    }

    /// Runs, or values, that answer the question.
    fn answers(&self) -> u64 {
        self.boots.iter().copied().sum::<BootRuns>().total() + self.values.len() as u64
    }

    pub(super) fn report(&self, point: &Point, threshold: Option<Threshold>) -> StateReport {
        StateReport { evidence: self.evidence.clone(), ..self.seen(point, threshold) }
    }

    /// The same without what shows it.
    pub(super) fn seen(&self, point: &Point, threshold: Option<Threshold>) -> StateReport {
        let (bad, good) = self.counts(threshold);
        StateReport {
            point: point.clone(),
            name: self.name.clone(),
            bad,
            good,
            boots: self.boots(threshold),
            values: self.values.clone(),
            untestable: self.untestable.clone(),
            evidence: Evidence::default(),
        }
    }
}

/// What tests cost so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Costs {
    preparation: Mean,
    boot: Mean,
    run: Mean,
}

impl Costs {
    pub(super) fn learn(&mut self, tested: &Tested) {
        self.preparation.add(tested.preparation);
        self.boot.add(tested.boot);
        self.run.add(tested.each);
    }

    pub(super) fn preparation(&self, usual: Duration) -> Duration {
        self.preparation.or(usual)
    }

    pub(super) fn boot(&self) -> Duration {
        self.boot.or(USUAL_BOOT)
    }

    pub(super) fn run(&self) -> Duration {
        self.run.or(USUAL_RUN)
    }
}

/// The mean of durations.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    sum: Duration,
    count: u32,
}

impl Mean {
    /// What took no time says nothing.
    fn add(&mut self, one: Duration) {
        if one > Duration::ZERO {
            self.sum += one;
            self.count += 1;
        }
    }

    fn or(self, usual: Duration) -> Duration {
        if self.count == 0 { usual } else { self.sum / self.count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tested(answer: Answer, others: &[&str]) -> Tested {
        let others = others.iter().map(ToString::to_string).collect();
        let (evidence, time) = (Evidence::default(), Duration::ZERO);
        Tested {
            answer,
            others,
            reused: 0,
            evidence,
            preparation: time,
            boot: time,
            each: time,
            unknown: Vec::new(),
        }
    }

    #[test]
    fn why_a_point_cannot_be_tested_is_what_its_last_runs_say() {
        let none = || Answer::Runs { bad: 0, good: 0 };
        let skips = || tested(Answer::CannotTest("exit status 125".to_owned()), &[]);
        let after = |all: Vec<Tested>| {
            let mut known = Known::new(false);
            all.into_iter().for_each(|one| known.take("x".to_owned(), 0, one));
            (known.untestable, known.fails_otherwise)
        };
        let skipped = (Some("exit status 125".to_owned()), false);
        assert_eq!(after(vec![skips()]), skipped);
        assert_eq!(after(vec![tested(none(), &["a hang"]), skips()]), skipped);
        let otherwise = (Some("it fails in another way: killed".to_owned()), true);
        assert_eq!(after(vec![tested(none(), &["killed", "killed", "killed"])]), otherwise);
        assert_eq!(after(vec![tested(none(), &["killed"])]), (None, false));
    }
}
