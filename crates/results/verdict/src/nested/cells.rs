//! Pairs of a rate and a correlation, with their prior probabilities.

use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;
use std::sync::LazyLock;

use super::{Alarms, BootRuns};
use crate::statistics::ln_gamma;

/// The logarithm of a chance that is none. It is finite, so that what was added can be taken away again.
pub(crate) const IMPOSSIBLE: f64 = -1e4;

/// Rates of the failure: the quantiles of Jeffreys' prior Beta(1/2, 1/2), each as probable as any other.
///
/// H. Jeffreys, "An invariant form for the prior probability in estimation problems", Proceedings of the Royal Society A
/// 186 (1946), 453-461. A uniform prior takes rare failures for improbable and trusts runs that did not show them too much.
const RATES: usize = 48;

/// The same where a rate is reported and not only weighed.
const FINE_RATES: usize = 512;

/// Correlations of two runs of one boot, and how probable each is before any run: mostly a failure is decided in the
/// clone or at boot.
pub(super) const CORRELATIONS: [(f64, f64); 5] =
    [(0.0, 0.35), (0.15, 0.1), (0.4, 0.1), (0.75, 0.1), (1.0, 0.35)];

/// Rates of rare false alarms with their prior weights: the rarer, the more probable.
const RARE: [(f64, f64); 6] =
    [(0.0005, 0.3), (0.002, 0.3), (0.005, 0.2), (0.01, 0.1), (0.02, 0.07), (0.04, 0.03)];

/// The same of a noisy metric, of which up to four samples of ten may lie on the wrong side.
const NOISE: [(f64, f64); 6] =
    [(0.01, 0.25), (0.03, 0.2), (0.08, 0.2), (0.15, 0.15), (0.25, 0.1), (0.4, 0.1)];

/// Correlations of false alarms in one boot.
const ALARM_CORRELATIONS: [(f64, f64); 3] = [(0.0, 0.5), (0.5, 0.2), (1.0, 0.3)];

/// A rate with a correlation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cell {
    /// The chance that a run of a new boot shows it.
    pub(crate) rate: f64,
    /// Runs that weigh as much as those that were seen: infinite without correlation, 0 with full correlation.
    precision: f64,
    /// The correlation of two runs of one boot.
    pub(crate) correlation: f64,
    /// Its prior probability among all cells but the first.
    pub(crate) weight: f64,
}

impl Cell {
    fn new(rate: f64, correlation: f64, weight: f64) -> Self {
        Self { rate, precision: 1.0 / correlation - 1.0, correlation, weight }
    }

    /// The chance that the next run of a boot shows it that had these runs.
    pub(crate) fn shows(&self, boot: BootRuns) -> f64 {
        let (failures, total) = (f64::from(boot.failures), boot.total() as f64);
        if total == 0.0 || self.precision == f64::INFINITY {
            return self.rate;
        }
        (self.rate * self.precision + failures) / (self.precision + total)
    }

    /// The logarithm of the chance of more runs, in their order, in a boot that had some `before`.
    pub(crate) fn ln_chance(&self, before: BootRuns, more: BootRuns) -> f64 {
        match (more.failures, more.passes) {
            (0, 0) => 0.0,
            (1, 0) => ln(self.shows(before)),
            (0, 1) => ln(1.0 - self.shows(before)),
            _ if self.rate == 1.0 || self.precision == f64::INFINITY => {
                times(more.failures, ln(self.rate)) + times(more.passes, ln(1.0 - self.rate))
            }
            _ if self.precision == 0.0 => self.ln_all_or_none(before, more),
            _ => {
                let (bad, good) = (self.rate * self.precision, (1.0 - self.rate) * self.precision);
                let failures = ln_rising(bad + f64::from(before.failures), more.failures);
                let passes = ln_rising(good + f64::from(before.passes), more.passes);
                let all = ln_rising(self.precision + before.total() as f64, more.failures)
                    + ln_rising(
                        self.precision + before.total() as f64 + f64::from(more.failures),
                        more.passes,
                    );
                failures + passes - all
            }
        }
    }

