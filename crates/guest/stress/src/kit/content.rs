//! Bytes that can be verified: each depends on its place and on a seed.

use harness::check::{Checked, fail, pass};

use harness::random::mix;

/// Fills `bytes`, which stand at `offset` of the whole.
pub(crate) fn fill(bytes: &mut [u8], seed: u64, offset: u64) {
    for (chunk, number) in bytes.chunks_mut(8).zip(offset / 8..) {
        chunk.copy_from_slice(&mix(seed ^ number).to_le_bytes()[..chunk.len()]);
    }
}

/// Such bytes.
pub(crate) fn of(size: usize, seed: u64, offset: u64) -> Vec<u8> {
    let mut bytes = vec![0; size];
    fill(&mut bytes, seed, offset);
    bytes
}

/// Verifies what [`fill`] wrote.
///
/// # Errors
///
/// Where the first difference is.
#[track_caller]
pub(crate) fn verify(what: &str, bytes: &[u8], seed: u64, offset: u64) -> Checked {
    for (chunk, number) in bytes.chunks(8).zip(offset / 8..) {
        let expected = mix(seed ^ number).to_le_bytes();
        if chunk != &expected[..chunk.len()] {
            let expected = &expected[..chunk.len()];
            return fail(&format!(
                "{what}: at byte {} is {chunk:02x?}, expected {expected:02x?}",
                number * 8
            ));
        }
    }
    pass();
    Ok(())
}

/// How many bytes are not 0.
pub(crate) fn nonzero(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte != 0).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_bit_is_found_with_its_place() {
        let mut bytes = of(100, 7, 64);
        assert_eq!(verify("x", &bytes, 7, 64), Ok(()));
        bytes[50] ^= 1;
        let stop = verify("x", &bytes, 7, 64).expect_err("a difference");
        assert!(stop.0.text.starts_with("x: at byte 112 is "), "{}", stop.0.text);
        assert!(verify("x", &of(100, 8, 64), 7, 64).is_err());
    }
}
