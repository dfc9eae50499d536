//! The shift between two samples, and where it lies.

use super::random::Random;
use super::ranks::differences_outside;
use measure::quantile::quantile;

/// Samples drawn for an interval: the ends of an interval of 99 % are then the tenth smallest and largest.
const RESAMPLES: usize = 2000;

/// All differences between a value of one sample and one of the other, the smallest first.
#[derive(Debug, Clone)]
pub struct Differences {
    sorted: Vec<Difference>,
    base: usize,
    new: usize,
}

#[derive(Debug, Clone, Copy)]
struct Difference {
    value: f64,
    base: usize,
    new: usize,
}

impl Differences {
    /// The differences of each of `new` less each of `base`; nothing if one of them is empty.
    #[must_use]
    pub fn of(base: &[f64], new: &[f64]) -> Option<Self> {
        let all = new.iter().enumerate().flat_map(|(n, value)| {
            base.iter().enumerate().map(move |(b, from)| Difference { value: value - from, base: b, new: n })
        });
        let mut sorted: Vec<Difference> = all.collect();
        sorted.sort_by(|a, b| a.value.total_cmp(&b.value));
        (!sorted.is_empty()).then_some(Self { sorted, base: base.len(), new: new.len() })
    }

    /// Their median: by how much the second sample is shifted against the first. J. L. Hodges and E. L. Lehmann,
    /// "Estimates of location based on rank tests", Annals of Mathematical Statistics 34 (1963), 598-611.
    ///
    /// A quarter of the values may be wrong without it being lost, and for normal ones it needs only 5 % more samples
    /// than the mean.
    #[must_use]
    pub fn shift(&self) -> f64 {
        self.weighted_median(&vec![1; self.base], &vec![1; self.new])
    }

    /// Where the true shift lies, but for a probability of `error` on each side, by the test of ranks; nothing if
    /// so few values cannot be that sure.
    ///
    /// It holds exactly for any number of values, if both samples have the same distribution but for the shift.
    #[must_use]
    pub fn rank_interval(&self, error: f64) -> Option<(f64, f64)> {
        let outside = differences_outside(self.base, self.new, error)?;
        let end = self.sorted.len().checked_sub(outside + 1)?;
        Some((self.sorted.get(outside)?.value, self.sorted.get(end)?.value))
    }

    /// The same by drawing both samples again from themselves, with `seed`: B. Efron and R. J. Tibshirani, "An
    /// Introduction to the Bootstrap" (1993), chapter 13.
    ///
    /// The samples may have distributions of different widths; but of few values it is too narrow, since they do not
    /// show how wide theirs are.
    #[must_use]
    pub fn bootstrap_interval(&self, error: f64, seed: u64) -> (f64, f64) {
        let mut random = Random::new(seed);
        let mut draw = |count: usize| {
            let mut times = vec![0_u32; count];
            (0..count).for_each(|_| times[random.below(count)] += 1);
            times
        };
        let mut shifts: Vec<f64> =
            (0..RESAMPLES).map(|_| self.weighted_median(&draw(self.base), &draw(self.new))).collect();
        shifts.sort_by(f64::total_cmp);
        let end = |share| quantile(&shifts, share).unwrap_or(f64::NAN);
        (end(error), end(1.0 - error))
    }

    /// The median of the differences if each value were there so many times.
    fn weighted_median(&self, base: &[u32], new: &[u32]) -> f64 {
        // As many as there are pairs, however often each value was drawn.
        let all = self.sorted.len() as u64;
        let (mut passed, mut lower) = (0, None);
        for difference in &self.sorted {
            passed += u64::from(base[difference.base]) * u64::from(new[difference.new]);
            if lower.is_none() && passed > (all - 1) / 2 {
                lower = Some(difference.value);
            }
            if let (Some(lower), true) = (lower, passed > all / 2) {
                return f64::midpoint(lower, difference.value);
            }
        }
        f64::NAN
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use measure::quantile::median;

    use crate::statistics::mann_whitney;

    fn sample() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(-1e3..1e3, 1..15)
    }

    #[test]
    fn no_difference_of_nothing() {
        assert!(Differences::of(&[], &[1.0]).is_none());
        assert!(Differences::of(&[1.0], &[]).is_none());
    }

    #[test]
    fn few_values_are_not_sure_of_much() {
        let four = [1.0, 2.0, 3.0, 4.0];
        let differences = Differences::of(&four, &four).unwrap();
        assert_eq!(differences.rank_interval(0.01), None);
        assert_eq!(differences.rank_interval(0.015), Some((-3.0, 3.0)));
    }

    proptest! {
        #[test]
        fn the_shift_is_the_median_of_the_differences(base in sample(), new in sample()) {
            let all: Vec<f64> = new.iter().flat_map(|n| base.iter().map(move |b| n - b)).collect();
            prop_assert!((Differences::of(&base, &new).unwrap().shift() - median(&all).unwrap()).abs() < 1e-9);
        }

        #[test]
        fn a_resample_is_the_same_as_values_that_are_there_more_than_once(base in sample(), new in sample(), seed: u64) {
            let mut random = Random::new(seed);
            let mut times = |count: usize| {
                let mut times = vec![0; count];
                (0..count).for_each(|_| times[random.below(count)] += 1);
                times
            };
            let (of_base, of_new) = (times(base.len()), times(new.len()));
            let repeat = |values: &[f64], times: &[u32]| -> Vec<f64> {
                values.iter().zip(times).flat_map(|(&value, &times)| vec![value; times as usize]).collect()
            };
            let is = Differences::of(&base, &new).unwrap().weighted_median(&of_base, &of_new);
            prop_assert_eq!(is, Differences::of(&repeat(&base, &of_base), &repeat(&new, &of_new)).unwrap().shift());
        }

        #[test]
        fn intervals_contain_the_shift_and_move_with_it(base in sample(), new in sample(), by in -1e3..1e3_f64, seed: u64) {
            let moved: Vec<f64> = new.iter().map(|value| value + by).collect();
            let (here, there) = (Differences::of(&base, &new).unwrap(), Differences::of(&base, &moved).unwrap());
            let ends = [
                (Some(here.bootstrap_interval(0.004, seed)), Some(there.bootstrap_interval(0.004, seed))),
                (here.rank_interval(0.004), there.rank_interval(0.004)),
            ];
            for (before, after) in ends.into_iter().filter_map(|(before, after)| before.zip(after)) {
                prop_assert!(before.0 <= here.shift() && here.shift() <= before.1);
                let is_moved = |before: f64, after: f64| (before + by - after).abs() < 1e-9;
                prop_assert!(is_moved(before.0, after.0) && is_moved(before.1, after.1));
            }
        }

        #[test]
        fn the_interval_of_ranks_leaves_0_out_just_when_the_test_says_so(base in sample(), new in sample()) {
            let p = mann_whitney(&base, &new);
            if let Some((low, high)) = Differences::of(&base, &new).unwrap().rank_interval(0.025) {
                prop_assert_eq!(low > 0.0 || high < 0.0, p <= 0.05 + 1e-12, "{} {} {}", low, high, p);
            } else {
                prop_assert!(p > 0.05);
            }
        }
    }
}
