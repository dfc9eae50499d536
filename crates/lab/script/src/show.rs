//! How text of a stranger is shown: short, and without characters that act on a terminal.

use std::fmt::Write;

/// `text` on one line, at most `limit` characters of it.
#[must_use]
pub fn shown(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == limit {
            out.push_str("...");
            break;
        }
        escape(c, &mut out);
    }
    out
}

/// `text` with its lines, but nothing else that acts on a terminal.
#[must_use]
pub fn shown_lines(text: &str, limit: usize) -> String {
    text.lines().map(|line| shown(line, limit)).collect::<Vec<_>>().join("\n")
}

fn escape(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        c if c.is_control() || acts(c) => {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
        c => out.push(c),
    }
}

/// Whether a character changes how others are shown: marks of direction, and what has no width.
fn acts(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_is_escaped() {
        assert_eq!(shown("a\x1b[31mb\n\u{202e}c", 80), "a\\u{1b}[31mb\\n\\u{202e}c");
        assert_eq!(shown("abcdef", 3), "abc...");
        assert_eq!(shown_lines("a\nb\x07", 80), "a\nb\\u{7}");
    }
}
