//! The line with which a mail begins in an mbox.

/// `From SENDER Thu Jan  1 00:00:00 1970`, whatever follows. As `git mailsplit` does, it wants a time and a year: prose begins
/// with `From`, too. The year may also stand behind a time zone.
pub(crate) fn is_separator(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"From ") else { return false };
    let Some(colon) = rest.iter().rposition(|&byte| byte == b':') else { return false };
    let is_digits = |range: std::ops::Range<usize>| {
        rest.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let is_time = colon >= 4
        && is_digits(colon - 2..colon)
        && is_digits(colon + 1..colon + 3)
        && is_digits(colon - 4..colon - 3);
    let after = rest.get(colon + 3..).unwrap_or_default();
    is_time && (is_year(after) || after.split(u8::is_ascii_whitespace).any(is_four_digits))
}

fn is_four_digits(word: &[u8]) -> bool {
    word.len() == 4 && word.iter().all(u8::is_ascii_digit)
}

/// Whether a text begins with a number above 90, as git has it.
fn is_year(text: &[u8]) -> bool {
    let digits = text.trim_ascii_start().iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0u32, |year, digit| year.saturating_mul(10).saturating_add(u32::from(digit - b'0'))) > 90
}

/// Whether `git format-patch` has written a line: no prose has a hash of git.
pub(crate) fn is_gits(line: &[u8]) -> bool {
    let hash = line.strip_prefix(b"From ").and_then(|rest| rest.split(|&byte| byte == b' ').next());
    hash.is_some_and(|hash| matches!(hash.len(), 40 | 64) && hash.iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_have_a_time_and_a_year() {
        for (line, is) in [
            ("From mboxrd@z Thu Jan  1 00:00:00 1970\n", true),
            ("From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\n", true),
            ("From a@example.org  Sat Jan  3 1:02:03 1996 +0100\n", true),
            ("From git@z Thu Jan  1 00:00:00 1970.patch\n", true),
            ("From a 10:20:30 91\n", true),
            ("From a 10:20:30 90\n", false),
            ("From now on: yes\n", false),
            ("From 10:00 to 11:00\n", false),
            ("From :\n", false),
            ("from x 00:00:00 1970\n", false),
        ] {
            assert_eq!(is_separator(line.as_bytes()), is, "{line}");
        }
    }
}
