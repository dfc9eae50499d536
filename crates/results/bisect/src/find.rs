//! From answers to the candidate that explains them.

use std::time::Duration;

use verdict::Rate;
use verdict::bisection::{self, Belief, Search, Standing, State, Unusable};

use crate::asking::Asking;
use crate::axis::Axis;
use crate::error::Error;
use crate::event::{self, Progress, Purpose};
use crate::needed::needed;
use crate::point::Point;
use crate::question::Question;
use crate::settings::Settings;
use crate::track::{Track, state_with, states_before};

/// The part of the allowed error that a search may use up whose candidate may be one of a set: each of them may be wrong.
const OF_MEMBER: f64 = 0.5;

/// What a search came to.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) search: Search,
    pub(crate) standing: Standing,
    /// States that were tested for it.
    pub(crate) steps: u32,
    /// How many times one waited for them: fewer, where some were tested side by side.
    pub(crate) rounds: u32,
    /// States that plain halving is expected to test, and tests at most.
    pub(crate) halving: (f64, u32),
}

/// A search that goes on.
struct Finding<'l, 'a> {
    asking: &'l mut Asking<'a>,
    track: &'l Track,
    settings: &'l Settings,
    search: Search,
    tested: Vec<State>,
    rounds: usize,
}

/// Finds the candidate of a track that makes the difference, and makes sure of it.
pub(crate) fn find(asking: &mut Asking<'_>, track: &Track, settings: &Settings) -> Result<Found, Error> {
    let mut search = start(track, asking.axis, settings, false_alarm(asking, track))?;
    let halving = (search.expected_steps(Belief::Working), search.worst_steps(Belief::Working));
    asking.feed(&mut search, track);
    let tested: Vec<State> =
        track.states(asking.axis).filter(|state| was_tested(asking, track, *state)).collect();
    let mut finding = Finding { asking, track, settings, search, rounds: tested.len(), tested };
    let standing = finding.run()?;
    let [steps, rounds] =
        [finding.tested.len(), finding.rounds].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    Ok(Found { search: finding.search, standing, steps, rounds, halving })
}

/// A search of a track of which nothing is known.
///
/// # Errors
///
/// When there is nothing to search, or too much, or the confidence is none.
pub(crate) fn start(
    track: &Track,
    axis: &dyn Axis,
    settings: &Settings,
    false_alarm: f64,
) -> Result<Search, Unusable> {
    let Settings { confidence, fixed, .. } = *settings;
    let allowed = (1.0 - confidence) * if axis.is_separable() { OF_MEMBER } else { 1.0 };
    let confidence = 1.0 - allowed;
    Search::new(track.order(axis), bisection::Settings { confidence, fixed, false_alarm })
}

/// Whether a state between the ends was tested before.
fn was_tested(asking: &Asking<'_>, track: &Track, state: State) -> bool {
    let point = track.point(state, asking.axis.candidates().len());
    matches!(state, State::After(_)) && asking.state(&point).is_some()
}

/// The chance that a sample of the good plateau is taken for one of the other: as it was at the ends, and never none.
fn false_alarm(asking: &Asking<'_>, track: &Track) -> f64 {
    if !matches!(asking.question, Question::Metric { timed: true, .. }) {
        return 0.0;
    }
    let all = asking.axis.candidates().len();
    let count = |state| asking.counts(&track.point(state, all));
    let ((a, b), (c, d)) = (count(State::Before), count(State::All));
    let (before, total, after, of) = (a.min(b), a + b, c.min(d), c + d);
    f64::from(before + after + 1) / f64::from(total + of + 2)
}

impl Finding<'_, '_> {
    /// Searches, then proves; what the proof shows may send the search on.
    fn run(&mut self) -> Result<Standing, Error> {
        self.settle(Belief::Working, Purpose::Search)?;
        let belief = match self.asking.question.is_certain() {
            true => Belief::Working,
            false => Belief::Sceptical,
        };
        loop {
            let standing = self.settle(belief, Purpose::Proof)?;
            let Standing::Found { candidate, .. } = standing else { return Ok(standing) };
            if !self.look_around(candidate)? {
                return Ok(standing);
            }
        }
    }

