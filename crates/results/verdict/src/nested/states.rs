//! Whether two states have the same failure.

use super::cells::{Cell, alarms, failures, ln_chances, ln_prior, ln_sum};
use super::posterior::ALWAYS;
use super::{Alarms, BootRuns};

/// The probability, before any run, that there are no false alarms.
pub(crate) const NO_ALARMS: f64 = 0.5;

/// What two ends may be: the first is the one that should show the failure. The probabilities sum to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ends {
    /// The failure is at the first end only.
    pub as_stated: f64,
    /// It is at both.
    pub both: f64,
    /// It is at neither: what was seen are false alarms.
    pub neither: f64,
    /// It is at the second end only.
    pub swapped: f64,
}

/// What runs say of two ends of which nothing is known.
#[must_use]
pub fn ends(bad: &[BootRuns], good: &[BootRuns], kind: Alarms) -> Ends {
    let both: Vec<BootRuns> = bad.iter().chain(good).copied().collect();
    let ln = [
        ln_failure(bad) + ln_alarms(good, kind),
        ln_failure(&both),
        ln_alarms(&both, kind),
        ln_alarms(bad, kind) + ln_failure(good),
    ];
    let total = ln_sum(ln.into_iter());
    let [as_stated, both, neither, swapped] = ln.map(|ln| (ln - total).exp());
    Ends { as_stated, both, neither, swapped }
}

/// The probability that a state has the failure that was seen `bad` where it is, and `good` where it is not: an even
/// chance before any run of it.
#[must_use]
pub fn shows(state: &[BootRuns], bad: &[BootRuns], good: &[BootRuns], kind: Alarms) -> f64 {
    let with = |more: &[BootRuns]| -> Vec<BootRuns> { more.iter().chain(state).copied().collect() };
    let has_it = ln_failure(&with(bad)) + ln_alarms(good, kind);
    let has_not = ln_failure(bad) + ln_alarms(&with(good), kind);
    1.0 / (1.0 + (has_not - has_it).exp())
}

/// How much more probable the runs of two states are if they share one failure than if each has its own: the Bayes
/// factor. Far below 1 they disagree.
#[must_use]
pub fn agreement(one: &[BootRuns], other: &[BootRuns]) -> f64 {
    let both: Vec<BootRuns> = one.iter().chain(other).copied().collect();
    (ln_failure(&both) - ln_failure(one) - ln_failure(other)).exp()
}

fn ln_failure(boots: &[BootRuns]) -> f64 {
    ln_evidence(failures(), ALWAYS, boots)
}

fn ln_alarms(boots: &[BootRuns], kind: Alarms) -> f64 {
    ln_evidence(alarms(kind), NO_ALARMS, boots)
}

/// The logarithm of the chance of these runs, averaged over all cells.
fn ln_evidence(cells: &[Cell], first: f64, boots: &[BootRuns]) -> f64 {
    let prior = ln_prior(cells, first);
    let ln: Vec<f64> =
        prior.into_iter().zip(ln_chances(cells, boots)).map(|(prior, seen)| prior + seen).collect();
    ln_sum(ln.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boots(of: &[(u32, u32)]) -> Vec<BootRuns> {
        of.iter().map(|&(failures, passes)| BootRuns { failures, passes }).collect()
    }

    fn of(bad: &[(u32, u32)], good: &[(u32, u32)]) -> Ends {
        ends(&boots(bad), &boots(good), Alarms::Rare)
    }

    #[test]
    fn ends_are_told_apart() {
        assert!(of(&[(2, 0), (2, 0), (1, 0)], &[(0, 2), (0, 2), (0, 1)]).as_stated > 0.99);
        assert!(of(&[(2, 0), (2, 0), (1, 0)], &[(2, 0), (2, 0), (1, 0)]).both > 0.9);
        assert!(of(&[(0, 9), (0, 9), (0, 9)], &[(9, 0), (9, 0), (9, 0)]).swapped > 0.99);
        // One of twenty at both is either.
        let unclear = of(&[(1, 19)], &[(1, 19)]);
        assert!(unclear.as_stated < 0.5 && unclear.both + unclear.neither > 0.5, "{unclear:?}");
        // A false alarm at the good end, and far more at the bad one.
        assert!(of(&[(5, 0); 4], &[(0, 5), (1, 9), (0, 5), (0, 10), (0, 10)]).as_stated > 0.99);
    }

    #[test]
    fn nothing_is_known_of_a_state_without_runs() {
        let (bad, good) = (boots(&[(5, 0)]), boots(&[(0, 5)]));
        let of = |state: &[(u32, u32)]| shows(&boots(state), &bad, &good, Alarms::Rare);
        assert!((of(&[]) - 0.5).abs() < 1e-9);
        assert!(of(&[(1, 0)]) > 0.98 && of(&[(2, 0), (1, 0)]) > 0.999);
        assert!(of(&[(0, 3), (0, 3)]) < 0.02);
        let none = shows(&boots(&[(0, 1)]), &bad, &good, Alarms::None);
        assert!(none < 0.5 && (shows(&boots(&[(1, 0)]), &bad, &good, Alarms::None) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn one_of_twenty_is_another_failure_than_twenty_of_twenty() {
        let of = |one: &[(u32, u32)], other: &[(u32, u32)]| agreement(&boots(one), &boots(other));
        assert!(of(&[(0, 5), (1, 4), (0, 5), (0, 5)], &[(5, 0); 4]) < 0.01);
        assert!(of(&[(5, 0); 4], &[(5, 0); 4]) > 1.0 && of(&[(2, 3), (1, 4)], &[(1, 4), (2, 3)]) > 1.0);
        assert!(of(&[(1, 2)], &[(5, 0)]) > 0.01);
    }
}
