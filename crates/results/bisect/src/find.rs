//! From answers to the candidate that explains them.

use std::collections::BTreeSet;
use std::time::Duration;

use verdict::bisection::{self, Belief, Boot, Search, Standing, State, Trial, Unusable};
use verdict::{Alarms, BootRuns};

use crate::asking::{Asking, Wanted};
use crate::axis::Axis;
use crate::error::Error;
use crate::event::{self, Progress, Purpose};
use crate::missing::{count, missing};
use crate::point::Point;
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
    let mut search = start(track, asking.axis, settings, asking.alarms)?;
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
    alarms: Alarms,
) -> Result<Search, Unusable> {
    let Settings { confidence, fixed, .. } = *settings;
    let allowed = (1.0 - confidence) * if axis.is_separable() { OF_MEMBER } else { 1.0 };
    let confidence = 1.0 - allowed;
    Search::new(track.order(axis), bisection::Settings { confidence, fixed, alarms })
}

/// Whether a state between the ends was tested before.
fn was_tested(asking: &Asking<'_>, track: &Track, state: State) -> bool {
    let point = track.point(state, asking.axis.candidates().len());
    matches!(state, State::After(_)) && asking.state(&point).is_some()
}

impl Finding<'_, '_> {
    /// Searches, then proves; what the proof shows may send the search on.
    fn run(&mut self) -> Result<Standing, Error> {
        let proof = match self.asking.is_certain() {
            true => Belief::Working,
            false => Belief::Sceptical,
        };
        // What comes next depends on what is known alone, so that a search that goes on does the same.
        loop {
            if self.step(Belief::Working, Purpose::Search)? {
                continue;
            }
            if self.step(proof, Purpose::Proof)? {
                continue;
            }
            let standing = self.search.standing(proof);
            let Standing::Found { candidate, .. } = standing else { return Ok(standing) };
            if !self.look_around(candidate)? {
                return Ok(standing);
            }
        }
    }

    /// Makes the next tests, unless it is clear enough or nothing more is to be learnt; whether it did.
    fn step(&mut self, belief: Belief, purpose: Purpose) -> Result<bool, Error> {
        let is_open = self.search.standing(belief) == Standing::Open;
        // What the search believed is no news once it goes about the proof.
        if is_open || purpose == Purpose::Proof {
            self.emit_belief(belief);
        }
        if !is_open || self.asking.is_exhausted() {
            return Ok(false);
        }
        let trials = self.next(belief);
        let wanted = self.wanted(&trials);
        if !wanted.is_empty() {
            let states = trials.iter().map(|trial| trial.state).collect();
            self.test(states, &wanted, purpose)?;
        }
        Ok(!wanted.is_empty())
    }

    /// The runs that come next. A build takes all CPUs: two of them side by side are no faster than one after the other,
    /// and the second can learn from the first.
    fn next(&self, belief: Belief) -> Vec<Trial> {
        let cost = |trial: Trial| self.asking.cost(&self.point(trial.state), trial.boot);
        if !self.asking.axis.is_built() {
            return self.search.next(self.asking.jobs(), belief, &cost);
        }
        let is_new = |trial: Trial| self.asking.state(&self.point(trial.state)).is_none();
        let alone = self.search.next(1, belief, &cost);
        if alone.iter().any(|trial| is_new(*trial)) {
            return alone;
        }
        let repeated = |trial: Trial| if is_new(trial) { f64::INFINITY } else { cost(trial) };
        self.search.next(self.asking.jobs(), belief, &repeated)
    }

    /// The runs that trials mean; the last boot of a state may be one that an earlier trial begins.
    fn wanted(&self, trials: &[Trial]) -> Vec<Wanted> {
        let (mut all, times): (Vec<Wanted>, u32) = (Vec::new(), self.asking.runs_at_once());
        for Trial { state, boot } in trials {
            let point = self.point(*state);
            let planned = all.iter_mut().rfind(|wanted| wanted.point == point);
            match (boot, planned) {
                (Boot::Last, Some(wanted)) => wanted.times += times,
                // Where each run is a boot, they follow each other.
                (Boot::New, Some(wanted)) if !self.asking.question.nests_runs() => wanted.times += times,
                (Boot::New, Some(wanted)) => {
                    let boot = wanted.boot + 1;
                    all.push(Wanted { point, boot, times });
                }
                (boot, None) => {
                    let new = self.asking.next_boot(&point);
                    let boot = if *boot == Boot::New { new } else { new.saturating_sub(1) };
                    all.push(Wanted { point, boot, times });
                }
            }
        }
        all
    }

    fn point(&self, state: State) -> Point {
        self.track.point(state, self.asking.axis.candidates().len())
    }

    /// Makes runs of states, and tells the search what they gave.
    fn test(&mut self, states: BTreeSet<State>, wanted: &[Wanted], purpose: Purpose) -> Result<(), Error> {
        let before: Vec<Vec<BootRuns>> =
            states.iter().map(|state| self.asking.boots(&self.point(*state))).collect();
        self.asking.ask(wanted, purpose)?;
        let known = self.tested.len();
        for (state, before) in states.into_iter().zip(before) {
            let point = self.point(state);
            self.observe(state, &before, &self.asking.boots(&point));
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

    /// Tells the search what is new of a state: more runs of the boot that was its last, and new boots.
    fn observe(&mut self, state: State, before: &[BootRuns], now: &[BootRuns]) {
        let of = |at: Option<usize>, boots: &[BootRuns]| at.and_then(|at| boots.get(at)).copied();
        let last = before.len().checked_sub(1);
        if let (Some(old), Some(new)) = (of(last, before), of(last, now)) {
            self.search.observe(Trial { state, boot: Boot::Last }, new.without(old));
        }
        self.search.observe_all(state, &now[before.len().min(now.len())..]);
    }

    /// Makes sure that the states just before a candidate and the one with it were run often enough to be shown as
    /// proof; whether that took more runs.
    fn look_around(&mut self, candidate: usize) -> Result<bool, Error> {
        self.asking.bad_boots = Some(self.search.bad_boots(Belief::Sceptical));
        let order = self.track.order(self.asking.axis);
        let mut around = states_before(&order, candidate);
        around.push(state_with(&order, candidate));
        for state in around {
            let point = self.point(state);
            if self.asking.is_untestable(&point) {
                continue;
            }
            let missing = missing(self.asking, &point, self.settings);
            if !missing.is_empty() {
                self.test(BTreeSet::from([state]), &missing, Purpose::Proof)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn emit_belief(&mut self, belief: Belief) {
        let all = self.asking.axis.candidates().len();
        let probabilities = self.track.spread(&self.search.probabilities(belief), all);
        let bad_boots = self.search.bad_boots(belief);
        let steps_left = self.search.expected_steps(belief);
        let time_left =
            Duration::try_from_secs_f64(self.asking.step().as_secs_f64() * steps_left).unwrap_or_default();
        self.asking.emit(Progress::Belief(event::Belief {
            probabilities,
            steps: u32::try_from(self.tested.len()).unwrap_or(u32::MAX),
            steps_left,
            time_left,
            rate: (share(&bad_boots), is_always(&bad_boots)),
        }));
    }
}

/// Whether each of them failed.
pub(crate) fn is_always(boots: &[BootRuns]) -> bool {
    !boots.is_empty() && boots.iter().all(|boot| boot.passes == 0)
}

/// The share of their runs that failed, as a fraction of 1.
fn share(boots: &[BootRuns]) -> f64 {
    let failures: f64 = boots.iter().map(|boot| f64::from(boot.failures)).sum();
    failures / f64::from(count(boots).max(1))
}
