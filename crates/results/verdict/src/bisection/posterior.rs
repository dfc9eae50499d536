//! How probable each candidate is after what was seen.

use super::belief::Belief;
use super::evidence::{Evidence, Runs, Split};
use super::share::Share;

/// The probability of each candidate, and what it predicts.
#[derive(Debug, Clone)]
pub(super) struct Posterior {
    /// Those with the same evidence are equal.
    groups: Vec<Share>,
    group: Vec<usize>,
}

/// What a candidate says of the runs.
#[derive(Debug, Clone, Copy)]
struct Fit {
    /// The logarithm of how probable they are if it is the culprit.
    log: f64,
    /// The chance that the next run shows the failure at a state that has it.
    shows: f64,
}

impl Posterior {
    /// Nothing if no candidate explains what was seen.
    pub(super) fn new(evidence: &Evidence, belief: Belief, false_alarm: f64) -> Option<Self> {
        let (fits, group) = fits(evidence, belief, false_alarm);
        let highest = fits.iter().map(|fit| fit.log).fold(f64::NEG_INFINITY, f64::max);
        if highest == f64::NEG_INFINITY {
            return None;
        }
        let weights: Vec<f64> = fits.iter().map(|fit| (fit.log - highest).exp()).collect();
        let total: f64 = group.iter().map(|&at| weights[at]).sum();
        let share = |(fit, weight): (&Fit, f64)| {
            let mass = weight / total;
            Share { mass, shows: mass * fit.shows, doubt: mass * entropy(fit.shows) }
        };
        Some(Self { groups: fits.iter().zip(weights).map(share).collect(), group })
    }

    /// What `candidate` adds to the sums of the states that contain it.
    pub(super) fn share(&self, candidate: usize) -> Share {
        self.groups[self.group[candidate]]
    }

    pub(super) fn probabilities(&self) -> Vec<f64> {
        self.group.iter().map(|&at| self.groups[at].mass).collect()
    }

    /// The sums over all candidates.
    pub(super) fn whole(&self) -> Share {
        let mut whole = Share::default();
        self.group.iter().for_each(|&at| whole.add(self.groups[at], 1.0));
        whole
    }
}

/// The fits, each once for neighbours with the same evidence, and which of them is that of each candidate.
fn fits(evidence: &Evidence, belief: Belief, false_alarm: f64) -> (Vec<Fit>, Vec<usize>) {
    let mut fits = Vec::new();
    let mut last = None;
    let group = (0..evidence.count()).map(|candidate| {
        let runs = evidence.of(candidate);
        if last != Some(runs) {
            last = Some(runs);
            fits.push(fit(runs, belief.always(), false_alarm));
        }
        fits.len() - 1
    });
    let group = group.collect();
    (fits, group)
}

/// The rate at which the failure shows is 1 with the probability `always`, and else anything between 0 and 1.
fn fit(Split { bad, good }: Split, always: f64, false_alarm: f64) -> Fit {
    let each_time = if bad.passes == 0 { always.ln() } else { f64::NEG_INFINITY };
    let now_and_then = (1.0 - always).ln() + ln_beta(bad);
    let log = ln_add(each_time, now_and_then);
    let each_time = (each_time - log).exp();
    let (failures, passes) = (bad.failures as f64, bad.passes as f64);
    let rate = (failures + 0.5) / (failures + passes + 1.0);
    let alarms = times(good.failures, false_alarm.ln()) + times(good.passes, (1.0 - false_alarm).ln());
    Fit { log: log + alarms, shows: each_time + (1.0 - each_time) * rate }
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

/// What never happened has no weight, however impossible it is.
fn times(count: u64, log: f64) -> f64 {
    if count == 0 { 0.0 } else { count as f64 * log }
}

/// The logarithm of the sum of two numbers that are given by theirs.
fn ln_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if high == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// The logarithm of the chance of these runs, in their order, under a rate of which nothing is known.
///
/// Its prior is Beta(1/2, 1/2): H. Jeffreys, "An invariant form for the prior probability in estimation problems",
/// Proceedings of the Royal Society A 186 (1946), 453-461. A uniform one takes rare failures for improbable, trusts runs
/// that did not show them too much, and was seen to find the wrong culprit more often than it said.
fn ln_beta(runs: Runs) -> f64 {
    let (failures, passes) = (runs.failures as f64, runs.passes as f64);
    ln_gamma(failures + 0.5) + ln_gamma(passes + 0.5)
        - ln_gamma(failures + passes + 1.0)
        - std::f64::consts::PI.ln()
}

/// The logarithm of the gamma function of `x` above 0, by Stirling's series where its error is below 1e-12.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 16.0 {
        product *= x;
        x += 1.0;
    }
    let square = x * x;
    let rest = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * square)) / square) / x;
    (x - 0.5) * x.ln() - x + std::f64::consts::TAU.ln() / 2.0 + rest - f64::ln(product)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-11 * b.abs().max(1.0)
    }

    #[test]
    fn the_gamma_function_continues_the_factorial() {
        let (mut whole, mut half) = (0.0, std::f64::consts::PI.sqrt().ln());
        for n in 1..2000 {
            let n = f64::from(n);
            assert!(near(ln_gamma(n), whole), "{n}");
            assert!(near(ln_gamma(n - 0.5), half), "{n}");
            whole += n.ln();
            half += (n - 0.5).ln();
        }
    }

    #[test]
    fn a_run_that_did_not_show_it_ends_the_belief_in_always() {
        let seen =
            |failures, passes| fit(Split { bad: Runs { failures, passes }, good: Runs::default() }, 0.5, 0.0);
        // B(2.5, 0.5) / B(0.5, 0.5) = 3/8, B(2.5, 1.5) / B(0.5, 0.5) = 1/16; predicted are 2.5/3 and 2.5/4.
        let always = 0.5 / (0.5 + 0.5 * 3.0 / 8.0);
        assert!(near(seen(2, 0).log.exp(), 0.5 + 0.5 * 3.0 / 8.0));
        assert!(near(seen(2, 0).shows, always + (1.0 - always) * 2.5 / 3.0));
        assert!(near(seen(2, 1).log.exp(), 0.5 / 16.0));
        assert!(near(seen(2, 1).shows, 2.5 / 4.0));
    }

    #[test]
    fn what_should_not_show_it_counts_as_false_alarms() {
        let seen = |failures, passes, false_alarm| {
            fit(Split { bad: Runs::default(), good: Runs { failures, passes } }, 0.5, false_alarm)
        };
        assert!(near(seen(2, 3, 0.1).log, (0.1_f64.powi(2) * 0.9_f64.powi(3)).ln()));
        assert!(seen(1, 0, 0.0).log == f64::NEG_INFINITY && near(seen(0, 9, 0.0).log, 0.0));
    }

    proptest! {
        #[test]
        fn the_bound_of_the_entropy_is_one(chance in 0.0..=1.0) {
            let (entropy, bound) = (entropy(chance), at_most_entropy(chance));
            prop_assert!((0.0..=1.0).contains(&entropy) && entropy <= bound + 1e-12, "{entropy} {bound}");
        }

        #[test]
        fn no_number_of_runs_leaves_the_numbers(failures: u64, passes: u64, alarms: u64, quiet: u64, always in 0.0..1.0) {
            let runs = Split { bad: Runs { failures, passes }, good: Runs { failures: alarms, passes: quiet } };
            let Fit { log, shows } = fit(runs, always, 0.05);
            prop_assert!(log.is_finite() && (0.0..=1.0).contains(&shows), "{log} {shows}");
        }
    }
}
