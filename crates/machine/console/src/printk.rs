//! What printk puts before the text of a record (`kernel/printk/printk.c`).

use std::time::Duration;

use protocol::results::cut;

/// Bytes of a time stamp at most, from its bracket to the other: seconds have twenty digits at most.
const STAMP_MAX: usize = 28;

/// A line of a kernel's log or console, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Since the boot, where the line carries a time stamp (`CONFIG_PRINTK_TIME`).
    pub time: Option<Duration>,
    /// Something of printk stood before the text, so that no program of the guest wrote the line.
    pub is_record: bool,
    /// What was printed, with its indentation.
    pub text: &'a str,
}

/// Takes off level, time stamp and caller: `<6>[    1.234567][    T1] text`, each of which may be missing.
#[must_use]
pub fn read(line: &str) -> Line<'_> {
    let after_level = level(line);
    let rest = after_level.unwrap_or(line);
    let stamp = bracketed(rest, stamp);
    let rest = stamp.map_or(rest, |(_, rest)| rest);
    // Some kernels put no blank between the two brackets.
    let caller = bracketed(rest.strip_prefix(' ').unwrap_or(rest), caller);
    let rest = caller.map_or(rest, |((), rest)| rest);
    let has_bracket = stamp.is_some() || caller.is_some();
    Line {
        time: stamp.map(|(time, _)| time),
        is_record: has_bracket || after_level.is_some(),
        text: if has_bracket { rest.strip_prefix(' ').unwrap_or(rest) } else { rest },
    }
}

/// Where a record begins that cut into the line of somebody else: a time stamp that is not the line's own.
#[must_use]
pub fn find_cut(text: &str) -> Option<usize> {
    let is_stamp = |at: usize| {
        // The longest stamp there can be, so that a line full of brackets costs no more than another.
        let inside = cut(&text[at + 1..], STAMP_MAX).split_once(']').map_or("", |(inside, _)| inside);
        let has_micros = inside.rsplit_once('.').is_some_and(|(_, micros)| micros.len() == 6);
        has_micros && stamp(inside.trim_start()).is_some()
    };
    text.match_indices('[').map(|(at, _)| at).find(|&at| at > 0 && is_stamp(at))
}

/// A text of `/dev/kmsg` as the kernel meant it: there, a backslash and each byte that is not printable ASCII is `\x` and two
/// digits (Documentation/ABI/testing/dev-kmsg).
#[must_use]
pub fn unescaped(text: &str) -> Vec<u8> {
    let mut parts = text.split("\\x");
    let mut out = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.split_at_checked(2).and_then(|(digits, rest)| Some((byte(digits)?, rest))) {
            Some((byte, rest)) => {
                out.push(byte);
                out.extend(rest.as_bytes());
            }
            None => out.extend([b"\\x", part.as_bytes()].concat()),
        }
    }
    out
}

fn byte(digits: &str) -> Option<u8> {
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u8::from_str_radix(digits, 16).ok())?
}

/// What follows a level, as `dmesg --raw` and pstore show it.
fn level(line: &str) -> Option<&str> {
    let (number, rest) = line.strip_prefix('<')?.split_once('>')?;
    (is_number(number) && number.len() <= 3).then_some(rest)
}

/// What follows a leading `[...]`, if what is in it, without leading blanks, is what is wanted.
fn bracketed<T>(line: &str, wanted: impl Fn(&str) -> Option<T>) -> Option<(T, &str)> {
    let (inside, rest) = line.strip_prefix('[')?.split_once(']')?;
    Some((wanted(inside.trim_start())?, rest))
}

/// `1.234567`: always seconds and a fraction.
fn stamp(inside: &str) -> Option<Duration> {
    let (seconds, fraction) = inside.split_once('.')?;
    let nanos = format!("{fraction:0<9}");
    let is_stamp = is_number(seconds) && is_number(fraction) && nanos.len() == 9;
    is_stamp.then(|| Some(Duration::new(seconds.parse().ok()?, nanos.parse().ok()?)))?
}

/// `T1` of a task, `C0` of an interrupt (`CONFIG_PRINTK_CALLER`).
fn caller(inside: &str) -> Option<()> {
    inside.strip_prefix(['T', 'C']).filter(|id| is_number(id)).map(|_| ())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn level_time_and_caller_are_taken_off() {
        for line in [
            "[    1.500000] text",
            "[    1.5][    T1] text",
            "[    1.5] [   C0] text",
            "<6>[    1.5] text",
            "<4>[    1.5][T1] text",
            "<14>text",
            "[    T123] text",
        ] {
            let Line { is_record, text, .. } = read(line);
            assert_eq!((is_record, text), (true, "text"), "{line}");
        }
    }

    #[test]
    fn the_indentation_of_the_text_stays() {
        assert_eq!(read("[    1.5]     ok 1 a").text, "    ok 1 a");
        assert_eq!(read("[   C0]  <IRQ>").text, " <IRQ>");
        assert_eq!(read("  text").text, "  text");
    }

    #[test]
    fn other_brackets_are_text() {
        for line in ["text", "[drm] text", "[] text", "[Tx] text", "[", "<b>text", "[ BUG: x ]", "[1] 4711"] {
            assert_eq!(read(line), Line { time: None, is_record: false, text: line });
        }
        assert_eq!(read("[ 1.5] [drm] text").text, "[drm] text");
    }

    #[test]
    fn the_time_is_read() {
        assert_eq!(read("[    1.234567] x").time, Some(Duration::from_micros(1_234_567)));
        assert_eq!(read("[12345.5] x").time, Some(Duration::from_millis(12_345_500)));
        assert_eq!(read("[    T1] x").time, None);
    }

    #[test]
    fn a_record_in_the_middle_of_a_line_is_found() {
        assert_eq!(find_cut("ok 1 fo[   12.345678] usb 1-1: new"), Some(7));
        assert_eq!(find_cut("[   12.345678] usb"), None);
        assert_eq!(find_cut("a [1.5] b [x] c"), None);
    }

    #[test]
    fn what_the_kernel_escaped_is_as_it_was() {
        let text = |escaped| String::from_utf8_lossy(&unescaped(escaped)).into_owned();
        assert_eq!(text(r"C:\x5cx0a is \xc3\xa4 \x1b[0m"), "C:\\x0a is ä \x1b[0m");
        for plain in ["", "no escape", r"\x", r"\x+1", r"\x5", r"\xg0", r"\xä"] {
            assert_eq!(text(plain), plain);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_unescaped(text in "(\\\\x|[0-9a-fx]|.){0,20}") {
            prop_assert!(unescaped(&text).len() <= text.len());
        }

        #[test]
        fn any_line_is_read(line in "(<[0-9]{0,4}>)?(\\[[ 0-9.TC]{0,9}\\]){0,3}.{0,20}") {
            let read = read(&line);
            prop_assert!(line.ends_with(read.text));
            prop_assert!(read.is_record || read.text == line);
            prop_assert!(find_cut(&line).is_none_or(|at| line.is_char_boundary(at)));
        }
    }
}
