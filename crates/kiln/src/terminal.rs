//! The user's terminal.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// How often a log gets a line about something that takes long.
const LOGGED: Duration = Duration::from_secs(60);

/// One line on standard error about something that takes long; where that is no terminal, a new line each minute.
#[derive(Debug)]
pub(crate) struct Progress {
    shown: bool,
    is_terminal: bool,
    logged: Instant,
}

impl Progress {
    /// Shows nothing yet.
    pub(crate) fn new() -> Self {
        Self { shown: false, is_terminal: std::io::stderr().is_terminal(), logged: Instant::now() }
    }

    /// Replaces the line.
    pub(crate) fn show(&mut self, text: &str) {
        let line: String = text.chars().filter(|c| !c.is_control()).take(100).collect();
        if self.is_terminal {
            // A terminal that does not take it has nobody before it.
            let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
            self.shown = true;
        } else if self.logged.elapsed() >= LOGGED {
            let _ = writeln!(std::io::stderr(), "kiln: {line}");
            self.logged = Instant::now();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// A terminal that passes every key on; it is as before when this is dropped.
#[derive(Debug)]
pub(crate) struct RawTerminal {
    before: Option<Termios>,
}

impl RawTerminal {
    /// Standard input passes every key on, if it is a terminal.
    pub(crate) fn enter() -> std::io::Result<Self> {
        let input = std::io::stdin();
        if !input.is_terminal() {
            return Ok(Self { before: None });
        }
        let before = tcgetattr(&input)?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(&input, OptionalActions::Now, &raw)?;
        Ok(Self { before: Some(before) })
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // There is nothing else that could be tried.
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}

/// Lines and columns of the terminal; 24 by 80 where there is none.
pub(crate) fn size() -> (u16, u16) {
    let size = tcgetwinsize(std::io::stdin()).or_else(|_| tcgetwinsize(std::io::stdout()));
    size.map_or((24, 80), |size| (size.ws_row.max(1), size.ws_col.max(1)))
}
