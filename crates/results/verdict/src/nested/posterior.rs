//! What is known of a failure after some runs: how often it shows, and how much of it is decided at boot.

use super::BootRuns;
use super::cells::{CORRELATIONS, Cell, failures, fine_failures, ln_chances, ln_prior, ln_sum, rate};

/// Probability that an interval leaves out at each end.
const TAIL: f64 = 0.025;

/// The probability, before any run, that a failure always shows.
pub(super) const ALWAYS: f64 = 0.5;

/// What is known of a failure after some runs.
#[derive(Debug, Clone)]
pub struct Nested {
    pub(super) cells: &'static [Cell],
    /// The probability of each.
    pub(super) weights: Vec<f64>,
    seen: BootRuns,
}

/// How often a failure shows in runs of new boots; fractions of 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The lower end of the 95 % credible interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Nested {
    /// What runs say of a failure of which nothing is known.
    #[must_use]
    pub fn of(boots: &[BootRuns]) -> Self {
        Self::with(fine_failures(), boots, 0.0)
    }

    /// The same of one that may well show always: with an even chance before any run.
    #[must_use]
    pub fn perhaps_always(boots: &[BootRuns]) -> Self {
        Self::with(failures(), boots, ALWAYS)
    }

    fn with(cells: &'static [Cell], boots: &[BootRuns], always: f64) -> Self {
        let seen = ln_chances(cells, boots);
        let ln: Vec<f64> =
            ln_prior(cells, always).into_iter().zip(seen).map(|(prior, seen)| prior + seen).collect();
        let total = ln_sum(ln.iter().copied());
        let weights = ln.into_iter().map(|ln| (ln - total).exp()).collect();
        Self { cells, weights, seen: boots.iter().copied().sum() }
    }

    /// How often it shows.
    ///
    /// The interval of the posterior, equal-tailed, but for the ends at 0 without a failure and at 1 with failures only:
    /// L. D. Brown, T. T. Cai, A. DasGupta, "Interval estimation for a binomial proportion", Statistical Science 16
    /// (2001), 101-133.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        Estimate {
            mean: self.cells().map(|(cell, weight)| cell.rate * weight).sum(),
            low: if self.seen.failures == 0 { 0.0 } else { self.quantile(TAIL) },
            high: if self.seen.passes == 0 { 1.0 } else { self.quantile(1.0 - TAIL) },
        }
    }

    /// The part of it that is decided at boot: the mean correlation of two runs of one boot, as a fraction of 1.
    #[must_use]
    pub fn correlation(&self) -> f64 {
        self.cells().map(|(cell, weight)| cell.correlation * weight).sum()
    }

    pub(super) fn cells(&self) -> impl Iterator<Item = (&Cell, f64)> + Clone {
        self.cells.iter().zip(self.weights.iter().copied())
    }

    /// The rate below which the true one lies with this probability.
    fn quantile(&self, probability: f64) -> f64 {
        let mut below = 0.0;
        // All rates with the first correlation, all with the second, and so on.
        let rates = (self.cells.len() - 1) / CORRELATIONS.len();
        for at in 0..rates {
            let here: f64 = self.weights[1..].iter().skip(at).step_by(rates).sum();
            if here > 0.0 && below + here >= probability {
                return rate(at as f64 + (probability - below) / here, rates);
            }
            below += here;
        }
        1.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn boots(of: &[(u32, u32)]) -> Vec<BootRuns> {
        of.iter().map(|&(failures, passes)| BootRuns { failures, passes }).collect()
    }

    fn near(estimate: Estimate, low: f64, high: f64) -> bool {
        (estimate.low - low).abs() < 0.003 && (estimate.high - high).abs() < 0.003
    }

    #[test]
    fn boots_of_one_run_give_the_interval_of_jeffreys() {
        // Quantiles of Beta(3.5, 17.5) and Beta(0.5, 20.5).
        let of = |failures: usize, total: usize| {
            let boots: Vec<_> = (0..total).map(|at| BootRuns::one(at < failures)).collect();
            Nested::of(&boots).estimate()
        };
        assert!(near(of(3, 20), 0.0440, 0.3482), "{:?}", of(3, 20));
        assert!(near(of(0, 20), 0.0, 0.1169), "{:?}", of(0, 20));
        assert!((of(20, 20).high - 1.0).abs() < 1e-12);
    }

    #[test]
    fn runs_of_one_boot_say_little_of_the_next() {
        let of = |of: &[(u32, u32)]| Nested::of(&boots(of)).estimate();
        let [one, five, twenty] = [of(&[(0, 20)]), of(&[(0, 4); 5]), of(&[(0, 1); 20])];
        assert!(one.high > 0.7 && (0.25..0.5).contains(&five.high), "{one:?} {five:?}");
        assert!(twenty.high < 0.13, "{twenty:?}");
        assert!(of(&[(20, 0)]).low < 0.3);
    }

    #[test]
    fn how_much_is_decided_at_boot_is_learnt() {
        let of = |of: &[(u32, u32)]| Nested::of(&boots(of)).correlation();
        assert!(of(&[(9, 0), (0, 9), (9, 0), (0, 9), (0, 9)]) > 0.9);
        assert!(of(&[(3, 6), (2, 7), (4, 5), (3, 6), (2, 7), (4, 5)]) < 0.1);
        assert!((0.2..0.8).contains(&of(&[])));
    }

    proptest! {
        #[test]
        fn an_interval_contains_the_mean_or_ends_at_the_end(of in prop::collection::vec((0..9_u32, 0..9_u32), 0..6)) {
            for nested in [Nested::of(&boots(&of)), Nested::perhaps_always(&boots(&of))] {
                let Estimate { mean, low, high } = nested.estimate();
                prop_assert!(0.0 <= low && low <= mean && mean <= high && high <= 1.0, "{low} {mean} {high}");
            }
        }
    }
}