    /// All runs of a boot come to the same.
    fn ln_all_or_none(&self, before: BootRuns, more: BootRuns) -> f64 {
        let [failures, passes] = [before.failures.max(more.failures) > 0, before.passes.max(more.passes) > 0];
        match (failures, passes) {
            (true, true) => IMPOSSIBLE,
            _ if before.total() > 0 => 0.0,
            (true, false) => ln(self.rate),
            (false, _) => ln(1.0 - self.rate),
        }
    }
}

/// How a failure may show, with so many rates: the first cell is that it always does. The others are ordered by their
/// correlation, then by their rate.
fn with_rates(rates: usize) -> Vec<Cell> {
    let with = |(correlation, weight): (f64, f64)| {
        (0..rates).map(move |at| Cell::new(rate(at as f64 + 0.5, rates), correlation, weight / rates as f64))
    };
    let always = Cell::new(1.0, 0.0, 0.0);
    std::iter::once(always).chain(CORRELATIONS.into_iter().flat_map(with)).collect()
}

/// The rate below which Jeffreys' prior has `below` of `rates` parts of its probability.
pub(super) fn rate(below: f64, rates: usize) -> f64 {
    (FRAC_PI_2 * below / rates as f64).sin().powi(2)
}

static FAILURES: LazyLock<Vec<Cell>> = LazyLock::new(|| with_rates(RATES));
static FINE_FAILURES: LazyLock<Vec<Cell>> = LazyLock::new(|| with_rates(FINE_RATES));

/// How false alarms may show: the first cell is that they never do.
fn with_alarms(rates: &[(f64, f64)]) -> Vec<Cell> {
    let never = Cell::new(0.0, 0.0, 0.0);
    let with = |&(rate, weight): &(f64, f64)| {
        ALARM_CORRELATIONS.map(|(correlation, part)| Cell::new(rate, correlation, weight * part))
    };
    std::iter::once(never).chain(rates.iter().flat_map(with)).collect()
}

static NO_ALARMS: LazyLock<Vec<Cell>> = LazyLock::new(|| with_alarms(&[]));
static RARE_ALARMS: LazyLock<Vec<Cell>> = LazyLock::new(|| with_alarms(&RARE));
static NOISE_ALARMS: LazyLock<Vec<Cell>> = LazyLock::new(|| with_alarms(&NOISE));

/// The cells of a failure, finer: for what is reported.
pub(super) fn fine_failures() -> &'static [Cell] {
    &FINE_FAILURES
}

/// The cells of a failure.
pub(crate) fn failures() -> &'static [Cell] {
    &FAILURES
}

/// The cells of false alarms of a kind.
pub(crate) fn alarms(kind: Alarms) -> &'static [Cell] {
    match kind {
        Alarms::None => &NO_ALARMS,
        Alarms::Rare => &RARE_ALARMS,
        Alarms::Noise => &NOISE_ALARMS,
    }
}

/// The logarithm of the chance of boots for each cell. Those that came to the same count together.
pub(super) fn ln_chances(cells: &[Cell], boots: &[BootRuns]) -> Vec<f64> {
    let mut alike: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for boot in boots {
        *alike.entry((boot.failures, boot.passes)).or_default() += 1.0;
    }
    let of_kind = |cell: &Cell, (&(failures, passes), count): (&(u32, u32), &f64)| {
        count * cell.ln_chance(BootRuns::default(), BootRuns { failures, passes })
    };
    cells.iter().map(|cell| alike.iter().map(|kind| of_kind(cell, kind)).sum()).collect()
}

/// The logarithms of the prior probabilities of cells, of which the first has `first`.
pub(crate) fn ln_prior(cells: &[Cell], first: f64) -> Vec<f64> {
    let others = |cell: &Cell| ln((1.0 - first) * cell.weight);
    // Where it is the only one there is no doubt.
    let first = if cells.len() == 1 { 1.0 } else { first };
    std::iter::once(ln(first)).chain(cells.iter().skip(1).map(others)).collect()
}

/// The logarithm of the sum of numbers that are given by theirs.
pub(crate) fn ln_sum(logarithms: impl Iterator<Item = f64> + Clone) -> f64 {
    let highest = logarithms.clone().fold(f64::NEG_INFINITY, f64::max);
    if highest == f64::NEG_INFINITY {
        return highest;
    }
    highest + logarithms.map(|logarithm| exp(logarithm - highest)).sum::<f64>().ln()
}

