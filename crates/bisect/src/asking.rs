//! Asks the question at points of an axis, remembers the answers, and knows what asking costs.

use std::collections::BTreeMap;
use std::time::Duration;

use ledger::Journal;
use serde::{Deserialize, Serialize};
use verdict::bisection::{Search, State};

use crate::axis::{Axis, Point};
use crate::bisection::{Evidence, StateReport};
use crate::error::Error;
use crate::event::{Progress, Purpose};
use crate::question::{Question, Threshold};
use crate::tester::{Answer, Test, Tested, Tester};
use crate::track::Track;

/// A run takes so long before one has been seen.
const USUAL_RUN: Duration = Duration::from_secs(1);

/// Failures of another kind, without any answer, after which a state cannot be tested.
const OTHERS_MAX: u32 = 3;

/// An answer as it is kept, so that the same command goes on from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    point: Point,
    name: String,
    tested: Tested,
}

impl Kept {
    /// Names of the sessions that it is made of.
    #[must_use]
    pub fn sessions(&self) -> &[String] {
        &self.tested.evidence.sessions
    }
}

/// The question, whoever answers it, and all answers so far.
pub(crate) struct Asking<'a> {
    pub(crate) axis: &'a mut dyn Axis,
    pub(crate) question: &'a Question,
    tester: &'a mut dyn Tester,
    journal: &'a mut Journal,
    heard: &'a mut dyn FnMut(Progress),
    known: BTreeMap<Point, Known>,
    pub(crate) threshold: Option<Threshold>,
    preparation: Mean,
    run: Mean,
    pub(crate) runs: u32,
    pub(crate) reused: u32,
}

#[derive(Debug, Clone, Default)]
struct Known {
    name: String,
    shown: u32,
    hidden: u32,
    values: Vec<f64>,
    others: u32,
    untestable: Option<String>,
    evidence: Evidence,
}

/// The mean of durations.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    sum: Duration,
    count: u32,
}

impl Mean {
    fn add(&mut self, one: Duration) {
        self.sum += one;
        self.count += 1;
    }

    fn or(self, usual: Duration) -> Duration {
        if self.count == 0 { usual } else { self.sum / self.count }
    }
}

/// Whoever answers, keeps and hears.
pub(crate) struct Others<'a> {
    pub(crate) tester: &'a mut dyn Tester,
    pub(crate) journal: &'a mut Journal,
    pub(crate) heard: &'a mut dyn FnMut(Progress),
}

impl<'a> Asking<'a> {
    /// Begins with the answers of an earlier call.
    pub(crate) fn new(
        axis: &'a mut dyn Axis,
        question: &'a Question,
        others: Others<'a>,
        kept: Vec<Kept>,
    ) -> Self {
        let Others { tester, journal, heard } = others;
        let mut asking = Self {
            axis,
            question,
            tester,
            journal,
            heard,
            known: BTreeMap::new(),
            threshold: None,
            preparation: Mean::default(),
            run: Mean::default(),
            runs: 0,
            reused: 0,
        };
        for Kept { point, name, tested } in kept {
            asking.reused += tested.answer.count();
            asking.runs += tested.answer.count();
            asking.take(point, name, tested);
        }
        asking
    }

    /// Tells something.
    pub(crate) fn tell(&mut self, progress: Progress) {
        (self.heard)(progress);
    }

    /// Tests that are made at a time.
    pub(crate) fn jobs(&self) -> usize {
        self.tester.jobs().max(1)
    }

    /// What is known of a point; nothing if it was never tested.
    pub(crate) fn state(&self, point: &Point) -> Option<StateReport> {
        self.known.get(point).map(|known| known.report(point, self.threshold))
    }

    /// All that is known, in the order of the axis.
    pub(crate) fn states(&self) -> Vec<StateReport> {
        self.known.iter().map(|(point, known)| known.report(point, self.threshold)).collect()
    }

    /// Runs at a point that showed the failure, and those that did not.
    pub(crate) fn counts(&self, point: &Point) -> (u32, u32) {
        self.known.get(point).map_or((0, 0), |known| known.counts(self.threshold))
    }

    /// Whether the failure shows at a point: once is enough, but for samples, of which more must be bad than not.
    pub(crate) fn shows(&self, point: &Point) -> bool {
        let (shown, hidden) = self.counts(point);
        if self.question.is_measured() { shown > hidden } else { shown > 0 }
    }

    /// From now on only failures like the one at this point count.
    pub(crate) fn look_for(&mut self, point: &Point) {
        if let Some(known) = self.known.get(point) {
            self.tester.look_for(&known.evidence);
        }
    }

