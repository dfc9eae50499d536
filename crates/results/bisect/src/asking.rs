//! Asks the question at points of an axis, remembers the answers, and knows what asking costs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ledger::Journal;
use serde::{Deserialize, Serialize};
use verdict::Rate;
use verdict::bisection::{Search, State};

use crate::answer::Answer;
use crate::axis::Axis;
use crate::bisection::{Evidence, StateReport};
use crate::error::Error;
use crate::event::{Progress, Purpose};
use crate::point::Point;
use crate::question::{Question, Threshold};
use crate::tester::{Test, Tested, Tester};
use crate::track::Track;

/// A run takes so long before one has been seen.
const USUAL_RUN: Duration = Duration::from_secs(1);

/// Runs of a state after which no more of them are worth their time.
const RUNS_MAX: u32 = 2000;

/// Runs on end that answer nothing after which a state cannot be tested.
const LOST_MAX: usize = 3;

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

/// The question, what answers it, and all answers so far.
pub(crate) struct Asking<'a> {
    pub(crate) axis: &'a mut dyn Axis,
    pub(crate) question: &'a Question,
    tester: &'a mut dyn Tester,
    journal: &'a mut Journal,
    emit: &'a mut dyn FnMut(Progress),
    known: BTreeMap<Point, Known>,
    /// Points that the axis does not have.
    absent: BTreeSet<Point>,
    pub(crate) threshold: Option<Threshold>,
    /// How often it shows where it is, as a search knows it from more than the end.
    pub(crate) rate: Option<Rate>,
    preparation: Mean,
    run: Mean,
    pub(crate) runs: u32,
    pub(crate) reused: u32,
}

#[derive(Debug, Clone, Default)]
struct Known {
    name: String,
    bad: u32,
    good: u32,
    values: Vec<f64>,
    /// Failures of another kind were seen.
    has_others: bool,
    /// The last so many runs answered nothing.
    lost: usize,
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

/// What answers and keeps, and where progress goes.
pub(crate) struct Others<'a> {
    pub(crate) tester: &'a mut dyn Tester,
    pub(crate) journal: &'a mut Journal,
    pub(crate) emit: &'a mut dyn FnMut(Progress),
}

impl<'a> Asking<'a> {
    /// Begins with the answers of an earlier call.
    pub(crate) fn new(
        axis: &'a mut dyn Axis,
        question: &'a Question,
        others: Others<'a>,
        kept: Vec<Kept>,
    ) -> Self {
        let Others { tester, journal, emit } = others;
        let mut asking = Self {
            axis,
            question,
            tester,
            journal,
            emit,
            known: BTreeMap::new(),
            absent: BTreeSet::new(),
            threshold: None,
            rate: None,
            preparation: Mean::default(),
            run: Mean::default(),
            runs: 0,
            reused: 0,
        };
        for Kept { point, name, tested } in kept {
            asking.learn_costs(&tested);
            asking.reused += tested.answer.count();
            asking.runs += tested.answer.count();
            asking.take(point, name, tested);
        }
        asking
    }

    /// Reports what happened.
    pub(crate) fn emit(&mut self, progress: Progress) {
        (self.emit)(progress);
    }

    /// Reports again what was seen at points, by what is known now.
    pub(crate) fn emit_states(&mut self, points: &[Point]) {
        let states: Vec<StateReport> = points.iter().filter_map(|point| self.state(point)).collect();
        for state in states {
            let answer = Answer::Runs { bad: state.bad, good: state.good };
            let (point, name, values) = (state.point, state.name, state.values);
            self.emit(Progress::Tested { point, name, answer, values, reused: 0 });
        }
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
        let (bad, good) = self.counts(point);
        if self.question.is_measured() { bad > good } else { bad > 0 }
    }

    /// From now on only failures like the one at this point count.
    pub(crate) fn look_for(&mut self, point: &Point) {
        if let Some(known) = self.known.get(point) {
            self.tester.look_for(&known.evidence);
        }
    }

    /// Whether the axis does not have a point, or a test of it answers nothing.
    pub(crate) fn is_untestable(&self, point: &Point) -> bool {
        self.absent.contains(point) || self.known.get(point).is_some_and(|known| known.untestable.is_some())
    }

    /// Whether something else than what is looked for went wrong at a point.
    pub(crate) fn has_others(&self, point: &Point) -> bool {
        self.known.get(point).is_some_and(|known| known.has_others)
    }