/// The exponential; 0 of what adds nothing to 1. Most of a thousand cells are that improbable.
pub(crate) fn exp(logarithm: f64) -> f64 {
    if logarithm < -45.0 { 0.0 } else { logarithm.exp() }
}

fn ln(chance: f64) -> f64 {
    if chance > 0.0 { chance.ln() } else { IMPOSSIBLE }
}

/// What never happened has no weight, however impossible it is.
fn times(count: u32, log: f64) -> f64 {
    if count == 0 { 0.0 } else { f64::from(count) * log }
}

/// The logarithm of `x (x + 1) (x + 2) ...`, `count` factors.
fn ln_rising(x: f64, count: u32) -> f64 {
    ln_gamma(x + f64::from(count)) - ln_gamma(x)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn runs(failures: u32, passes: u32) -> BootRuns {
        BootRuns { failures, passes }
    }

    #[test]
    fn priors_sum_to_one() {
        for cells in [failures(), fine_failures(), alarms(Alarms::Rare), alarms(Alarms::Noise)] {
            assert!((cells.iter().map(|cell| cell.weight).sum::<f64>() - 1.0).abs() < 1e-12);
            assert!((ln_sum(ln_prior(cells, 0.3).into_iter())).abs() < 1e-12);
        }
        assert_eq!(ln_prior(alarms(Alarms::None), 0.5), [0.0]);
    }

    #[test]
    fn a_boot_without_correlation_is_binomial_and_one_with_full_correlation_all_or_none() {
        let [none, half, full] = [0.0, 0.5, 1.0].map(|correlation| Cell::new(0.25, correlation, 1.0));
        let of = |cell: Cell, more| cell.ln_chance(runs(0, 0), more).exp();
        assert!((of(none, runs(1, 2)) - 0.25 * 0.75 * 0.75).abs() < 1e-12);
        // Beta(0.25, 0.75): 0.25/1 * 0.75/2 * 1.75/3.
        assert!((of(half, runs(1, 2)) - 0.25 * 0.75 / 2.0 * 1.75 / 3.0).abs() < 1e-12);
        assert!((of(full, runs(0, 9)) - 0.75).abs() < 1e-12 && (of(full, runs(7, 0)) - 0.25).abs() < 1e-12);
        assert_eq!(full.ln_chance(runs(0, 0), runs(1, 2)), IMPOSSIBLE);
        assert_eq!(full.shows(runs(2, 0)).to_bits(), 1.0_f64.to_bits());
        assert_eq!(half.shows(runs(2, 1)).to_bits(), 0.5625_f64.to_bits());
    }

    proptest! {
        #[test]
        fn runs_together_are_as_probable_as_one_by_one(
            rate in 0.01..0.99, correlation in prop_oneof![Just(0.0), Just(1.0), 0.01..0.99],
            before in (0..9_u32, 0..9_u32), more in (0..9_u32, 0..9_u32)
        ) {
            let cell = Cell::new(rate, correlation, 1.0);
            // Under full correlation no boot has both.
            let mut boot = if correlation == 1.0 { runs(before.0, 0) } else { runs(before.0, before.1) };
            let together = cell.ln_chance(boot, runs(more.0, more.1));
            let mut apart = 0.0;
            for fails in (0..more.0).map(|_| true).chain((0..more.1).map(|_| false)) {
                apart += cell.ln_chance(boot, BootRuns::one(fails));
                boot.add(BootRuns::one(fails));
            }
            // Full correlation makes some impossible, once or more than once.
            prop_assert!((together - apart).abs() < 1e-9 || together <= IMPOSSIBLE / 2.0 && apart <= IMPOSSIBLE / 2.0);
        }

        #[test]
        fn no_number_of_runs_leaves_the_numbers(failures: u32, passes: u32) {
            for cell in super::failures().iter().chain(alarms(Alarms::Noise)) {
                let boot = runs(failures, passes);
                prop_assert!(cell.ln_chance(BootRuns::default(), boot).is_finite());
                prop_assert!((0.0..=1.0).contains(&cell.shows(boot)));
            }
        }
    }
}