    /// What a test at a point costs, in seconds.
    pub(crate) fn cost(&self, point: &Point) -> f64 {
        let run = self.run.or(USUAL_RUN);
        let preparation = match self.known.contains_key(point) {
            true => Duration::ZERO,
            false => self.preparation.or(self.axis.usual_effort()),
        };
        (run + preparation).as_secs_f64()
    }

    /// Time that a state takes which was never tested.
    pub(crate) fn step(&self) -> Duration {
        self.preparation.or(self.axis.usual_effort()) + self.run.or(USUAL_RUN)
    }

    /// Makes so many runs at each of these points; whether the axis has all of them.
    pub(crate) fn ask(&mut self, points: &[(Point, u32)], purpose: Purpose) -> Result<bool, Error> {
        let mut tests = Vec::new();
        for (point, times) in points {
            let Some(subject) = self.axis.subject(point)? else { return Ok(false) };
            let (point, name, times) = (point.clone(), subject.name.clone(), *times);
            (self.heard)(Progress::Testing { point: point.clone(), name, times, purpose });
            tests.push(Test { point, subject, times });
        }
        let answers = self.tester.test(&tests, self.heard)?;
        for (Test { point, subject, .. }, tested) in tests.into_iter().zip(answers) {
            let kept = Kept { point, name: subject.name, tested };
            self.journal.append(&kept)?;
            let Kept { point, name, tested } = kept;
            self.learn_costs(&tested);
            self.runs += tested.answer.count();
            self.reused += tested.reused;
            let (reused, values) = (tested.reused, tested.answer.values());
            let answer = self.answer(&tested);
            (self.heard)(Progress::Tested {
                point: point.clone(),
                name: name.clone(),
                answer,
                values,
                reused,
            });
            self.take(point, name, tested);
        }
        Ok(true)
    }

    /// Tells a search all that is known about its states.
    pub(crate) fn feed(&self, search: &mut Search, track: &Track) {
        let all = self.axis.candidates().len();
        for state in track.states(self.axis) {
            let Some(known) = self.known.get(&track.point(state, all)) else { continue };
            let (shown, hidden) = known.counts(self.threshold);
            search.observe(state, shown, hidden);
            if let (State::After(number), Some(_)) = (state, &known.untestable) {
                search.cannot_test(number);
            }
        }
    }

    fn learn_costs(&mut self, tested: &Tested) {
        if tested.preparation > Duration::ZERO {
            self.preparation.add(tested.preparation);
        }
        if tested.each > Duration::ZERO {
            self.run.add(tested.each);
        }
    }

    /// The answer, with values compared with both ends as soon as these are known.
    fn answer(&self, tested: &Tested) -> Answer {
        match (&tested.answer, self.threshold) {
            (Answer::Values(values), Some(threshold)) => {
                let (shown, hidden) = threshold.count(values);
                Answer::Runs { shown, hidden }
            }
            (answer, _) => answer.clone(),
        }
    }

    fn take(&mut self, point: Point, name: String, tested: Tested) {
        let known = self.known.entry(point).or_default();
        known.name = name;
        known.others = known.others.saturating_add(u32::try_from(tested.others.len()).unwrap_or(u32::MAX));
        match tested.answer {
            Answer::Runs { shown, hidden } => {
                known.evidence.add(tested.evidence, shown > 0 && known.shown == 0);
                known.shown += shown;
                known.hidden += hidden;
            }
            Answer::Values(values) => {
                known.evidence.add(tested.evidence, known.values.is_empty());
                known.values.extend(values);
            }
            Answer::CannotTest(why) => {
                known.evidence.add(tested.evidence, false);
                known.untestable = Some(why);
            }
        }
        let is_silent = known.shown + known.hidden == 0 && known.values.is_empty();
        if let Some(other) = tested.others.last().filter(|_| is_silent && known.others >= OTHERS_MAX) {
            known.untestable.get_or_insert_with(|| format!("it fails in another way: {other}"));
        }
    }
}

impl Known {
    fn counts(&self, threshold: Option<Threshold>) -> (u32, u32) {
        threshold.map_or((self.shown, self.hidden), |threshold| threshold.count(&self.values))
    }

    fn report(&self, point: &Point, threshold: Option<Threshold>) -> StateReport {
        let (shown, hidden) = self.counts(threshold);
        StateReport {
            point: point.clone(),
            name: self.name.clone(),
            shown,
            hidden,
            values: self.values.clone(),
            untestable: self.untestable.clone(),
            evidence: self.evidence.clone(),
        }
    }
}