    /// Tests until nothing more is to be learnt or it is clear enough.
    fn settle(&mut self, belief: Belief, purpose: Purpose) -> Result<Standing, Error> {
        loop {
            self.emit_belief(belief);
            let standing = self.search.standing(belief);
            if !matches!(standing, Standing::Open) {
                return Ok(standing);
            }
            let states = self.next(belief);
            if states.is_empty() {
                return Ok(standing);
            }
            self.test(&states, 1, purpose)?;
        }
    }

    /// The tests that come next. A build takes all CPUs: two of them side by side are no faster than one after the
    /// other, and the second can learn from the first.
    fn next(&self, belief: Belief) -> Vec<State> {
        let cost = |state: State| self.asking.cost(&self.point(state));
        if !self.asking.axis.is_built() {
            return self.search.next(self.asking.jobs(), belief, &cost);
        }
        let is_new = |state: State| self.asking.state(&self.point(state)).is_none();
        let alone = self.search.next(1, belief, &cost);
        if alone.iter().any(|state| is_new(*state)) {
            return alone;
        }
        let repeated = |state: State| if is_new(state) { f64::INFINITY } else { cost(state) };
        self.search.next(self.asking.jobs(), belief, &repeated)
    }

    fn point(&self, state: State) -> Point {
        self.track.point(state, self.asking.axis.candidates().len())
    }

    /// Makes runs at states; one that comes up twice is run twice.
    fn test(&mut self, states: &[State], times: u32, purpose: Purpose) -> Result<(), Error> {
        let mut wanted: Vec<(State, u32)> = Vec::new();
        for state in states {
            match wanted.iter_mut().find(|(other, _)| other == state) {
                Some((_, count)) => *count += times,
                None => wanted.push((*state, times)),
            }
        }
        let before: Vec<(u32, u32)> =
            wanted.iter().map(|(state, _)| self.asking.counts(&self.point(*state))).collect();
        let points: Vec<_> = wanted.iter().map(|(state, count)| (self.point(*state), *count)).collect();
        self.asking.ask(&points, purpose)?;
        let known = self.tested.len();
        for ((state, _), before) in wanted.into_iter().zip(before) {
            let point = self.point(state);
            let now = self.asking.counts(&point);
            self.search.observe(state, now.0.saturating_sub(before.0), now.1.saturating_sub(before.1));
            if let State::After(number) = state {
                if self.asking.is_untestable(&point) {
                    self.search.cannot_test(number);
                }
                if was_tested(self.asking, self.track, state) && !self.tested.contains(&state) {
                    self.tested.push(state);
                }
            }
        }
        self.rounds += usize::from(self.tested.len() > known);
        Ok(())
    }

    /// Makes sure that the states just before a candidate and the one with it were run often enough to be shown as
    /// proof; whether that took more runs.
    fn look_around(&mut self, candidate: usize) -> Result<bool, Error> {
        self.asking.rate = Some(self.search.rate(Belief::Sceptical));
        let needed = needed(self.asking, self.settings);
        let order = self.track.order(self.asking.axis);
        let mut around = states_before(&order, candidate);
        around.push(state_with(&order, candidate));
        for (index, state) in around.iter().enumerate() {
            let is_with = index + 1 == around.len();
            let (bad, good) = self.asking.counts(&self.point(*state));
            let missing = match is_with == self.settings.fixed {
                // Where it does not show, it must be missed often enough.
                true => needed.saturating_sub(bad + good),
                false => u32::from(bad == 0) * needed.saturating_sub(good),
            };
            if missing > 0 && !self.asking.is_untestable(&self.point(*state)) {
                self.test(&[*state], missing, Purpose::Proof)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn emit_belief(&mut self, belief: Belief) {
        let all = self.asking.axis.candidates().len();
        let probabilities = self.track.spread(&self.search.probabilities(belief), all);
        let rate = self.search.rate(belief);
        let steps_left = self.search.expected_steps(belief);
        let time_left =
            Duration::try_from_secs_f64(self.asking.step().as_secs_f64() * steps_left).unwrap_or_default();
        self.asking.emit(Progress::Belief(event::Belief {
            probabilities,
            steps: u32::try_from(self.tested.len()).unwrap_or(u32::MAX),
            steps_left,
            time_left,
            rate: (rate.estimate().unwrap_or_default(), is_always(rate)),
        }));
    }
}

/// Whether each of them did.
pub(crate) fn is_always(rate: Rate) -> bool {
    rate.passes == 0 && rate.failures > 0
}
