//! How probable each candidate is after what was seen.

use super::belief::Belief;
use super::evidence::{Evidence, LnChances};
use super::share::Share;
use crate::nested::{BootRuns, Cell, alarms, exp, failures, ln_prior, ln_sum};

/// How much less probable than states that have nothing in common what was seen may be under the best candidate, before
/// that one explains nothing: a factor of a million.
const LN_UNEXPLAINED: f64 = -13.8;

/// The probability of each candidate, and what it predicts.
#[derive(Debug, Clone)]
pub(super) struct Posterior {
    groups: Vec<Group>,
    group: Vec<usize>,
}

/// Candidates that no state tells apart.
#[derive(Debug, Clone)]
struct Group {
    /// What each of them adds to sums.
    each: Share,
    /// How many there are.
    size: usize,
    /// The probability of each cell of the failure, and of false alarms.
    bad: Vec<f64>,
    good: Vec<f64>,
}

/// What the next run of a boot says of which group it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Prediction {
    /// The chance that it shows the failure.
    pub(super) shows: f64,
    /// The entropy of its outcome that is left once the culprit is known, in bits.
    pub(super) doubt: f64,
}

impl Posterior {
    /// Nothing if no candidate explains what was seen.
    pub(super) fn new(evidence: &Evidence, belief: Belief) -> Option<Self> {
        let of_groups = evidence.of_groups();
        if !is_explained(evidence, &of_groups) {
            return None;
        }
        let (bad, good) = (failures(), alarms(evidence.alarms));
        let prior = prior(evidence, belief);
        let weighed = of_groups.into_iter().map(|seen| weigh(&prior, seen));
        let (ln, weights): (Vec<f64>, Vec<LnChances>) = weighed.unzip();
        let highest = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut sizes = vec![0; ln.len()];
        evidence.group().iter().for_each(|&group| sizes[group] += 1);
        let total: f64 = ln.iter().zip(&sizes).map(|(ln, &size)| (ln - highest).exp() * size as f64).sum();
        let group = |((ln, weights), size): ((f64, LnChances), usize)| {
            let mass = (ln - highest).exp() / total;
            let shows = mean(bad, &weights.bad, BootRuns::default());
            let alarm = mean(good, &weights.good, BootRuns::default());
            let each = Share {
                mass,
                shows: mass * shows,
                doubt: mass * entropy(shows),
                alarms: mass * alarm,
                quiet_doubt: mass * entropy(alarm),
            };
            Group { each, size, bad: weights.bad, good: weights.good }
        };
        let groups = ln.into_iter().zip(weights).zip(sizes).map(group).collect();
        Some(Self { groups, group: evidence.group().to_vec() })
    }

    /// What `candidate` adds to the sums of the states that contain it.
    pub(super) fn share(&self, candidate: usize) -> Share {
        self.groups[self.group[candidate]].each
    }

    pub(super) fn probabilities(&self) -> Vec<f64> {
        self.group.iter().map(|&at| self.groups[at].each.mass).collect()
    }

    /// The sums over all candidates.
    pub(super) fn whole(&self) -> Share {
        let mut whole = Share::default();
        self.groups.iter().for_each(|group| whole.add(group.each, group.size as f64));
        whole
    }

    /// What one more run says in a boot that had these, where `has_failure` tells whether the state has the failure if
    /// a group is the culprit.
    pub(super) fn predict(
        &self,
        evidence: &Evidence,
        boot: BootRuns,
        has_failure: impl Fn(usize) -> bool,
    ) -> Prediction {
        /// Groups that are less probable cannot move a choice.
        const NEGLIGIBLE: f64 = 1e-9;
        let (bad, good) = (failures(), alarms(evidence.alarms));
        let mut prediction = Prediction { shows: 0.0, doubt: 0.0 };
        for (number, group) in self.groups.iter().enumerate() {
            let mass = group.each.mass * group.size as f64;
            if mass < NEGLIGIBLE {
                continue;
            }
            let shows = match has_failure(number) {
                true => mean(bad, &group.bad, boot),
                false => mean(good, &group.good, boot),
            };
            prediction.shows += mass * shows;
            prediction.doubt += mass * entropy(shows);
        }
        prediction
    }
}

/// The logarithms of the prior probabilities of all cells.
fn prior(evidence: &Evidence, belief: Belief) -> LnChances {
    LnChances {
        bad: ln_prior(failures(), belief.always()),
        good: ln_prior(alarms(evidence.alarms), belief.no_alarms()),
    }
}

