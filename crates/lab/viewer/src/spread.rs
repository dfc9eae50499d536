//! How times are spread.

/// Classes for each doubling: a quantile is right within an eighth.
const PARTS: u32 = 8;

/// Classes of all times.
const CLASSES: usize = (64 * PARTS) as usize;

/// Times, counted in classes that grow with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spread {
    counts: Vec<u64>,
    /// How many there are.
    pub count: u64,
    /// All together, in nanoseconds.
    pub total: u64,
    /// The longest, in nanoseconds.
    pub max: u64,
}

impl Default for Spread {
    fn default() -> Self {
        Self { counts: vec![0; CLASSES], count: 0, total: 0, max: 0 }
    }
}

impl Spread {
    /// Adds a time in nanoseconds.
    pub fn add(&mut self, time: u64) {
        self.count += 1;
        self.total = self.total.saturating_add(time);
        self.max = self.max.max(time);
        self.counts[class(time)] += 1;
    }

    /// The smallest time that a fraction of all, from 0 to 1, does not exceed, within an eighth.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank is within an eighth, too"
    )]
    pub fn quantile(&self, fraction: f64) -> u64 {
        let rank = (self.count as f64 * fraction).ceil().max(1.0) as u64;
        let mut below = 0;
        for (class, count) in self.counts.iter().enumerate() {
            below += count;
            if below >= rank {
                return end(class).min(self.max);
            }
        }
        self.max
    }
}

/// The class of a time: the place of its highest bit, and the three bits behind it.
fn class(time: u64) -> usize {
    let shift = (u64::BITS - (time | 1).leading_zeros()).saturating_sub(PARTS.ilog2() + 1);
    let part = usize::try_from(time >> shift).unwrap_or_default();
    (shift * PARTS) as usize + part
}

/// The longest time of a class.
fn end(class: usize) -> u64 {
    let parts = PARTS as usize;
    let shift = (class / parts).saturating_sub(1);
    let part = (class - shift * parts) as u128;
    u64::try_from(((part + 1) << shift) - 1).unwrap_or(u64::MAX)
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
        fn a_quantile_is_right_within_an_eighth(times in prop::collection::vec(any::<u64>(), 1..100), fraction in 0.0..1.0_f64) {
            let mut spread = Spread::default();
            times.iter().for_each(|time| spread.add(*time));
            let mut sorted = times.clone();
            sorted.sort_unstable();
            #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small rank")]
            let rank = (sorted.len() as f64 * fraction).ceil().max(1.0) as usize;
            let (exact, found) = (sorted[rank - 1], spread.quantile(fraction));
            prop_assert!(found >= exact && found - exact <= exact / 8, "{found} {exact}");
        }
    }
}
