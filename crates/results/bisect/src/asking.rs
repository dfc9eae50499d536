//! Asks the question at points of an axis, remembers the answers, and knows what asking costs.

mod known;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use judge::parameters::note;
use ledger::Journal;
use serde::{Deserialize, Serialize};
use verdict::bisection::{Boot, Search, State};
use verdict::nested::shows;
use verdict::{Alarms, BootRuns, Nested, Price};

use crate::answer::Answer;
use crate::axis::Axis;
use crate::bisection::{Evidence, StateReport};
use crate::error::Error;
use crate::event::{Progress, Purpose};
use crate::point::Point;
use crate::question::{Question, Threshold};
use crate::settings::Settings;
use crate::tester::{Test, Tested, Tester};
use crate::track::Track;
use crate::underway::{Testing, UNDERWAY, Underway};

use known::{Costs, Known};

/// Runs of a state after which no more of them are worth their time.
const RUNS_MAX: u32 = 2000;

/// Runs of a boot at most whose machine does not stay for more.
const RUNS_AT_ONCE: u32 = 100;

/// Runs of all states together after which a search is given up: in clones, and where each is a boot.
const ALL_RUNS_MAX: u32 = 20_000;
const ALL_BOOTS_MAX: u32 = 2000;

/// An answer as it is kept, so that the same command goes on from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    point: Point,
    name: String,
    /// The boot of its runs, or the first of several; earlier versions knew only one.
    #[serde(default)]
    boot: u32,
    tested: Tested,
}

/// Runs that are wanted at a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) point: Point,
    /// The number of the boot, from 0; where each run is a boot, of the first.
    pub(crate) boot: u32,
    pub(crate) times: u32,
}

impl Kept {
    /// What shows it.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.tested.evidence
    }
}

/// The question, what answers it, and all answers so far.
pub(crate) struct Asking<'a> {
    pub(crate) axis: &'a mut dyn Axis,
    pub(crate) question: &'a Question,
    tester: &'a mut dyn Tester,
    journal: &'a mut Journal,
    emit: &'a mut dyn FnMut(Progress),
    underway: Underway,
    known: BTreeMap<Point, Known>,
    /// Points that the axis does not have.
    absent: BTreeSet<Point>,
    pub(crate) threshold: Option<Threshold>,
    /// How states without the failure may show it all the same.
    pub(crate) alarms: Alarms,
    /// Boots of states that have the failure, as a search knows them: more than those of the end.
    pub(crate) bad_boots: Option<Vec<BootRuns>>,
    costs: Costs,
    pub(crate) runs: u32,
    pub(crate) reused: u32,
    /// Parameters that some kernel does not know.
    pub(crate) unknown: Vec<String>,
}

/// What answers and keeps, and where progress goes.
pub(crate) struct Others<'a> {
    pub(crate) tester: &'a mut dyn Tester,
    pub(crate) journal: &'a mut Journal,
    pub(crate) emit: &'a mut dyn FnMut(Progress),
    pub(crate) underway: Underway,
}

impl<'a> Asking<'a> {
    /// Begins with the answers of an earlier call.
    pub(crate) fn new(
        axis: &'a mut dyn Axis,
        question: &'a Question,
        others: Others<'a>,
        kept: Vec<Kept>,
    ) -> Self {
        let Others { tester, journal, emit, underway } = others;
        let mut asking = Self {
            axis,
            question,
            tester,
            journal,
            emit,
            underway,
            known: BTreeMap::new(),
            absent: BTreeSet::new(),
            threshold: None,
            alarms: question.alarms(),
            bad_boots: None,
            costs: Costs::default(),
            runs: 0,
            reused: 0,
            unknown: Vec::new(),
        };
        for kept in kept {
            asking.costs.learn(&kept.tested);
            asking.reused += kept.tested.answer.count();
            asking.runs += kept.tested.answer.count();
            asking.take(kept);
        }
        asking
    }

