//! A text that is scrolled and searched.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use report::ShownLine;

use crate::keys::Move;
use crate::paint::{self, BOLD, Piece, REVERSED};

/// Columns before the text: the signs of a line.
const SIGN: u16 = 2;

/// Columns by which it moves to a side.
const SIDEWAYS: usize = 16;

/// Furthest to the side.
const SIDEWAYS_MAX: usize = 4096;

/// Most characters of what is searched.
const PATTERN_MAX: usize = 200;

/// A text with a part of it that is seen.
#[derive(Debug, Default)]
pub(crate) struct Pager {
    lines: Vec<ShownLine>,
    first: usize,
    left: usize,
    /// What is being typed.
    typed: Option<String>,
    /// What is searched; small letters stand for capitals, too.
    pattern: String,
    /// The lines that have it.
    matches: Vec<usize>,
    /// Which of them was gone to.
    at: usize,
}

impl Pager {
    /// Shows these lines, as far down as before.
    pub(crate) fn show(&mut self, lines: Vec<ShownLine>) {
        self.lines = lines;
        self.search();
    }

    pub(crate) fn step(&mut self, step: Move, height: usize) {
        let last = self.lines.len().saturating_sub(height);
        let page = height.saturating_sub(1).max(1);
        self.first = match step {
            Move::Lines(by) => self.first.saturating_add_signed(by),
            Move::PageUp => self.first.saturating_sub(page),
            Move::PageDown => self.first + page,
            Move::First => 0,
            Move::Last => last,
        }
        .min(last);
    }

    /// Goes to the side.
    pub(crate) fn sideways(&mut self, is_right: bool) {
        self.left = if is_right {
            (self.left + SIDEWAYS).min(SIDEWAYS_MAX)
        } else {
            self.left.saturating_sub(SIDEWAYS)
        };
    }

    /// Whether what is searched is being typed.
    pub(crate) fn is_typing(&self) -> bool {
        self.typed.is_some()
    }

    pub(crate) fn begin_to_type(&mut self) {
        self.typed = Some(String::new());
    }

    pub(crate) fn type_char(&mut self, c: char) {
        if let Some(typed) = self.typed.as_mut().filter(|typed| typed.chars().count() < PATTERN_MAX) {
            typed.push(c);
        }
    }

    /// Takes a character back; where there is none, nothing is searched.
    pub(crate) fn untype(&mut self) {
        self.typed.take_if(|typed| typed.pop().is_none());
    }

    pub(crate) fn stop_typing(&mut self) {
        self.typed = None;
    }

    /// Goes to the first match from here on of what was typed; without a word the last one is searched again.
    pub(crate) fn find(&mut self, height: usize) {
        let Some(typed) = self.typed.take() else { return };
        if !typed.is_empty() {
            self.pattern = typed;
            self.search();
        }
        self.at = self.matches.iter().position(|line| *line >= self.first).unwrap_or(0);
        self.show_match(height);
    }

    /// Goes to another match, around the ends.
    pub(crate) fn next_match(&mut self, is_forward: bool, height: usize) {
        let count = self.matches.len();
        if count > 0 {
            self.at = (self.at + if is_forward { 1 } else { count - 1 }) % count;
            self.show_match(height);
        }
    }

    fn show_match(&mut self, height: usize) {
        if let Some(&line) = self.matches.get(self.at)
            && !(self.first..self.first + height).contains(&line)
        {
            self.first = line.saturating_sub(height / 2).min(self.lines.len().saturating_sub(height));
        }
    }

    fn search(&mut self) {
        let pattern = &self.pattern;
        let has = |line: &ShownLine| !pattern.is_empty() && !ranges(&line.text(), pattern).is_empty();
        self.matches =
            self.lines.iter().enumerate().filter(|(_, line)| has(line)).map(|(at, _)| at).collect();
        self.at = self.at.min(self.matches.len().saturating_sub(1));
    }

    /// Where it is, and what is searched.
    pub(crate) fn status(&self) -> String {
        if let Some(typed) = &self.typed {
            return format!("/{typed}");
        }
        let line = format!("line {} of {}", (self.first + 1).min(self.lines.len()), self.lines.len());
        match (self.pattern.as_str(), self.matches.len()) {
            ("", _) => line,
            (pattern, 0) => format!("{line}, no line has {pattern:?}"),
            (pattern, count) => format!("{line}, match {} of {count} of {pattern:?}", self.at + 1),
        }
    }

