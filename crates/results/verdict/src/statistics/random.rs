//! Random numbers that a seed gives again, in every version of kiln.

/// SplitMix64: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
///
/// A crate may change its generator with its version; a seed that was recorded must not lose its meaning.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The sequence of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to below 1, each of 2^53 as probable as any other.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number below `limit`, 0 if that is 0; the error of the multiplication is below `limit` / 2^64.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.bits()) * limit as u128) >> 64) as usize
    }

    /// Puts `items` into random order: R. Durstenfeld, "Algorithm 235: random permutation", CACM 7 (1964).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_sequence_is_that_of_the_paper() {
        // The first numbers of the reference implementation, https://prng.di.unimi.it/splitmix64.c.
        let mut random = Random::new(1_234_567);
        let first = [(); 5].map(|()| random.bits());
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(first, expected);
    }

    #[test]
    fn every_order_is_as_frequent_as_any_other() {
        let mut random = Random::new(7);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            *seen.entry(items).or_insert(0_u32) += 1;
        }
        assert_eq!(seen.len(), 6);
        // Five standard deviations of a binomial distribution.
        assert!(seen.values().all(|&count| count.abs_diff(1000) < 145), "{seen:?}");
    }

    proptest! {
        #[test]
        fn numbers_stay_below_their_limit(seed: u64, limit: usize) {
            let number = Random::new(seed).below(limit);
            prop_assert!(number < limit || (number == 0 && limit == 0));
        }
    }
}
