//! Which tests come next: those that tell most of the culprit for what they cost.

use super::belief::Belief;
use super::evidence::{Evidence, Runs};
use super::order::{Axis, State};
use super::posterior::{self, Posterior, at_most_entropy, entropy};
use super::settings::Settings;
use super::share::Share;
use super::sums::sums;
use super::testable::Testable;

/// Tests side by side that are weighed together; for each more, twice as many outcomes are.
const JOBS: usize = 4;

/// How often tests side by side are chosen anew, each in the light of the others.
const ROUNDS: usize = 8;

/// Bits below which rounding decides.
const NOTHING: f64 = 1e-12;

/// How much more must be expected of a later state to take it: with equals, what was tested is repeated.
const MORE: f64 = 1.0 + 1e-9;

/// What a choice depends on.
#[derive(Debug)]
pub(super) struct Choice<'a> {
    pub(super) axis: &'a Axis,
    pub(super) evidence: &'a Evidence,
    pub(super) settings: Settings,
    pub(super) belief: Belief,
    /// What may be tested, what was tested already before what was not, with what one bit of it is worth: the hope
    /// that it can be tested, by its cost.
    pub(super) tests: Vec<(State, f64)>,
}

/// One of the ways in which tests may end.
struct Branch {
    chance: f64,
    evidence: Evidence,
    posterior: Posterior,
}

/// All states that may be tested, and what a bit of each is worth.
pub(super) fn tests(axis: &Axis, testable: &Testable, cost: &dyn Fn(State) -> f64) -> Vec<(State, f64)> {
    let hope = testable.hope(axis);
    let worth = |state: State| {
        let hope = if let State::After(at) = state { hope[at] } else { 1.0 };
        (state, hope / cost(state))
    };
    let states = |proven| axis.states().filter(move |&state| testable.is_proven(state) == proven);
    let tests = states(true).chain(states(false)).filter(|&state| !testable.is_broken(state)).map(worth);
    tests.filter(|&(_, worth)| worth.is_finite() && worth > 0.0).collect()
}

impl Choice<'_> {
    /// Up to `jobs` tests to be made side by side.
    pub(super) fn make(&self, jobs: usize) -> Vec<State> {
        let mut chosen = Vec::new();
        while chosen.len() < jobs.min(JOBS) {
            let Some(state) = self.best(&chosen) else { break };
            chosen.push(state);
        }
        // The first was chosen as if it were alone: two in the middle of a half each are worse than two at the thirds.
        let mut settled = chosen.len() < 2;
        for _ in 0..ROUNDS {
            if settled {
                break;
            }
            settled = true;
            for at in 0..chosen.len() {
                let old = chosen.remove(at);
                let new = self.best(&chosen).unwrap_or(old);
                settled &= new == old;
                chosen.insert(at, new);
            }
        }
        chosen
    }

    /// The test that tells most for its cost when `chosen` are made as well; none if nothing tells anything.
    fn best(&self, chosen: &[State]) -> Option<State> {
        let branches = self.branches(chosen);
        let of_branch =
            |branch: &Branch| (branch.chance, sums(self.axis, &branch.posterior), branch.posterior.whole());
        let all: Vec<(f64, Vec<Share>, Share)> = branches.iter().map(of_branch).collect();
        let information = |state: State, entropy: fn(f64) -> f64| -> f64 {
            let of = |(chance, shares, whole): &(f64, Vec<Share>, Share)| {
                let with = match state {
                    State::Before => Share::default(),
                    State::All => *whole,
                    State::After(at) => shares[at],
                };
                chance * self.information(with, *whole, entropy)
            };
            all.iter().map(of).sum()
        };
        let mut best = None;
        let mut most = 0.0;
        for &(state, worth) in &self.tests {
            if information(state, at_most_entropy) * worth <= most {
                continue;
            }
            let bits = information(state, entropy);
            if bits > NOTHING && bits * worth > most * MORE {
                (best, most) = (Some(state), bits * worth);
            }
        }
        best
    }

    /// What a run at a state says of which candidate it is, in bits: the entropy of its outcome, but for what is left
    /// of it once the culprit is known. With a bound for `entropy` it is a bound.
    fn information(&self, with: Share, whole: Share, entropy: fn(f64) -> f64) -> f64 {
        let false_alarm = self.settings.false_alarm;
        let mut bad = with;
        if self.settings.fixed {
            bad = whole;
            bad.add(with, -1.0);
        }
        let good = (whole.mass - bad.mass).max(0.0);
        entropy(bad.shows + good * false_alarm) - bad.doubt - good * posterior::entropy(false_alarm)
    }

    /// All ways in which `chosen` may end.
    fn branches(&self, chosen: &[State]) -> Vec<Branch> {
        let posterior = Posterior::new(self.evidence, self.belief, self.settings.false_alarm);
        let start =
            posterior.map(|posterior| Branch { chance: 1.0, evidence: self.evidence.clone(), posterior });
        let mut branches: Vec<Branch> = start.into_iter().collect();
        for &state in chosen {
            branches = branches.iter().flat_map(|branch| self.split(branch, state)).collect();
        }
        branches
    }

    /// Both ways in which a run at `state` may end, if they may.
    fn split(&self, branch: &Branch, state: State) -> Vec<Branch> {
        let shows = self.shows(&branch.posterior, state);
        let outcomes =
            [(shows, Runs { failures: 1, passes: 0 }), (1.0 - shows, Runs { failures: 0, passes: 1 })];
        let after = |(chance, runs): (f64, Runs)| {
            let mut evidence = branch.evidence.clone();
            evidence.observe(self.axis, state, runs);
            let posterior = Posterior::new(&evidence, self.belief, self.settings.false_alarm)?;
            Some(Branch { chance: branch.chance * chance, evidence, posterior })
        };
        outcomes.into_iter().filter(|&(chance, _)| chance > 0.0).filter_map(after).collect()
    }

    /// The chance that a run at `state` shows the failure.
    fn shows(&self, posterior: &Posterior, state: State) -> f64 {
        let mut shows = 0.0;
        for candidate in 0..self.axis.count() {
            let share = posterior.share(candidate);
            let bad = self.axis.contains(state, candidate) != self.settings.fixed;
            shows += if bad { share.shows } else { share.mass * self.settings.false_alarm };
        }
        shows.clamp(0.0, 1.0)
    }
}
