//! The last line of a terminal.

use std::io::{self, Write};

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use crate::columns::cut;
use crate::sink::Sink;
use crate::style::Paint;

/// Erases from the cursor to the end of the line.
const ERASE: &str = "\x1b[K";

/// A terminal whose last line is redrawn.
#[derive(Debug)]
pub(super) struct Screen<W> {
    sink: Sink<W>,
    width: fn() -> usize,
    shown: String,
}

impl<W: Write> Screen<W> {
    pub(super) fn new(out: W, width: fn() -> usize) -> Self {
        Self { sink: Sink::new(out), width, shown: String::new() }
    }

    /// Shows `pieces` in the last line. New text goes over the old, so nothing is blank in between.
    pub(super) fn draw(&mut self, pieces: &[(Style, String)], paint: Paint) {
        // Writing in the last column would make some terminals start a new line.
        let line = fit(pieces, (self.width)().saturating_sub(1), paint);
        if line != self.shown {
            self.sink.write(&format!("\r{line}{ERASE}"));
            self.sink.flush();
            self.shown = line;
        }
    }

    /// Prints a line that stays, above the last.
    pub(super) fn above(&mut self, line: &str, pieces: &[(Style, String)], paint: Paint) {
        let status = fit(pieces, (self.width)().saturating_sub(1), paint);
        // Erased first: a long line that wraps would keep the rest of the status line.
        self.sink.write(&format!("\r{ERASE}{line}\n{status}{ERASE}"));
        self.sink.flush();
        self.shown = status;
    }

    /// Leaves an empty line.
    pub(super) fn clear(&mut self) {
        if !std::mem::take(&mut self.shown).is_empty() {
            self.sink.write(&format!("\r{ERASE}"));
            self.sink.flush();
        }
    }

    pub(super) fn result(&mut self) -> io::Result<()> {
        self.sink.result()
    }
}

/// `pieces` in as many columns as there are.
fn fit(pieces: &[(Style, String)], columns: usize, paint: Paint) -> String {
    let mut left = columns;
    let mut line = String::new();
    for (style, text) in pieces {
        if text.width() <= left {
            left -= text.width();
            line += &paint.paint(*style, text);
            continue;
        }
        line += &paint.paint(*style, &cut(text, left));
        break;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Paint = Paint { colour: false };

    fn pieces(texts: &[&str]) -> Vec<(Style, String)> {
        texts.iter().map(|text| (Style::new(), (*text).to_string())).collect()
    }

    #[test]
    fn text_is_cut_at_the_last_column() {
        let pieces = pieces(&["[1/9]", " boot 世界"]);
        let lines = [0, 1, 5, 8, 13, 14, 15].map(|columns| fit(&pieces, columns, PLAIN));
        assert_eq!(
            lines,
            ["", "…", "[1/9]", "[1/9] b…", "[1/9] boot …", "[1/9] boot 世…", "[1/9] boot 世界"]
        );
    }

    #[test]
    fn only_changes_are_written() {
        let mut out = Vec::new();
        let mut screen = Screen::new(&mut out, || 80);
        for text in ["a", "a", "b"] {
            screen.draw(&pieces(&[text]), PLAIN);
        }
        screen.above("failed", &pieces(&["b"]), PLAIN);
        screen.clear();
        screen.clear();
        assert_eq!(out, b"\ra\x1b[K\rb\x1b[K\r\x1b[Kfailed\nb\x1b[K\r\x1b[K");
    }
}
