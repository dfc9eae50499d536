//! Times as users write them: `100us`, `5ms`, `1s`.

use std::time::Duration;

/// The units of a time, in microseconds, the shortest first.
const UNITS: [(&str, u64); 3] = [("us", 1), ("ms", 1_000), ("s", 1_000_000)];

/// Reads a time of at least a microsecond: a whole number with its unit.
#[must_use]
pub fn duration(text: &str) -> Option<Duration> {
    let unit = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
    number.checked_mul(*factor).filter(|micros| *micros > 0).map(Duration::from_micros)
}

/// Writes a time with the largest unit in which it is a whole number.
#[must_use]
pub fn text(duration: Duration) -> String {
    let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    let (unit, factor) =
        UNITS.into_iter().rfind(|(_, factor)| micros.is_multiple_of(*factor)).unwrap_or(UNITS[0]);
    format!("{}{unit}", micros / factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(micros in 1..=u64::MAX) {
            let time = Duration::from_micros(micros);
            prop_assert_eq!(duration(&text(time)), Some(time));
        }

        #[test]
        fn any_text_is_read_without_panic(any: String) {
            let _ = duration(&any);
        }
    }

    #[test]
    fn a_time_has_one_of_three_units() {
        assert_eq!(duration("5ms"), Some(Duration::from_millis(5)));
        assert_eq!(
            [duration("100us"), duration("1s")],
            [100, 1_000_000].map(Duration::from_micros).map(Some)
        );
        for wrong in ["", "ms", "5", "0ms", "-1ms", "+1ms", "1.5ms", "5 ms", "5m", "99999999999999999999s"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
        assert_eq!([text(Duration::from_millis(1500)), text(Duration::from_secs(2))], ["1500ms", "2s"]);
    }
}
