//! The question before leaving.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::look::Child;
use crate::paint::{self, BOLD, DIM};

/// What is to become of what was started from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    GoOn,
    Stop,
    Stay,
}

/// What a key answers.
pub(crate) fn answer(key: KeyEvent) -> Option<Answer> {
    match key.code {
        KeyCode::Char('g') => Some(Answer::GoOn),
        KeyCode::Char('s') => Some(Answer::Stop),
        KeyCode::Esc | KeyCode::Backspace | KeyCode::Char('c' | 'n') => Some(Answer::Stay),
        _ => None,
    }
}

/// Draws the question over what is there.
pub(crate) fn draw(children: &[Child], area: Rect, buffer: &mut Buffer) {
    let running: Vec<&Child> = children.iter().filter(|child| child.ended.is_none()).collect();
    let what = if running.len() == 1 { "One run is" } else { "Runs are" };
    paint::text(buffer, area, 0, BOLD, format!("{what} still at work that started here:"));
    for (line, child) in (2..).zip(&running) {
        paint::text(buffer, area, line, Style::new(), format!("  {}", super::start::call(&child.arguments)));
    }
    let below =
        u16::try_from(running.len()).unwrap_or(u16::MAX).saturating_add(3).min(area.height.saturating_sub(4));
    for (line, (text, style)) in (below..).zip([
        ("  g  leave, and they go on by themselves", Style::new()),
        ("  s  leave, and they are stopped", Style::new()),
        ("  c  stay", Style::new()),
        ("     a signal that ends kiln top stops them, too", DIM),
    ]) {
        paint::whole_line(buffer, area, line, Style::reset());
        paint::text(buffer, area, line, style, format!("{text:<60}"));
    }
}
