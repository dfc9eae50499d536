//! Numbers and pieces out of untrusted bytes: outside the end there is nothing, never a panic.

/// `length` bytes at `offset`, if they all exist.
#[must_use]
pub fn piece(bytes: &[u8], offset: u64, length: u64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    let end = start.checked_add(usize::try_from(length).ok()?)?;
    bytes.get(start..end)
}

fn array<const N: usize>(bytes: &[u8], offset: u64) -> Option<[u8; N]> {
    piece(bytes, offset, N as u64)?.try_into().ok()
}

/// The number in two bytes at `offset`, the least first.
#[must_use]
pub fn u16_at(bytes: &[u8], offset: u64) -> Option<u16> {
    array(bytes, offset).map(u16::from_le_bytes)
}

/// The number in four bytes at `offset`, the least first.
#[must_use]
pub fn u32_at(bytes: &[u8], offset: u64) -> Option<u32> {
    array(bytes, offset).map(u32::from_le_bytes)
}

/// The number in eight bytes at `offset`, the least first.
#[must_use]
pub fn u64_at(bytes: &[u8], offset: u64) -> Option<u64> {
    array(bytes, offset).map(u64::from_le_bytes)
}

/// The bytes from `offset` to the first NUL, at most `limit` of them.
#[must_use]
pub fn until_nul(bytes: &[u8], offset: u64, limit: usize) -> Option<&[u8]> {
    let rest = bytes.get(usize::try_from(offset).ok()?..)?;
    let rest = rest.get(..limit).unwrap_or(rest);
    rest.split(|byte| *byte == 0).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_inside_and_nothing_outside() {
        let bytes = [1, 2, 3, 4, 0, 6, 7, 8, 9];
        assert_eq!(u16_at(&bytes, 0), Some(0x0201));
        assert_eq!(u32_at(&bytes, 5), Some(0x0908_0706));
        assert_eq!(u32_at(&bytes, 6), None);
        assert_eq!(u32_at(&bytes, u64::MAX), None);
        assert_eq!((u64_at(&bytes, 1), u64_at(&bytes, 2)), (Some(0x0908_0706_0004_0302), None));
        assert_eq!(until_nul(&bytes, 2, 100), Some(&[3, 4][..]));
        assert_eq!(until_nul(&bytes, 5, 2), Some(&[6, 7][..]));
        assert_eq!(until_nul(&bytes, 10, 2), None);
    }

    proptest! {
        #[test]
        fn never_panics(bytes: Vec<u8>, offset: u64, length: u64) {
            let found = piece(&bytes, offset, length);
            prop_assert!(found.is_none_or(|found| found.len() as u64 == length));
            let _ = u32_at(&bytes, offset);
            let _ = until_nul(&bytes, offset, usize::try_from(length).unwrap_or(usize::MAX));
        }
    }
}
