//! A group's `settings` file.

use std::time::Duration;

/// Time limit of a test whose group does not say another: `kselftest/runner.sh`.
const DEFAULT: Duration = Duration::from_secs(45);

/// Time limit of a test whose group wants none, and of one that wants more than that.
const LONGEST: Duration = Duration::from_secs(30 * 60);

/// The time limit that a settings file gives: `timeout=SECONDS`, where 0 is none at all.
#[must_use]
pub fn limit(text: &str) -> Duration {
    let value =
        |line: &str| line.trim().strip_prefix("timeout=")?.trim().trim_matches('"').parse::<u64>().ok();
    match text.lines().filter_map(value).next_back() {
        None => DEFAULT,
        Some(0) => LONGEST,
        Some(seconds) => Duration::from_secs(seconds).min(LONGEST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_word_counts_and_none_is_half_an_hour() {
        for (text, seconds) in [
            ("", 45),
            ("# timeout=5\n", 45),
            ("timeout=120\n", 120),
            ("# why\ntimeout=5\ntimeout=6\n", 6),
            ("timeout=0\n", 1800),
            ("timeout=99999999\n", 1800),
            ("timeout=soon\n", 45),
        ] {
            assert_eq!(limit(text).as_secs(), seconds, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_gives_a_limit(text in "(timeout=|[0-9]{1,25}|\\PC|\\n){0,20}") {
            prop_assert!(limit(&text) <= LONGEST && !limit(&text).is_zero());
        }
    }
}
