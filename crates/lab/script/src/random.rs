//! Chance that is the same in each run: numbers from a seed, apart for each step and branch.

use sha2::{Digest, Sha256};

/// A row of numbers.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    key: Vec<u8>,
    count: u64,
}

impl Random {
    /// The row of a step or branch.
    pub(crate) fn new(seed: u64, step: u32, branch: &[u32]) -> Self {
        let words = std::iter::once(step).chain(branch.iter().copied());
        let key = seed.to_le_bytes().into_iter().chain(words.flat_map(u32::to_le_bytes)).collect();
        Self { key, count: 0 }
    }

    /// The next number, from 0 to less than 1.
    pub(crate) fn next(&mut self) -> f64 {
        let mut hash = Sha256::new();
        hash.update(&self.key);
        hash.update(self.count.to_le_bytes());
        self.count += 1;
        let digest = hash.finalize();
        let bits = digest.iter().take(4).fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        f64::from(bits) / (f64::from(u32::MAX) + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_place_draws_the_same_numbers() {
        let row = |seed, step, branch: &[u32]| {
            let mut random = Random::new(seed, step, branch);
            [random.next(), random.next(), random.next()]
        };
        assert_eq!(row(1, 2, &[3]), row(1, 2, &[3]));
        assert_ne!(row(1, 2, &[3]), row(1, 2, &[4]));
        assert_ne!(row(1, 2, &[]), row(2, 2, &[]));
        assert!(row(7, 0, &[]).iter().all(|number| (0.0..1.0).contains(number)));
        let mut random = Random::new(1, 0, &[]);
        let mean = (0..1000).map(|_| random.next()).sum::<f64>() / 1000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
    }
}