    /// What a test at a point costs, in seconds; more than anything where it says nothing new.
    pub(crate) fn cost(&self, point: &Point) -> f64 {
        let (bad, good) = self.counts(point);
        if self.is_untestable(point) || bad.saturating_add(good) >= RUNS_MAX {
            return f64::INFINITY;
        }
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

    /// Makes so many runs at each of these points that the axis has; whether it has all of them.
    pub(crate) fn ask(&mut self, points: &[(Point, u32)], purpose: Purpose) -> Result<bool, Error> {
        let mut tests = Vec::new();
        for (point, times) in points {
            let Some(subject) = self.axis.subject(point)? else {
                self.absent.insert(point.clone());
                continue;
            };
            let before = self.known.get(point).map_or(0, |known| known.answers(self.question.is_measured()));
            let before = u32::try_from(before).unwrap_or(u32::MAX);
            let (point, name, times) = (point.clone(), subject.name.clone(), *times);
            (self.emit)(Progress::Testing { point: point.clone(), name, times, purpose });
            tests.push(Test { point, subject, times, before });
        }
        let has_all = tests.len() == points.len();
        if tests.is_empty() {
            return Ok(has_all);
        }
        let answers = self.tester.test(&tests, self.emit)?;
        if answers.len() != tests.len() {
            return Err(Error::Broken(format!("{} of {} tests were answered", answers.len(), tests.len())));
        }
        for (Test { point, subject, .. }, tested) in tests.into_iter().zip(answers) {
            let kept = Kept { point, name: subject.name, tested };
            self.journal.append(&kept)?;
            let Kept { point, name, tested } = kept;
            self.learn_costs(&tested);
            self.runs += tested.answer.count();
            self.reused += tested.reused;
            let (reused, values) = (tested.reused, tested.answer.values());
            let answer = self.answer(&tested);
            (self.emit)(Progress::Tested {
                point: point.clone(),
                name: name.clone(),
                answer,
                values,
                reused,
            });
            self.take(point, name, tested);
        }
        Ok(has_all)
    }

    /// Gives a search all that is known about its states.
    pub(crate) fn feed(&self, search: &mut Search, track: &Track) {
        let all = self.axis.candidates().len();
        for state in track.states(self.axis) {
            let point = track.point(state, all);
            let (bad, good) = self.counts(&point);
            search.observe(state, bad, good);
            if let State::After(number) = state
                && self.is_untestable(&point)
            {
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
                let (bad, good) = threshold.count(values);
                Answer::Runs { bad, good }
            }
            (answer, _) => answer.clone(),
        }
    }

    fn take(&mut self, point: Point, name: String, tested: Tested) {
        let is_measured = self.question.is_measured();
        let known = self.known.entry(point).or_default();
        known.name = name;
        known.has_others |= !tested.others.is_empty();
        let before = known.answers(is_measured);
        let mut why = None;
        match tested.answer {
            Answer::Runs { bad, good } => {
                known.evidence.add(tested.evidence, bad > 0 && known.bad == 0);
                known.bad = known.bad.saturating_add(bad);
                known.good = known.good.saturating_add(good);
            }
            Answer::Values(values) => {
                known.evidence.add(tested.evidence, known.values.is_empty());
                known.values.extend(values);
            }
            Answer::CannotTest(reason) => {
                known.evidence.add(tested.evidence, false);
                why = Some(reason);
            }
        }
        if known.answers(is_measured) > before {
            known.lost = 0;
            return;
        }
        known.lost += tested.others.len().max(1);
        // What could be tested once may only have bad luck now.
        if known.lost >= LOST_MAX || (before == 0 && why.is_some()) {
            let other = tested.others.last().map(|other| format!("it fails in another way: {other}"));
            let nothing = || "its runs say nothing about the kernel".to_string();
            known.untestable = why.or(other).or_else(|| Some(nothing()));
        }
    }
}

impl Known {
    /// Runs, or values, that answer the question.
    fn answers(&self, is_measured: bool) -> usize {
        if is_measured { self.values.len() } else { self.bad as usize + self.good as usize }
    }

    fn counts(&self, threshold: Option<Threshold>) -> (u32, u32) {
        threshold.map_or((self.bad, self.good), |threshold| threshold.count(&self.values))
    }

    fn report(&self, point: &Point, threshold: Option<Threshold>) -> StateReport {
        let (bad, good) = self.counts(threshold);
        StateReport {
            point: point.clone(),
            name: self.name.clone(),
            bad,
            good,
            values: self.values.clone(),
            untestable: self.untestable.clone(),
            evidence: self.evidence.clone(),
        }
    }
}
