//! How often something fails, with its interval.

/// The 97.5 % quantile of the normal distribution: 95 % lie between it and its negative.
const Z: f64 = 1.959_963_984_540_054;

/// Failures among independent tries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rate {
    /// Tries that failed.
    pub failures: u32,
    /// Tries that did not.
    pub passes: u32,
}

/// Where the true rate lies with a confidence of 95 %; fractions of 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Rate {
    /// All tries.
    #[must_use]
    pub fn total(self) -> u64 {
        u64::from(self.failures) + u64::from(self.passes)
    }

    /// The share that failed, as a fraction of 1; nothing of no tries.
    #[must_use]
    pub fn estimate(self) -> Option<f64> {
        (self.total() > 0).then(|| f64::from(self.failures) / self.tries())
    }

    /// The score interval: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    /// Journal of the American Statistical Association 22 (1927), 209-212.
    ///
    /// It never leaves 0 to 1 and holds for few tries and for rates near the ends, where the textbook's `p ± z·s`
    /// collapses: after 20 passes of 20 the rate may still be 16 %, not 0. Without any try it is 0 to 1.
    #[must_use]
    pub fn interval(self) -> Interval {
        let (failures, passes, tries) = (f64::from(self.failures), f64::from(self.passes), self.tries());
        let scale = tries + Z * Z;
        let centre = (failures + Z * Z / 2.0) / scale;
        let spread = if self.total() == 0 { 0.0 } else { failures * passes / tries };
        let reach = Z / scale * (spread + Z * Z / 4.0).sqrt();
        // Rounding must not move what is exact.
        Interval {
            low: if self.failures == 0 { 0.0 } else { centre - reach },
            high: if self.passes == 0 { 1.0 } else { centre + reach },
        }
    }

    fn tries(self) -> f64 {
        f64::from(self.failures) + f64::from(self.passes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rate(failures: u32, total: u32) -> Rate {
        Rate { failures, passes: total - failures }
    }

    fn is_near(interval: Interval, low: f64, high: f64, error: f64) -> bool {
        (interval.low - low).abs() < error && (interval.high - high).abs() < error
    }

    #[test]
    fn intervals_are_those_that_newcombe_published() {
        // R. G. Newcombe, "Two-sided confidence intervals for the single proportion: comparison of seven methods",
        // Statistics in Medicine 17 (1998), 857-872, table I, method 3; four decimals.
        for (failures, total, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let interval = rate(failures, total).interval();
            assert!(is_near(interval, low, high, 0.000_05), "{failures} of {total}: {interval:?}");
        }
    }

    #[test]
    fn intervals_are_those_of_the_formula() {
        // Computed by the form with p = k/n: (p + z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n).
        for (failures, total, low, high) in [
            (3, 20, 0.052_368_745_896_216_6, 0.360_418_864_740_757),
            (1, 17, 0.010_460_400_984_997_6, 0.269_820_306_375_754),
            (4, 4, 0.510_109_163_545_403, 1.0),
            (0, 500, 0.0, 0.007_624_340_461_552_2),
            (1, 1, 0.206_549_314_377_237, 1.0),
        ] {
            let interval = rate(failures, total).interval();
            assert!(is_near(interval, low, high, 1e-12), "{failures} of {total}: {interval:?}");
        }
    }

    #[test]
    fn nothing_is_known_without_a_try() {
        assert_eq!(Rate::default().estimate(), None);
        assert!(is_near(Rate::default().interval(), 0.0, 1.0, 1e-12));
    }

    fn some() -> impl Strategy<Value = Rate> {
        let count = || prop_oneof![0..40_u32, any::<u32>()];
        (count(), count()).prop_map(|(failures, passes)| Rate { failures, passes })
    }

    proptest! {
        #[test]
        fn an_interval_contains_the_estimate_and_stays_between_0_and_1(rate in some()) {
            let Interval { low, high } = rate.interval();
            prop_assert!(0.0 <= low && low < high && high <= 1.0, "{low} {high}");
            prop_assert!(rate.estimate().is_none_or(|estimate| (low..=high).contains(&estimate)));
        }

        #[test]
        fn both_ends_are_exact_where_they_can_be(count in 1..u32::MAX) {
            prop_assert_eq!(Rate { failures: 0, passes: count }.interval().low.to_bits(), 0.0_f64.to_bits());
            prop_assert_eq!(Rate { failures: count, passes: 0 }.interval().high.to_bits(), 1.0_f64.to_bits());
        }

        #[test]
        fn more_of_the_same_narrows(failures in 0..1000_u32, passes in 0..1000_u32, more in 2..1000_u32) {
            let width = |rate: Rate| rate.interval().high - rate.interval().low;
            let few = Rate { failures, passes };
            let many = Rate { failures: failures * more, passes: passes * more };
            prop_assert!(few.total() == 0 || width(many) < width(few));
        }

        #[test]
        fn to_count_passes_instead_of_failures_mirrors(rate in some()) {
            let mirrored = Rate { failures: rate.passes, passes: rate.failures }.interval();
            prop_assert!(is_near(rate.interval(), 1.0 - mirrored.high, 1.0 - mirrored.low, 1e-12));
        }

        #[test]
        fn one_more_failure_raises_both_ends(failures in 0..1000_u32, passes in 1..1000_u32) {
            let (before, after) = (Rate { failures, passes }.interval(),
                                   Rate { failures: failures + 1, passes: passes - 1 }.interval());
            prop_assert!(before.low < after.low && before.high < after.high);
        }
    }
}