    pub(crate) fn draw(&self, area: Rect, buffer: &mut Buffer) {
        let found = self.matches.get(self.at).filter(|_| !self.pattern.is_empty());
        let first = self.first.min(self.lines.len().saturating_sub(1));
        let seen = self.lines.iter().enumerate().skip(first).take(usize::from(area.height));
        for (row, (at, line)) in (0..).zip(seen) {
            let report = if line.is_report { "!" } else { " " };
            let sign = format!("{report}{}", if found == Some(&at) { ">" } else { " " });
            paint::pieces(buffer, area, (row, 0), &[Piece::new(BOLD, sign)]);
            let whole: Vec<Piece> =
                line.pieces.iter().map(|(style, text)| Piece::new(paint::style(*style), text)).collect();
            paint::pieces(buffer, area, (row, SIGN), &from(self.left, marked(whole, &self.pattern)));
        }
    }
}

/// Where a text has a pattern; capitals in the pattern are only themselves.
fn ranges(text: &str, pattern: &str) -> Vec<std::ops::Range<usize>> {
    let is_small = !pattern.contains(|c: char| c.is_ascii_uppercase());
    let text = if is_small { text.to_ascii_lowercase() } else { text.to_owned() };
    text.match_indices(pattern).map(|(at, found)| at..at + found.len()).collect()
}

/// The same pieces, with what is found reversed.
fn marked(pieces: Vec<Piece>, pattern: &str) -> Vec<Piece> {
    if pattern.is_empty() {
        return pieces;
    }
    let mut parts = Vec::new();
    for Piece { style, text } in pieces {
        let mut behind = 0;
        for found in ranges(&text, pattern) {
            parts.push(Piece { style, text: text[behind..found.start].to_owned() });
            behind = found.end;
            parts.push(Piece { style: style.patch(REVERSED), text: text[found].to_owned() });
        }
        parts.push(Piece { style, text: text[behind..].to_owned() });
    }
    parts
}

/// What is behind the first columns of a line.
fn from(columns: usize, pieces: Vec<Piece>) -> Vec<Piece> {
    let mut left = columns;
    let cut = |Piece { style, text }: Piece| {
        let rest = paint::after(&text, left);
        let passed: usize = unicode_width::UnicodeWidthStr::width(&text[..text.len() - rest.len()]);
        left = left.saturating_sub(passed);
        Piece { style, text: rest.to_owned() }
    };
    if columns == 0 { pieces } else { pieces.into_iter().map(cut).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pager(lines: &[&str]) -> Pager {
        let mut pager = Pager::default();
        let line = |text: &&str| ShownLine {
            pieces: vec![(anstyle::Style::new(), (*text).to_owned())],
            is_report: false,
        };
        pager.show(lines.iter().map(line).collect());
        pager
    }

    fn finds(pager: &mut Pager, pattern: &str) -> Vec<usize> {
        pager.begin_to_type();
        pattern.chars().for_each(|c| pager.type_char(c));
        pager.find(2);
        pager.matches.clone()
    }

    #[test]
    fn small_letters_stand_for_capitals_and_capitals_for_themselves() {
        let mut pager = pager(&["BUG: a", "a bug", "", "Bug"]);
        assert_eq!(finds(&mut pager, "bug"), [0, 1, 3]);
        assert_eq!(finds(&mut pager, "BUG"), [0]);
        assert!(finds(&mut pager, "x").is_empty());
        assert!(pager.status().ends_with("no line has \"x\""), "{}", pager.status());
    }

    #[test]
    fn matches_are_gone_through_around_the_ends() {
        let mut pager = pager(&["a", "b", "a", "b", "b", "a"]);
        finds(&mut pager, "a");
        let mut seen = Vec::new();
        for is_forward in [true, true, true, false] {
            pager.next_match(is_forward, 2);
            seen.push((pager.at, pager.first));
        }
        assert_eq!(seen, [(1, 1), (2, 4), (0, 0), (2, 4)]);
        pager.begin_to_type();
        pager.untype();
        assert!(!pager.is_typing());
    }

    #[test]
    fn what_is_found_is_reversed_and_nothing_is_lost() {
        let pieces = marked(vec![Piece::plain("a bug"), Piece::plain("BUGbug")], "bug");
        let texts: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!(texts, ["a ", "bug", "", "", "BUG", "", "bug", ""]);
        assert_eq!(from(3, pieces).iter().map(|piece| piece.text.as_str()).collect::<String>(), "ugBUGbug");
    }

    #[test]
    fn a_text_is_scrolled_within_its_ends() {
        let mut pager = pager(&["a"; 10]);
        for (step, first) in [
            (Move::PageDown, 3),
            (Move::Last, 6),
            (Move::Lines(3), 6),
            (Move::Lines(-9), 0),
            (Move::PageUp, 0),
        ] {
            pager.step(step, 4);
            assert_eq!(pager.first, first, "{step:?}");
        }
    }
}
