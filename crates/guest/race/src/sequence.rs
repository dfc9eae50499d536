//! Numbers that are evenly spread: fractions in units of 2⁻⁶⁴.

/// 2⁶⁴ divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The low-discrepancy sequence of multiples of the golden ratio: each number falls into one of the widest gaps that
/// those before it have left.
#[derive(Debug, Clone)]
pub(crate) struct LowDiscrepancy(u64);

impl LowDiscrepancy {
    pub(crate) fn new(first: u64) -> Self {
        Self(first)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        self.0
    }
}

/// The number that lies at `fraction` between `from` and `to`, which is not smaller.
pub(crate) fn between(from: i64, to: i64, fraction: u64) -> i64 {
    let width = u128::from(to.abs_diff(from));
    // Less than the width, so it fits.
    from.saturating_add_unsigned(((width * u128::from(fraction)) >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use harness::random::Random;

    /// Number of values in each of `parts` equal parts.
    fn histogram<const PARTS: usize>(values: impl Iterator<Item = u64>) -> [u32; PARTS] {
        let mut counts = [0; PARTS];
        values.for_each(|value| counts[between(0, PARTS as i64, value) as usize] += 1);
        counts
    }

    #[test]
    fn a_low_discrepancy_sequence_covers_the_range_evenly() {
        for seed in 0..50 {
            let mut sequence = LowDiscrepancy::new(Random::new(seed).next_u64());
            let counts = histogram::<100>((0..1000).map(|_| sequence.next()));
            assert!(counts.iter().all(|count| (8..=12).contains(count)), "seed {seed}: {counts:?}");
        }
    }

    #[test]
    fn its_widest_gap_is_close_to_the_narrowest() {
        let mut sequence = LowDiscrepancy::new(Random::new(3).next_u64());
        for count in [10, 100, 1000, 10_000] {
            let mut values: Vec<_> = (0..count).map(|_| sequence.next()).collect();
            values.sort_unstable();
            let widest = values.windows(2).map(|pair| pair[1] - pair[0]).max().expect("there are several");
            assert!(widest < u64::MAX / count * 3, "{count}");
        }
    }

    #[test]
    fn random_numbers_are_roughly_uniform_and_repeat_with_their_seed() {
        for seed in [0, 1, u64::MAX] {
            let numbers = || {
                let mut random = Random::new(seed);
                (0..10_000).map(move |_| random.next_u64())
            };
            assert!(numbers().eq(numbers()));
            let counts = histogram::<10>(numbers());
            assert!(counts.iter().all(|count| (850..1150).contains(count)), "seed {seed}: {counts:?}");
        }
        assert_ne!(Random::new(0).next_u64(), Random::new(1).next_u64());
    }

    #[test]
    fn fractions_stay_within_their_bounds() {
        let mut random = Random::new(7);
        let bounds = [(0, 0), (0, 1), (-5, 9), (i64::MIN, i64::MAX), (i64::MAX - 1, i64::MAX)];
        for (from, to) in bounds {
            for fraction in [0, 1, u64::MAX].into_iter().chain((0..1000).map(|_| random.next_u64())) {
                let value = between(from, to, fraction);
                assert!((from..=to).contains(&value), "{value} is not in {from} to {to}");
            }
        }
        assert_eq!(between(-10, 10, 1 << 63), 0);
    }
}
