//! The extended FPU state as XSAVE writes it: chapter 13 of volume 1 of Intel's manual.

/// Where its header begins: 8 bytes with a bit for each component that is in use.
const HEADER: usize = 512;

/// What a state consists of at least: the classic part and the header.
const LEAST: usize = 576;

/// Components that lie in the first 2,696 bytes: from x87 to PKRU.
const LOWER: u64 = 0x3ff;

/// Puts `given`, the beginning of a state, in place of the beginning of `whole`. What lies beyond stays, and stays in
/// use; nothing is done if `given` is no state or is longer.
pub fn complete(whole: &mut [u8], given: &[u8]) {
    if given.len() < LEAST || given.len() > whole.len() {
        return;
    }
    let beyond = components(whole) & !LOWER;
    whole[..given.len()].copy_from_slice(given);
    let all = (components(given) & LOWER) | beyond;
    whole[HEADER..HEADER + 8].copy_from_slice(&all.to_le_bytes());
}

/// The components in use.
fn components(state: &[u8]) -> u64 {
    state[HEADER..HEADER + 8].iter().rev().fold(0, |all, byte| (all << 8) | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(length: usize, fill: u8, components: u64) -> Vec<u8> {
        let mut state = vec![fill; length];
        state[HEADER..HEADER + 8].copy_from_slice(&components.to_le_bytes());
        state
    }

    #[test]
    fn what_lies_beyond_stays_in_use() {
        let mut whole = state(11_008, 1, 0x6_00e7);
        complete(&mut whole, &state(2696, 2, 0x2e3));
        assert_eq!(components(&whole), 0x6_02e3);
        assert!(whole[..HEADER].iter().chain(&whole[HEADER + 8..2696]).all(|byte| *byte == 2));
        assert!(whole[2696..].iter().all(|byte| *byte == 1));
    }

    #[test]
    fn what_is_no_state_changes_nothing() {
        for length in [0, 575, 11_009] {
            let mut whole = state(11_008, 1, 7);
            complete(&mut whole, &vec![2; length]);
            assert_eq!(whole, state(11_008, 1, 7));
        }
    }
}
