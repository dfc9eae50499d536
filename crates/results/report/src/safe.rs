//! Text that a guest wrote, made harmless.
//!
//! Colour and cursor sequences are removed, because test programs write them all the time and they say
//! nothing. Every other control character becomes a visible sign, so that nothing hides.

/// `CSI` parameters are short; a longer run is no sequence and is shown.
const PARAMETERS_MAX: usize = 32;

/// Columns between tab stops.
const TAB: usize = 8;

/// `text` without anything that a terminal obeys; lines end with `\n`, tabs are spaces.
#[must_use]
pub fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = after_sequence(rest) {
            rest = after;
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '\r' if rest.starts_with('\n') => {}
            '\n' | '\r' => {
                out.push('\n');
                column = 0;
            }
            '\t' => {
                let stop = (column / TAB + 1) * TAB;
                out.extend(std::iter::repeat_n(' ', stop - column));
                column = stop;
            }
            _ => {
                out.push(visible(c));
                column += 1;
            }
        }
    }
    out
}

/// `text` made safe and brought into one line.
#[must_use]
pub fn safe_line(text: &str) -> String {
    safe(text).trim().replace('\n', " ")
}

/// What follows the control sequence at the start of `text`, if there is a complete one.
fn after_sequence(text: &str) -> Option<&str> {
    let body = text.strip_prefix("\x1b[").or_else(|| text.strip_prefix('\u{9b}'))?;
    let length = body.bytes().take(PARAMETERS_MAX).take_while(|byte| matches!(byte, 0x30..=0x3f)).count();
    let last = body.as_bytes().get(length)?;
    matches!(last, 0x40..=0x7e).then(|| &body[length + 1..])
}

/// A character that no terminal obeys: `c` itself, or a sign for it.
pub(crate) fn visible(c: char) -> char {
    match c {
        // The control pictures stand in the order of the characters they show.
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\x7f' => '\u{2421}',
        _ if is_treacherous(c) => char::REPLACEMENT_CHARACTER,
        _ => c,
    }
}

/// Above ASCII: characters that control, reorder or break lines, or that XML forbids.
pub(crate) fn is_treacherous(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}'
        | '\u{61c}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
        | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn colours_vanish_and_other_controls_show() {
        assert_eq!(safe("\x1b[1;31mFAIL\x1b[0m \u{9b}2Jx"), "FAIL x");
        assert_eq!(safe("\x1b]0;title\x07"), "\u{241b}]0;title\u{2407}");
        assert_eq!(safe("\x1b[12"), "\u{241b}[12");
        assert_eq!(safe("\x1b\x1b[m[2J"), "\u{241b}[2J");
        assert_eq!(safe("a\u{202e}b\u{90}"), "a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn lines_and_tabs_stay_readable() {
        assert_eq!(safe("a\tb\r\n\tc\rd"), "a       b\n        c\nd");
        assert_eq!(safe_line(" a\nb\r\n"), "a b");
    }

    /// Everything that matters to a terminal, often.
    fn hostile() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            any::<char>().prop_map(String::from),
            prop::sample::select(vec![
                "\x1b", "[", "]", "\u{9b}", "31m", "\x07", "\\", "\r", "\n", "\t", "\u{202e}", "0;"
            ])
            .prop_map(str::to_string),
            "[ -~]{0,4}",
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn nothing_that_a_terminal_obeys_is_left(text in hostile()) {
            let out = safe(&text);
            prop_assert!(out.chars().all(|c| c == '\n' || !(c.is_control() || is_treacherous(c))), "{out:?}");
            prop_assert_eq!(safe(&out), out);
        }

        #[test]
        fn a_safe_line_is_one_line(text in hostile()) {
            prop_assert!(!safe_line(&text).contains('\n'));
        }

        #[test]
        fn ordinary_text_is_untouched(text in "[ -~\n\u{a1}-\u{2ff}]{0,60}") {
            prop_assert_eq!(safe(&text), text);
        }
    }
}
