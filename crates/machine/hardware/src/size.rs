//! Sizes in bytes as users write them: `512`, `64K`, `4G`.

/// The units of a size.
const UNITS: [(char, u32); 4] = [('K', 10), ('M', 20), ('G', 30), ('T', 40)];

/// The largest size: QEMU takes 63 bits, and no file is that large.
const MOST: u64 = 1 << 50;

/// Reads a size of at least one byte; a bare number is bytes.
#[must_use]
pub fn bytes(text: &str) -> Option<u64> {
    let unit = text.chars().last().and_then(|last| UNITS.iter().find(|(unit, _)| *unit == last));
    let (number, shift) = match unit {
        Some((unit, shift)) => (text.strip_suffix(*unit)?, *shift),
        None => (text, 0),
    };
    let number: u64 = number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok())??;
    number.checked_mul(1 << shift).filter(|size| (1..=MOST).contains(size))
}

/// Writes a size with the largest unit in which it is a whole number.
#[must_use]
pub fn text(bytes: u64) -> String {
    let fitting = UNITS.iter().rev().find(|(_, shift)| bytes > 0 && bytes.is_multiple_of(1 << shift));
    fitting.map_or_else(|| bytes.to_string(), |(unit, shift)| format!("{}{unit}", bytes >> shift))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(size in 1..=MOST) {
            prop_assert_eq!(bytes(&text(size)), Some(size));
        }

        #[test]
        fn any_text_is_read_without_panic(any: String) {
            let _ = bytes(&any);
        }
    }

    #[test]
    fn a_size_has_one_of_four_units() {
        assert_eq!([bytes("512"), bytes("64K"), bytes("4G")], [Some(512), Some(64 << 10), Some(4 << 30)]);
        for wrong in ["", "K", "-1", "+1", "1.5G", "4g", "0", "9999999T", "4GiB"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
        assert_eq!([text(4 << 30), text(1536), text(1000)], ["4G", "1536", "1000"].map(str::to_string));
    }
}
