//! SHA-256: FIPS 180-4.

const ROUNDS: [u32; 64] = constants(3);
const START: [u32; 64] = constants(2);

/// The first 32 bits of the fractional parts of roots of the first 64 primes: the second or the third roots.
const fn constants(root: u32) -> [u32; 64] {
    let mut all = [0; 64];
    let (mut count, mut number) = (0, 2_u128);
    while count < 64 {
        if is_prime(number) {
            all[count] = root_of(number << (32 * root), root) as u32;
            count += 1;
        }
        number += 1;
    }
    all
}

const fn is_prime(number: u128) -> bool {
    let mut divisor = 2;
    while divisor * divisor <= number {
        if number.is_multiple_of(divisor) {
            return false;
        }
        divisor += 1;
    }
    true
}

/// The whole part of a root, by bisection.
const fn root_of(number: u128, root: u32) -> u128 {
    let (mut low, mut high) = (0, 1 << 38);
    while high - low > 1 {
        let middle: u128 = (low + high) / 2;
        if middle.pow(root) <= number {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The digest of `bytes`.
pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut state: [u32; 8] = std::array::from_fn(|at| START[at]);
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize((bytes.len() + 9).next_multiple_of(64) - 8, 0);
    padded.extend((bytes.len() as u64 * 8).to_be_bytes());
    padded.as_chunks::<64>().0.iter().for_each(|block| compress(&mut state, block));
    let mut digest = [0; 32];
    digest.chunks_mut(4).zip(state).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_be_bytes()));
    digest
}

fn compress(state: &mut [u32; 8], block: &[u8; 64]) {
    let mut schedule = [0_u32; 64];
    schedule
        .iter_mut()
        .zip(block.as_chunks::<4>().0)
        .for_each(|(word, bytes)| *word = u32::from_be_bytes(*bytes));
    for at in 16..64 {
        let (a, b) = (schedule[at - 15], schedule[at - 2]);
        let s0 = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
        let s1 = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
        let sum = schedule[at - 16].wrapping_add(s0).wrapping_add(schedule[at - 7]);
        schedule[at] = sum.wrapping_add(s1);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for at in 0..64 {
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let chosen = (e & f) ^ (!e & g);
        let first =
            h.wrapping_add(s1).wrapping_add(chosen).wrapping_add(ROUNDS[at]).wrapping_add(schedule[at]);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let second = s0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(second));
    }
    state.iter_mut().zip([a, b, c, d, e, f, g, h]).for_each(|(sum, word)| *sum = sum.wrapping_add(word));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        sha256(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_examples_of_the_standard() {
        assert_eq!(hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(
            hex(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
    }
}
