//! What a person presses.

use serde_json::{Value, json};

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// To the next field or link.
    Tab,
    /// Back from there.
    ShiftTab,
    /// Does what a link or a form is for.
    Enter,
    /// Does what a button is for.
    Space,
}

impl Key {
    /// The parameters of `Input.dispatchKeyEvent`: down, then up.
    pub(crate) fn events(self) -> [Value; 2] {
        let (key, code, number, text, modifiers) = match self {
            Self::Tab => ("Tab", "Tab", 9, "", 0),
            Self::ShiftTab => ("Tab", "Tab", 9, "", 8),
            Self::Enter => ("Enter", "Enter", 13, "\r", 0),
            Self::Space => (" ", "Space", 32, " ", 0),
        };
        ["keyDown", "keyUp"].map(|kind| {
            let text = if kind == "keyDown" { text } else { "" };
            json!({"type": kind, "key": key, "code": code, "windowsVirtualKeyCode": number, "text": text, "modifiers": modifiers})
        })
    }
}
