//! What keys and the mouse mean.

use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

/// Lines that a turn of the wheel moves.
const WHEEL: isize = 3;

/// To another place in a list or a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Move {
    /// So many lines down.
    Lines(isize),
    PageUp,
    PageDown,
    First,
    Last,
}

/// What somebody at the terminal wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    Move(Move),
    Left,
    Right,
    /// The view of this number, from 0.
    Tab(usize),
    NextTab,
    LastTab,
    Open,
    Back,
    Mark,
    Search,
    NextMatch,
    MatchBefore,
    Help,
    Leave,
    Redraw,
    Click {
        column: u16,
        row: u16,
    },
}

/// What a key means, unless a text is typed.
pub(crate) fn wish(key: KeyEvent) -> Option<Wish> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => Some(Wish::Leave),
            KeyCode::Char('l') => Some(Wish::Redraw),
            KeyCode::Char('f') => Some(Wish::Move(Move::PageDown)),
            KeyCode::Char('b') => Some(Wish::Move(Move::PageUp)),
            _ => None,
        };
    }
    Some(match key.code {
        KeyCode::Up | KeyCode::Char('k') => Wish::Move(Move::Lines(-1)),
        KeyCode::Down | KeyCode::Char('j') => Wish::Move(Move::Lines(1)),
        KeyCode::PageUp => Wish::Move(Move::PageUp),
        KeyCode::PageDown => Wish::Move(Move::PageDown),
        KeyCode::Home | KeyCode::Char('g') => Wish::Move(Move::First),
        KeyCode::End | KeyCode::Char('G') => Wish::Move(Move::Last),
        KeyCode::Left | KeyCode::Char('h') => Wish::Left,
        KeyCode::Right | KeyCode::Char('l') => Wish::Right,
        KeyCode::Char(digit @ '1'..='9') => Wish::Tab(digit as usize - '1' as usize),
        KeyCode::Tab => Wish::NextTab,
        KeyCode::BackTab => Wish::LastTab,
        KeyCode::Enter => Wish::Open,
        KeyCode::Esc | KeyCode::Backspace => Wish::Back,
        KeyCode::Char(' ') => Wish::Mark,
        KeyCode::Char('/') => Wish::Search,
        KeyCode::Char('n') => Wish::NextMatch,
        KeyCode::Char('N') => Wish::MatchBefore,
        KeyCode::Char('?') => Wish::Help,
        KeyCode::Char('q') => Wish::Leave,
        _ => return None,
    })
}

/// Whether a key goes down: some terminals report also that it comes up.
pub(crate) fn is_press(key: KeyEvent) -> bool {
    key.kind != KeyEventKind::Release
}

/// What the mouse means.
pub(crate) fn mouse_wish(mouse: MouseEvent) -> Option<Wish> {
    match mouse.kind {
        MouseEventKind::Down(MouseButton::Left) => Some(Wish::Click { column: mouse.column, row: mouse.row }),
        MouseEventKind::ScrollUp => Some(Wish::Move(Move::Lines(-WHEEL))),
        MouseEventKind::ScrollDown => Some(Wish::Move(Move::Lines(WHEEL))),
        _ => None,
    }
}
