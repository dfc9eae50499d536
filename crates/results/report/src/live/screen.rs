//! The last lines of a terminal.

use std::io::{self, Write};

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use crate::columns::cut;
use crate::sink::Sink;
use crate::style::Paint;

/// Erases from the cursor to the end of the line.
const ERASE: &str = "\x1b[K";

/// Erases from the cursor to the end of the screen.
const ERASE_BELOW: &str = "\x1b[J";

/// A line in pieces of one style each.
pub(crate) type Line = Vec<(Style, String)>;

/// A terminal whose last lines are redrawn. The cursor stands in the last of them.
#[derive(Debug)]
pub(super) struct Screen<W> {
    sink: Sink<W>,
    width: fn() -> usize,
    shown: Vec<String>,
}

impl<W: Write> Screen<W> {
    pub(super) fn new(out: W, width: fn() -> usize) -> Self {
        Self { sink: Sink::new(out), width, shown: Vec::new() }
    }

    /// Columns of a line: writing in the last one would make some terminals start a new line.
    pub(super) fn columns(&self) -> usize {
        (self.width)().saturating_sub(1)
    }

    /// Shows `lines` at the end. New text goes over the old, so nothing is blank in between.
    pub(super) fn draw(&mut self, lines: &[Line], paint: Paint) {
        let lines = self.fit(lines, paint);
        if lines != self.shown {
            self.sink.write(&(self.start() + &joined(&lines) + self.rest(&lines)));
            self.sink.flush();
            self.shown = lines;
        }
    }

    /// Prints a line that stays, above the others.
    pub(super) fn above(&mut self, line: &str, lines: &[Line], paint: Paint) {
        let lines = self.fit(lines, paint);
        // Erased first: a long line that wraps would keep the rest of what it goes over.
        let erase = self.erase();
        self.sink.write(&format!("{}{erase}{line}\n{}", self.start(), joined(&lines)));
        self.sink.flush();
        self.shown = lines;
    }

    /// Leaves an empty line.
    pub(super) fn clear(&mut self) {
        if self.shown.iter().any(|line| !line.is_empty()) {
            self.sink.write(&(self.start() + self.erase()));
            self.sink.flush();
        }
        self.shown.clear();
    }

    pub(super) fn result(&mut self) -> io::Result<()> {
        self.sink.result()
    }

    fn fit(&self, lines: &[Line], paint: Paint) -> Vec<String> {
        lines.iter().map(|line| fit(line, self.columns(), paint)).collect()
    }

    /// Goes to where the lines begin.
    fn start(&self) -> String {
        match self.shown.len() {
            0 | 1 => "\r".to_owned(),
            lines => format!("\r\x1b[{}A", lines - 1),
        }
    }

    /// Erases all lines.
    fn erase(&self) -> &'static str {
        if self.shown.len() > 1 { ERASE_BELOW } else { ERASE }
    }

    /// Erases those lines that are not written over.
    fn rest(&self, lines: &[String]) -> &'static str {
        if lines.len() < self.shown.len() { ERASE_BELOW } else { "" }
    }
}

fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}{ERASE}")).collect::<Vec<_>>().join("\n")
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
            screen.draw(&[pieces(&[text])], PLAIN);
        }
        screen.above("failed", &[pieces(&["b"])], PLAIN);
        screen.clear();
        screen.clear();
        assert_eq!(out, b"\ra\x1b[K\rb\x1b[K\r\x1b[Kfailed\nb\x1b[K\r\x1b[K");
    }

    #[test]
    fn several_lines_are_written_from_the_first() {
        let mut out = Vec::new();
        let mut screen = Screen::new(&mut out, || 80);
        for texts in [&["a", "b"] as &[&str], &["a", "c"], &["d"]] {
            screen.draw(&texts.iter().map(|text| pieces(&[text])).collect::<Vec<_>>(), PLAIN);
        }
        let wanted = "\ra\x1b[K\nb\x1b[K\
                      \r\x1b[1Aa\x1b[K\nc\x1b[K\
                      \r\x1b[1Ad\x1b[K\x1b[J";
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }

    #[test]
    fn a_line_that_stays_and_the_end_erase_all_lines() {
        let mut out = Vec::new();
        let mut screen = Screen::new(&mut out, || 80);
        let lines = [pieces(&["a"]), pieces(&["b"])];
        screen.draw(&lines, PLAIN);
        screen.above("failed", &lines, PLAIN);
        screen.clear();
        let wanted = "\ra\x1b[K\nb\x1b[K\
                      \r\x1b[1A\x1b[Jfailed\na\x1b[K\nb\x1b[K\
                      \r\x1b[1A\x1b[J";
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }
}
