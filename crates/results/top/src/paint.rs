//! Text into a frame: all of it is made safe, and cut where its line ends.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use report::safe::safe_line;
use unicode_width::UnicodeWidthChar;

/// What stands out without a colour.
pub(crate) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);

/// What the eye may skip.
pub(crate) const DIM: Style = Style::new().add_modifier(Modifier::DIM);

/// What is selected or found.
pub(crate) const REVERSED: Style = Style::new().add_modifier(Modifier::REVERSED);

/// A text in one style.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) style: Style,
    pub(crate) text: String,
}

impl Piece {
    /// A text in the style of whatever is around it.
    pub(crate) fn plain(text: impl AsRef<str>) -> Self {
        Self::new(Style::new(), text)
    }

    /// Anybody may have written the text. Blanks at its ends stay.
    pub(crate) fn new(style: Style, text: impl AsRef<str>) -> Self {
        let text = text.as_ref();
        let inner = text.trim_matches(' ');
        let blanks = |count: usize| " ".repeat(count);
        let before = text.len() - text.trim_start_matches(' ').len();
        let after = if inner.is_empty() { 0 } else { text.len() - before - inner.len() };
        Self { style, text: blanks(before) + &safe_line(inner) + &blanks(after) }
    }
}

/// A style of reports on a terminal.
pub(crate) fn style(style: anstyle::Style) -> Style {
    let effects = style.get_effects();
    let mut converted = Style::new();
    for (effect, modifier) in [
        (anstyle::Effects::BOLD, Modifier::BOLD),
        (anstyle::Effects::DIMMED, Modifier::DIM),
        (anstyle::Effects::UNDERLINE, Modifier::UNDERLINED),
    ] {
        if effects.contains(effect) {
            converted = converted.add_modifier(modifier);
        }
    }
    match style.get_fg_color().and_then(color) {
        Some(color) => converted.fg(color),
        None => converted,
    }
}

fn color(color: anstyle::Color) -> Option<Color> {
    match color {
        anstyle::Color::Ansi(anstyle::AnsiColor::Red) => Some(Color::Red),
        anstyle::Color::Ansi(anstyle::AnsiColor::Green) => Some(Color::Green),
        anstyle::Color::Ansi(anstyle::AnsiColor::Yellow) => Some(Color::Yellow),
        anstyle::Color::Ansi(anstyle::AnsiColor::Magenta) => Some(Color::Magenta),
        _ => None,
    }
}

/// Writes pieces into a line of an area, from a column of it; what does not fit is left out. Gives the column behind them.
pub(crate) fn pieces(buffer: &mut Buffer, area: Rect, (row, column): (u16, u16), pieces: &[Piece]) -> u16 {
    let area = area.intersection(buffer.area);
    if row >= area.height {
        return column;
    }
    let mut x = area.x.saturating_add(column);
    for Piece { style, text } in pieces {
        let room = area.right().saturating_sub(x);
        if room == 0 {
            break;
        }
        (x, _) = buffer.set_stringn(x, area.y + row, text, usize::from(room), *style);
    }
    x.saturating_sub(area.x)
}

/// The same of one text from the first column.
pub(crate) fn text(buffer: &mut Buffer, area: Rect, row: u16, style: Style, text: impl AsRef<str>) {
    pieces(buffer, area, (row, 0), &[Piece::new(style, text)]);
}

/// Adds a style to a whole line of an area.
pub(crate) fn whole_line(buffer: &mut Buffer, area: Rect, row: u16, style: Style) {
    let line = Rect { y: area.y.saturating_add(row), height: 1, ..area };
    if row < area.height {
        buffer.set_style(line.intersection(buffer.area), style);
    }
}

/// Takes all colours away; what they say, words and signs say, too.
pub(crate) fn without_colours(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        (cell.fg, cell.bg) = (Color::Reset, Color::Reset);
    }
}

/// What follows the first `columns` of a text.
pub(crate) fn after(text: &str, columns: usize) -> &str {
    let mut passed = 0;
    let begin = text.char_indices().find(|(_, c)| {
        let is_behind = passed >= columns;
        passed += c.width().unwrap_or(0);
        is_behind
    });
    begin.map_or("", |(at, _)| &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_stay_and_nothing_that_a_terminal_obeys_does() {
        assert_eq!(Piece::plain("  a\x1b[2J\u{202e}b ").text, "  a\u{fffd}b ");
        assert_eq!(Piece::plain("   ").text, "   ");
        assert_eq!(Piece::plain("").text, "");
    }

    #[test]
    fn text_is_cut_at_the_end_of_its_area() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 6, 2));
        let area = Rect::new(1, 0, 4, 1);
        assert_eq!(pieces(&mut buffer, area, (0, 0), &[Piece::plain("abc"), Piece::plain("defg")]), 4);
        assert_eq!(pieces(&mut buffer, area, (1, 0), &[Piece::plain("x")]), 0);
        assert_eq!(pieces(&mut buffer, area, (0, 9), &[Piece::plain("x")]), 9);
        assert_eq!(pieces(&mut buffer, Rect::new(9, 9, 9, 9), (0, 0), &[Piece::plain("x")]), 0);
        let shown: String = buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(shown, " abcd       ");
    }

    #[test]
    fn columns_are_skipped_in_whole_characters() {
        assert_eq!([0, 1, 2, 3, 9].map(|columns| after("a世b", columns)), ["a世b", "世b", "b", "b", ""]);
    }
}
