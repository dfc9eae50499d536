//! The season's mascot: the only joke.

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::paint::{self, DIM};

/// Its lines.
const HEIGHT: u16 = 6;

/// Its columns.
const WIDTH: u16 = 9;

/// With a bobble hat and a scarf.
const WINTER: [&str; 6] = ["    *", "   /#\\", "  (o.o)", " /=====\\", "  |___|", "   \" \""];

/// With a flower.
const SPRING: [&str; 6] = ["    @", "   _|_", "  (o.o)", " /|   |\\", "  |___|", "   \" \""];

/// With dark glasses and a drink.
const SUMMER: [&str; 6] = ["", "   ___", "  [#.#]", " /|   |\\_", "  |___| U", "   \" \""];

/// With an umbrella.
const AUTUMN: [&str; 6] = ["   _.^._", "  (__|__)", "  (o.o|", " /|   |", "  |___|", "   \" \""];

/// Dressed for a day.
fn dressed(now: Timestamp) -> [&'static str; 6] {
    match now.to_zoned(jiff::tz::TimeZone::UTC).month() {
        12 | 1 | 2 => WINTER,
        3..=5 => SPRING,
        6..=8 => SUMMER,
        _ => AUTUMN,
    }
}

/// Draws it into the last corner of an area, if so many lines are free there.
pub(crate) fn draw(now: Timestamp, free: u16, area: Rect, buffer: &mut Buffer) {
    if free < HEIGHT || area.width < 2 * WIDTH {
        return;
    }
    let corner = Rect {
        x: area.right() - WIDTH,
        y: area.bottom().saturating_sub(HEIGHT),
        width: WIDTH,
        height: HEIGHT,
    };
    for (line, text) in (0..).zip(dressed(now)) {
        paint::text(buffer, corner, line, DIM, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_dressed_after_the_season_and_small() {
        let on = |day: &str| dressed(format!("{day}T12:00:00Z").parse().expect("a time"));
        assert_eq!(on("2026-12-01"), WINTER);
        assert_eq!(on("2026-05-31"), SPRING);
        assert_eq!(on("2026-07-14"), SUMMER);
        assert_eq!(on("2026-11-29"), AUTUMN);
        for lines in [WINTER, SPRING, SUMMER, AUTUMN] {
            assert!(lines.iter().all(|line| line.is_ascii() && line.len() <= usize::from(WIDTH)));
        }
    }
}
