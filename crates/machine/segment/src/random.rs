//! Random numbers that depend on nothing but a seed and their place.
//!
//! SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014; constants as in
//! Vigna's `splitmix64.c`) mixes a counter, so the n-th number can be had without those before it.

/// The increment of the counter: 2⁶⁴ divided by the golden ratio.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The `place`-th number of the sequence that belongs to `seed`.
pub(crate) fn number(seed: u64, place: u64) -> u64 {
    mix(seed.wrapping_add(place.wrapping_add(1).wrapping_mul(GAMMA)))
}

/// A seed for something that has a name, out of the seed of the whole.
pub(crate) fn seed_of(seed: u64, name: &str) -> u64 {
    // FNV-1a: names are short and no secret.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    mix(seed ^ mix(hash))
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_that_of_the_reference() {
        // From `splitmix64.c` with x = 1234567.
        let found: Vec<u64> = (0..3).map(|place| number(1_234_567, place)).collect();
        assert_eq!(found, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn names_have_seeds_of_their_own() {
        assert_ne!(seed_of(1, "from a"), seed_of(1, "to a"));
        assert_ne!(seed_of(1, "from a"), seed_of(2, "from a"));
    }
}