    /// Reports what happened.
    pub(crate) fn emit(&mut self, progress: Progress) {
        if let Progress::Belief(belief) = &progress {
            self.underway.belief = Some(belief.clone());
        }
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

    /// The same for each boot.
    pub(crate) fn boots(&self, point: &Point) -> Vec<BootRuns> {
        self.known.get(point).map_or_else(Vec::new, |known| known.boots(self.threshold))
    }

    /// Whether the same state always answers the same.
    pub(crate) fn is_certain(&self) -> bool {
        self.alarms == Alarms::None
    }

    /// The end where the failure shows, and the one where it does not.
    pub(crate) fn ends(settings: &Settings) -> (Point, Point) {
        if settings.fixed { (Point::First, Point::Last) } else { (Point::Last, Point::First) }
    }

    /// What is known of the failure where it is.
    pub(crate) fn failure(&self, settings: &Settings) -> Nested {
        let (bad, _) = Self::ends(settings);
        let boots = self.bad_boots.clone().unwrap_or_else(|| self.boots(&bad));
        Nested::perhaps_always(&boots)
    }

    /// The probability that the failure is at a point; of a measured one, whether most of its values are bad.
    pub(crate) fn shows(&self, point: &Point, settings: &Settings) -> f64 {
        let boots = self.boots(point);
        if self.question.is_measured() {
            let (bad, good) = self.counts(point);
            return if bad > good { 1.0 } else { 0.0 };
        }
        let (bad, good) = Self::ends(settings);
        shows(&boots, &self.boots(&bad), &self.boots(&good), self.alarms)
    }

    /// Whether more runs were made than are worth their time.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.runs >= if self.question.nests_runs() { ALL_RUNS_MAX } else { ALL_BOOTS_MAX }
    }

