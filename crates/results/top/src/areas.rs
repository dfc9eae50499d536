//! What is where on a terminal of some size.

use ratatui::layout::Rect;

/// Lines about what is selected, with the rule above them.
const DETAILS: u16 = 4;

/// Lines of a terminal that has room for these.
const ROOMY: u16 = 16;

/// The parts of a terminal, from its top to its bottom; on a small one some have no line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Areas {
    /// The views.
    pub(crate) tabs: Rect,
    /// A list or a text.
    pub(crate) body: Rect,
    /// What is selected.
    pub(crate) details: Rect,
    /// The command that says or does the same.
    pub(crate) command: Rect,
    /// The keys that matter here, or what is typed.
    pub(crate) keys: Rect,
}

impl Areas {
    /// The parts of a terminal with this area.
    pub(crate) fn of(whole: Rect) -> Self {
        let height = whole.height;
        let tabs = u16::from(height > 1);
        let keys = u16::from(height > 3);
        let command = u16::from(height > 5);
        let details = if height >= ROOMY { DETAILS } else { 0 };
        let body = height - tabs - keys - command - details;
        let mut y = whole.y;
        let mut next = |height: u16| {
            let area = Rect { y, height, ..whole };
            y += height;
            area
        };
        Self {
            tabs: next(tabs),
            body: next(body),
            details: next(details),
            command: next(command),
            keys: next(keys),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_fill_the_terminal_whatever_its_size() {
        for height in 0..60 {
            let whole = Rect::new(0, 0, 80, height);
            let Areas { tabs, body, details, command, keys } = Areas::of(whole);
            let parts = [tabs, body, details, command, keys];
            assert_eq!(parts.iter().map(|part| part.height).sum::<u16>(), height);
            assert!(parts.windows(2).all(|two| two[0].bottom() == two[1].y), "{height}");
            assert!(height == 0 || body.height > 0, "{height}");
        }
    }
}
