//! The keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::paint::{self, BOLD, Piece};

/// What keys do, in groups.
const KEYS: [(&str, &str); 14] = [
    ("1 2 3 4, Tab", "sessions, what changed, problems, start"),
    ("Up Down, k j", "another row or line; the wheel of the mouse, too"),
    ("PgUp PgDn", "a page up or down"),
    ("Home End, g G", "the first or last"),
    ("Enter, click", "open a row: a session, then a Run with its evidence"),
    ("Esc, Backspace", "back"),
    ("/ then n N", "search a text; the next match, the one before"),
    ("Left Right, h l", "to the sides of long lines; kernels or suites"),
    ("Space", "mark a kernel or a suite; a page down in a text"),
    ("Enter", "start the marked kernels with the marked suites"),
    ("Ctrl-L", "draw everything again"),
    ("?", "this help"),
    ("q, Ctrl-C", "leave; what was started from here may go on"),
    ("!", "before a line of the kernel log: a report on a defect"),
];

/// Draws them over what is there.
pub(crate) fn draw(area: Rect, buffer: &mut Buffer) {
    paint::text(buffer, area, 0, BOLD, "Keys");
    for (line, (keys, does)) in (2..).zip(KEYS) {
        let keys = Piece::new(BOLD, format!("  {keys:<18}"));
        paint::pieces(buffer, area, (line, 0), &[keys, Piece::plain(does)]);
    }
}