/// The logarithm of how probable all is that was seen, and the probability of each cell.
fn weigh(prior: &LnChances, seen: LnChances) -> (f64, LnChances) {
    let of = |prior: &[f64], mut ln: Vec<f64>| {
        ln.iter_mut().zip(prior).for_each(|(ln, prior)| *ln += prior);
        let total = ln_sum(ln.iter().copied());
        ln.iter_mut().for_each(|ln| *ln = exp(*ln - total));
        (total, ln)
    };
    let ((ln_bad, bad), (ln_good, good)) = (of(&prior.bad, seen.bad), of(&prior.good, seen.good));
    (ln_bad + ln_good, LnChances { bad, good })
}

/// Whether some candidate explains what was seen not much worse than states that have nothing in common.
fn is_explained(evidence: &Evidence, of_groups: &[LnChances]) -> bool {
    let LnChances { bad, good } = prior(evidence, Belief::Sceptical);
    let ln = |prior: &[f64], seen: &[f64]| ln_sum(prior.iter().zip(seen).map(|(prior, seen)| prior + seen));
    let either = |(as_bad, as_good): (&[f64], &[f64])| {
        ln_sum([ln(&bad, as_bad), ln(&good, as_good)].into_iter()) - std::f64::consts::LN_2
    };
    let apart: f64 = evidence.apart().map(either).sum();
    let best = |seen: &LnChances| ln(&bad, &seen.bad) + ln(&good, &seen.good);
    of_groups.iter().map(best).any(|together| together - apart > LN_UNEXPLAINED)
}

/// The chance that the next run of a boot shows it, over all cells.
fn mean(cells: &[Cell], weights: &[f64], boot: BootRuns) -> f64 {
    let sum: f64 = cells.iter().zip(weights).map(|(cell, weight)| weight * cell.shows(boot)).sum();
    sum.clamp(0.0, 1.0)
}

/// The entropy of a chance, in bits.
pub(super) fn entropy(chance: f64) -> f64 {
    if chance <= 0.0 || chance >= 1.0 {
        return 0.0;
    }
    let other = 1.0 - chance;
    -(chance * chance.log2() + other * other.log2())
}

/// At least [`entropy`], for a fraction of the work.
pub(super) fn at_most_entropy(chance: f64) -> f64 {
    2.0 * (chance * (1.0 - chance)).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::order::{Axis, Order, State};
    use super::super::trial::{Boot, Trial};
    use super::*;
    use crate::nested::Alarms;

    fn seen(runs: &[(State, BootRuns)], alarms: Alarms) -> (Evidence, Option<Posterior>) {
        let axis = Axis::new(Order::Line(3)).unwrap();
        let mut evidence = Evidence::new(3, alarms, false);
        runs.iter()
            .for_each(|&(state, boot)| evidence.observe(&axis, Trial { state, boot: Boot::New }, boot));
        let posterior = Posterior::new(&evidence, Belief::Sceptical);
        (evidence, posterior)
    }

    #[test]
    fn what_was_seen_in_one_boot_is_expected_there_again() {
        let boot = BootRuns { failures: 0, passes: 1 };
        let runs = [
            (State::All, BootRuns { failures: 4, passes: 0 }),
            (State::All, BootRuns { failures: 0, passes: 4 }),
        ];
        let (evidence, posterior) = seen(&runs, Alarms::None);
        let posterior = posterior.unwrap();
        let shows = |boot| posterior.predict(&evidence, boot, |_| true).shows;
        assert!((shows(BootRuns::default()) - 0.5).abs() < 1e-9);
        assert!(shows(boot) < 0.1 && shows(BootRuns::one(true)) > 0.9);
    }

    #[test]
    fn a_state_that_should_not_show_it_makes_false_alarms_probable_or_all_impossible() {
        let runs = [(State::Before, BootRuns::one(true))];
        assert!(seen(&runs, Alarms::None).1.is_none());
        let (evidence, posterior) = seen(&runs, Alarms::Rare);
        let shows = posterior.unwrap().predict(&evidence, BootRuns::default(), |_| false).shows;
        assert!((0.005..0.05).contains(&shows), "{shows}");
    }

    #[test]
    fn failures_that_come_and_go_are_explained_by_no_candidate() {
        let boots = |state, failures, passes| (0..15).map(move |_| (state, BootRuns { failures, passes }));
        let mut runs: Vec<_> = boots(State::After(0), 3, 0).collect();
        assert!(seen(&runs, Alarms::Rare).1.is_some());
        runs.extend(boots(State::After(1), 0, 3));
        runs.extend(boots(State::All, 3, 0));
        assert!(seen(&runs, Alarms::Rare).1.is_none());
    }

    proptest! {
        #[test]
        fn the_bound_of_the_entropy_is_one(chance in 0.0..=1.0) {
            let (entropy, bound) = (entropy(chance), at_most_entropy(chance));
            prop_assert!((0.0..=1.0).contains(&entropy) && entropy <= bound + 1e-12, "{entropy} {bound}");
        }
    }
}
