//! How times are spread.

use std::collections::BTreeMap;

use protocol::latency::class;

/// Times, counted in the classes of a histogram: a quantile has three significant digits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spread {
    /// By their classes.
    counts: BTreeMap<usize, u64>,
    /// How many there are.
    pub count: u64,
    /// All together, in nanoseconds.
    pub total: u64,
    /// The longest, in nanoseconds.
    pub max: u64,
}

impl Spread {
    /// Adds a time in nanoseconds.
    pub fn add(&mut self, time: u64) {
        self.count += 1;
        self.total = self.total.saturating_add(time);
        self.max = self.max.max(time);
        *self.counts.entry(class::of(time)).or_default() += 1;
    }

    /// The smallest time that a fraction of all, from 0 to 1, does not exceed, to three significant digits.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank has three digits, too"
    )]
    pub fn quantile(&self, fraction: f64) -> u64 {
        let rank = (self.count as f64 * fraction).ceil().max(1.0) as u64;
        let mut below = 0;
        let found = self.counts.iter().find(|(_, count)| {
            below += **count;
            below >= rank
        });
        found.map_or(self.max, |(class, _)| class::highest(*class).min(self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn short_times_are_exact() {
        let mut spread = Spread::default();
        (1..=10).for_each(|time| spread.add(time));
        assert_eq!((spread.count, spread.total, spread.max), (10, 55, 10));
        assert_eq!([0.0, 0.5, 0.9, 1.0].map(|fraction| spread.quantile(fraction)), [1, 5, 9, 10]);
        assert_eq!(Spread::default().quantile(0.5), 0);
    }

    proptest! {
        #[test]
        fn a_quantile_is_right_within_a_thousandth(times in prop::collection::vec(any::<u64>(), 1..100), fraction in 0.0..1.0_f64) {
            let mut spread = Spread::default();
            times.iter().for_each(|time| spread.add(*time));
            let mut sorted = times.clone();
            sorted.sort_unstable();
            #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small rank")]
            let rank = (sorted.len() as f64 * fraction).ceil().max(1.0) as usize;
            let (exact, found) = (sorted[rank - 1], spread.quantile(fraction));
            prop_assert!(found >= exact && found - exact <= exact / 1000, "{found} {exact}");
        }
    }
}
