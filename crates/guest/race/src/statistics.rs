//! Medians and robust deviations.

/// Where samples lie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spread {
    /// Their median.
    pub(crate) median: i64,
    /// The median of their absolute deviations from it.
    pub(crate) deviation: i64,
}

impl Spread {
    /// The spread of `samples`, whose order and values are lost.
    pub(crate) fn of(samples: &mut [i64]) -> Self {
        let middle = median(samples);
        for sample in samples.iter_mut() {
            *sample = sample.saturating_sub(middle).saturating_abs();
        }
        Self { median: middle, deviation: median(samples) }
    }

    /// The largest sample that is to be expected: two standard deviations above the median, if they were normally
    /// distributed.
    pub(crate) fn high(self) -> i64 {
        self.median.saturating_add(self.deviation.saturating_mul(3))
    }
}

/// The middle one, or the mean of the middle two; 0 if there are none.
pub(crate) fn median(samples: &mut [i64]) -> i64 {
    samples.sort_unstable();
    let half = samples.len() / 2;
    match samples {
        [] => 0,
        samples if samples.len() % 2 == 1 => samples[half],
        samples => i64::midpoint(samples[half - 1], samples[half]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harness::random::Random;

    #[test]
    fn medians_of_odd_and_even_numbers() {
        assert_eq!(median(&mut []), 0);
        assert_eq!(median(&mut [7]), 7);
        assert_eq!(median(&mut [9, 1]), 5);
        assert_eq!(median(&mut [9, 1, 2]), 2);
        assert_eq!(median(&mut [i64::MAX, i64::MAX]), i64::MAX);
    }

    #[test]
    fn the_deviation_is_a_median_too() {
        let spread = Spread::of(&mut [1, 1, 2, 2, 4, 6, 9]);
        assert_eq!(spread, Spread { median: 2, deviation: 1 });
        assert_eq!(Spread::of(&mut [i64::MIN, 0, i64::MAX]).median, 0);
    }

    #[test]
    fn outliers_move_neither() {
        let mut random = Random::new(11);
        for _ in 0..200 {
            let mut samples: Vec<_> = (0..31).map(|_| 1000 + (random.next_u64() % 21) as i64).collect();
            samples.iter_mut().take(10).for_each(|sample| *sample = (random.next_u64() >> 20) as i64);
            let spread = Spread::of(&mut samples);
            assert!((1000..=1020).contains(&spread.median), "{spread:?}");
            assert!(spread.deviation <= 20, "{spread:?}");
        }
    }

    #[test]
    fn it_does_not_depend_on_the_order() {
        let mut random = Random::new(12);
        for length in 1..40 {
            let mut samples: Vec<_> = (0..length).map(|_| random.next_u64() as i64 >> 8).collect();
            let mut turned = samples.clone();
            turned.rotate_left(length / 2);
            let below = samples.iter().filter(|&&sample| sample < median(&mut turned.clone())).count();
            assert!(below <= length / 2);
            assert_eq!(Spread::of(&mut samples), Spread::of(&mut turned));
        }
    }
}
