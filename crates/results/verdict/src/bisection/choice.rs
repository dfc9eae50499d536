//! Which tests come next: those that tell most of the culprit for what they cost.

use super::belief::Belief;
use super::evidence::Evidence;
use super::order::{Axis, State};
use super::posterior::{Posterior, at_most_entropy, entropy};
use super::share::Share;
use super::sums::sums;
use super::testable::Testable;
use super::trial::{Boot, Trial};
use crate::nested::BootRuns;

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
    pub(super) start: Branch,
    pub(super) fixed: bool,
    pub(super) belief: Belief,
    /// What may be tried, what was tested already before what was not, with what one bit of it is worth: the hope
    /// that it can be tested, by its cost.
    pub(super) trials: Vec<(Trial, f64)>,
}

/// One of the ways in which tests may end.
#[derive(Debug, Clone)]
pub(super) struct Branch {
    chance: f64,
    evidence: Evidence,
    posterior: Posterior,
}

impl Branch {
    /// What is known now.
    pub(super) fn new(evidence: &Evidence, posterior: &Posterior) -> Self {
        Self { chance: 1.0, evidence: evidence.clone(), posterior: posterior.clone() }
    }
}

/// All runs that may be made, and what a bit of each is worth.
pub(super) fn trials(
    axis: &Axis,
    testable: &Testable,
    evidence: &Evidence,
    cost: &dyn Fn(Trial) -> f64,
) -> Vec<(Trial, f64)> {
    let hope = testable.hope(axis);
    let worth = |trial: Trial| {
        let hope = if let State::After(at) = trial.state { hope[at] } else { 1.0 };
        (trial, hope / cost(trial))
    };
    let states = |proven| axis.states().filter(move |&state| testable.is_proven(state) == proven);
    let again = evidence.states().map(|state| Trial { state, boot: Boot::Last });
    let new = states(true).chain(states(false)).map(|state| Trial { state, boot: Boot::New });
    let trials = again.chain(new).filter(|trial| !testable.is_broken(trial.state)).map(worth);
    trials.filter(|&(_, worth)| worth.is_finite() && worth > 0.0).collect()
}

impl Choice<'_> {
    /// Up to `jobs` runs to be made side by side.
    pub(super) fn make(&self, jobs: usize) -> Vec<Trial> {
        let mut chosen = Vec::new();
        while chosen.len() < jobs.min(JOBS) {
            let Some(trial) = self.best(&chosen) else { break };
            chosen.push(trial);
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

    /// The run that tells most for its cost when `chosen` are made as well; none if nothing tells anything.
    fn best(&self, chosen: &[Trial]) -> Option<Trial> {
        let summed = |branch: Branch| {
            let shares = sums(self.axis, &branch.posterior);
            (shares, branch.posterior.whole(), branch)
        };
        let all: Vec<(Vec<Share>, Share, Branch)> = self.branches(chosen).into_iter().map(summed).collect();
        let of_new = |state: State, entropy: fn(f64) -> f64| -> f64 {
            let of = |(shares, whole, branch): &(Vec<Share>, Share, Branch)| {
                let with = match state {
                    State::Before => Share::default(),
                    State::All => *whole,
                    State::After(at) => shares[at],
                };
                branch.chance * self.of_new_boot(with, *whole, entropy)
            };
            all.iter().map(of).sum()
        };
        let of_last =
            |state: State| all.iter().map(|(_, _, branch)| branch.chance * of_last_boot(branch, state)).sum();
        let mut best = None;
        let mut most = 0.0;
        for &(trial, worth) in &self.trials {
            let bits: f64 = match trial.boot {
                Boot::New if of_new(trial.state, at_most_entropy) * worth <= most => continue,
                Boot::New => of_new(trial.state, entropy),
                Boot::Last => of_last(trial.state),
            };
            if bits > NOTHING && bits * worth > most * MORE {
                (best, most) = (Some(trial), bits * worth);
            }
        }
        best
    }

    /// What a run in a new boot of a state says of which candidate it is, in bits: the entropy of its outcome, but for
    /// what is left of it once the culprit is known. With a bound for `entropy` it is a bound.
    fn of_new_boot(&self, with: Share, whole: Share, entropy: fn(f64) -> f64) -> f64 {
        let mut without = whole;
        without.add(with, -1.0);
        let (bad, good) = if self.fixed { (without, with) } else { (with, without) };
        entropy((bad.shows + good.alarms).clamp(0.0, 1.0)) - bad.doubt - good.quiet_doubt
    }

    /// All ways in which `chosen` may end.
    fn branches(&self, chosen: &[Trial]) -> Vec<Branch> {
        let mut branches = vec![self.start.clone()];
        for &trial in chosen {
            branches = branches.iter().flat_map(|branch| self.split(branch, trial)).collect();
        }
        branches
    }

    /// Both ways in which a run may end, if they may.
    fn split(&self, branch: &Branch, trial: Trial) -> Vec<Branch> {
        let shows = self.shows(branch, trial);
        let after = |(chance, fails): (f64, bool)| {
            let mut evidence = branch.evidence.clone();
            evidence.observe(self.axis, trial, BootRuns::one(fails));
            let posterior = Posterior::new(&evidence, self.belief)?;
            Some(Branch { chance: branch.chance * chance, evidence, posterior })
        };
        let outcomes = [(shows, true), (1.0 - shows, false)];
        outcomes.into_iter().filter(|&(chance, _)| chance > 0.0).filter_map(after).collect()
    }

    /// The chance that a run shows the failure.
    fn shows(&self, branch: &Branch, trial: Trial) -> f64 {
        let Branch { posterior, evidence, .. } = branch;
        if let (Boot::Last, Some(boot)) = (trial.boot, evidence.last_boot(trial.state)) {
            let has_failure = |group| evidence.has_failure(group, trial.state).unwrap_or_default();
            return posterior.predict(evidence, boot, has_failure).shows;
        }
        let mut shows = 0.0;
        for candidate in 0..self.axis.count() {
            let share = posterior.share(candidate);
            let bad = self.axis.contains(trial.state, candidate) != self.fixed;
            shows += if bad { share.shows } else { share.alarms };
        }
        shows.clamp(0.0, 1.0)
    }
}

/// What one more run of a state's last boot says, in bits.
fn of_last_boot(Branch { posterior, evidence, .. }: &Branch, state: State) -> f64 {
    let Some(boot) = evidence.last_boot(state) else { return 0.0 };
    let has_failure = |group| evidence.has_failure(group, state).unwrap_or_default();
    let prediction = posterior.predict(evidence, boot, has_failure);
    entropy(prediction.shows.clamp(0.0, 1.0)) - prediction.doubt
}
