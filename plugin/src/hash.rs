//! A hash for numbers that takes two instructions; the table of the standard library would take most of the plugin's
//! time. A guest that makes its addresses collide only makes itself slow.

use std::hash::{BuildHasherDefault, Hasher};

/// A table by numbers.
pub type Table<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<Multiply>>;

/// Pi's digits, as in many hashes; any odd number with bits all over would do.
const FACTOR: u64 = 0x243f_6a88_85a3_08d3;

/// Multiplies, which moves every bit upwards, and brings the upper ones down (Knuth, The Art of Computer Programming,
/// volume 3, 6.4).
#[derive(Debug, Clone, Copy, Default)]
pub struct Multiply(u64);

impl Hasher for Multiply {
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(26) ^ number).wrapping_mul(FACTOR);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::hash::{BuildHasher, BuildHasherDefault};

    use super::*;

    #[test]
    fn addresses_and_pairs_are_spread_over_both_ends_of_the_hash() {
        let build = BuildHasherDefault::<Multiply>::default();
        let hashes: Vec<u64> = (0..64u64)
            .map(|number| build.hash_one(0xffff_ffff_8100_0000 + number * 64))
            .chain((0..64u32).map(|number| build.hash_one((number % 8, number / 8))))
            .collect();
        // The table takes its place from the lowest bits, and seven of the highest to tell neighbours apart.
        let different =
            |part: fn(u64) -> u64| hashes.iter().map(|&hash| part(hash)).collect::<BTreeSet<_>>().len();
        assert!(different(|hash| hash & 0xfff) > 120, "{}", different(|hash| hash & 0xfff));
        assert!(different(|hash| hash >> 57) > 60, "{}", different(|hash| hash >> 57));
    }
}