    /// Whether something between the ends was tested: then both were what they should be.
    pub(crate) fn has_searched(&self) -> bool {
        self.known.keys().any(|point| !matches!(point, Point::First | Point::Last))
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

    /// Whether a point cannot be tested since something else than what is looked for goes wrong there.
    pub(crate) fn fails_otherwise(&self, point: &Point) -> bool {
        self.known.get(point).is_some_and(|known| known.fails_otherwise)
    }

    /// What a run at a point costs, in seconds; more than anything where it says nothing new.
    pub(crate) fn cost(&self, point: &Point, boot: Boot) -> f64 {
        let (bad, good) = self.counts(point);
        if self.is_untestable(point) || bad.saturating_add(good) >= RUNS_MAX {
            return f64::INFINITY;
        }
        let Price { boot: new_boot, run } = self.price();
        match (boot, self.known.contains_key(point)) {
            (Boot::Last, _) if self.tester.keeps_machines() => run,
            (Boot::Last, _) => new_boot + run,
            // Where each run is a boot, the time of one run is that of the other.
            (Boot::New, true) if run.is_infinite() => new_boot,
            (Boot::New, true) => new_boot + run,
            (Boot::New, false) => self.step().as_secs_f64(),
        }
    }

    /// What a boot and a run cost, in seconds.
    pub(crate) fn price(&self) -> Price {
        let (boot, run) = (self.costs.boot().as_secs_f64(), self.costs.run().as_secs_f64());
        match self.question.nests_runs() {
            true => Price { boot, run },
            false => Price { boot: boot + run, run: f64::INFINITY },
        }
    }

    /// Runs that a search makes of a boot at once: one where the machine stays for more, else as many as take the time of the
    /// boot.
    pub(crate) fn runs_at_once(&self) -> u32 {
        if self.tester.keeps_machines() || !self.question.nests_runs() {
            return 1;
        }
        let Price { boot, run } = self.price();
        let times = (boot / run).clamp(1.0, f64::from(RUNS_AT_ONCE));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is between 1 and 100"
        )]
        return times as u32;
    }

    /// Time that a state takes which was never tested.
    pub(crate) fn step(&self) -> Duration {
        self.costs.preparation(self.axis.usual_effort()) + self.costs.boot() + self.costs.run()
    }

    /// The number of a boot that a point had not yet.
    pub(crate) fn next_boot(&self, point: &Point) -> u32 {
        self.known.get(point).map_or(0, Known::next_boot)
    }

    /// So many more runs at a point, in new boots with at most `each` runs.
    pub(crate) fn new_boots(&self, point: &Point, times: u32, each: u32) -> Vec<Wanted> {
        let first = self.next_boot(point);
        let wanted = |boot, times| Wanted { point: point.clone(), boot, times };
        if !self.question.nests_runs() {
            return if times > 0 { vec![wanted(first, times)] } else { Vec::new() };
        }
        let boots = times.div_ceil(each);
        (0..boots).map(|boot| wanted(first + boot, each.min(times - boot * each))).collect()
    }

    /// Makes the runs that are wanted, side by side where that is possible; whether the axis has all their points.
    pub(crate) fn ask(&mut self, wanted: &[Wanted], purpose: Purpose) -> Result<bool, Error> {
        let mut has_all = true;
        for side_by_side in wanted.chunks(self.jobs()) {
            has_all &= self.ask_together(side_by_side, purpose)?;
        }
        Ok(has_all)
    }

    fn ask_together(&mut self, wanted: &[Wanted], purpose: Purpose) -> Result<bool, Error> {
        let mut tests = Vec::new();
        for Wanted { point, boot, times } in wanted {
            let (point, boot, times) = (point.clone(), *boot, *times);
            let Some(subject) = self.axis.subject(&point)? else {
                self.absent.insert(point);
                continue;
            };
            let name = subject.name.clone();
            (self.emit)(Progress::Testing { point: point.clone(), name, times, purpose });
            let before = self.known.get(&point).map_or(0, Known::runs);
            tests.push(Test { point, subject, boot, before, times });
        }
        let has_all = tests.len() == wanted.len();
        if tests.is_empty() {
            return Ok(has_all);
        }
        self.show(tests.iter().map(|test| Testing::now(test, purpose)).collect())?;
        let answers = self.tester.test(&tests, self.emit)?;
        if answers.len() != tests.len() {
            return Err(Error::Broken(format!("{} of {} tests were answered", answers.len(), tests.len())));
        }
        for (Test { point, subject, boot, .. }, tested) in tests.into_iter().zip(answers) {
            let kept = Kept { point, name: subject.name, boot, tested };
            self.journal.append(&kept)?;
            self.learn(kept);
        }
        self.show(Vec::new())?;
        Ok(has_all)
    }

    /// Keeps for others to read how far it is.
    fn show(&mut self, testing: Vec<Testing>) -> Result<(), Error> {
        let seen = self.known.iter().map(|(point, known)| known.seen(point, self.threshold));
        (self.underway.states, self.underway.testing) = (seen.collect(), testing);
        self.underway.threshold = self.threshold;
        Ok(self.journal.keep(UNDERWAY, &self.underway)?)
    }

    /// Reports an answer and takes it in.
    fn learn(&mut self, kept: Kept) {
        let Kept { point, name, tested, .. } = &kept;
        self.costs.learn(tested);
        self.runs += tested.answer.count();
        self.reused += tested.reused;
        let (point, name) = (point.clone(), name.clone());
        let (answer, values) = (self.answer(tested), tested.answer.values());
        (self.emit)(Progress::Tested { point, name, answer, values, reused: tested.reused });
        self.take(kept);
    }

    /// Gives a search all that is known about its states.
    pub(crate) fn feed(&self, search: &mut Search, track: &Track) {
        let all = self.axis.candidates().len();
        for state in track.states(self.axis) {
            let point = track.point(state, all);
            search.observe_all(state, &self.boots(&point));
            if let State::After(number) = state
                && self.is_untestable(&point)
            {
                search.cannot_test(number);
            }
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

    fn take(&mut self, Kept { point, name, boot, tested }: Kept) {
        self.take_unknown(&tested.unknown);
        let known = self.known.entry(point).or_insert_with(|| Known::new(self.question.nests_runs()));
        known.take(name, boot, tested);
    }

    /// Reports parameters that a kernel does not know, each once.
    fn take_unknown(&mut self, unknown: &[String]) {
        let before = self.unknown.len();
        for name in unknown {
            if !self.unknown.contains(name) {
                self.unknown.push(name.clone());
            }
        }
        if let Some(text) = note(&self.unknown[before..]) {
            self.emit(Progress::Note(text));
        }
    }
}
