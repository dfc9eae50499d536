//! The terminal: all of it is kiln's until this is dropped, and then it is as before.

use std::io::{self, Stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use anyhow::{Result, bail};
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use ratatui::layout::{Rect, Size};
use ratatui::{Terminal, TerminalOptions, Viewport};
use rustix::termios::{QueueSelector, tcflush, tcgetattr};
use top::State;

use crate::terminal::{self, RawTerminal};

/// How the terminal was, as long as it is kiln's.
static ENTERED: Mutex<Option<RawTerminal>> = Mutex::new(None);

/// Some thread has panicked.
static IS_BROKEN: AtomicBool = AtomicBool::new(false);

/// The terminal.
#[derive(Debug)]
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    size: Size,
}

impl Screen {
    /// Takes the terminal.
    pub(super) fn enter() -> io::Result<Self> {
        leave_when_broken();
        // The size is looked up here: that of a serial console is 0.
        let (backend, size) = (CrosstermBackend::new(io::stdout()), size());
        let viewport = Viewport::Fixed(area(size));
        let terminal = Terminal::with_options(backend, TerminalOptions { viewport })?;
        let mut screen = Self { terminal, size };
        *entered() = Some(RawTerminal::enter()?);
        execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture, Hide)?;
        screen.redraw()?;
        Ok(screen)
    }

    /// Its size.
    pub(super) fn size(&self) -> Size {
        self.size
    }

    /// The size that it has by now, if that is another one.
    pub(super) fn new_size(&mut self) -> io::Result<Option<Size>> {
        let before = std::mem::replace(&mut self.size, size());
        if before == self.size {
            return Ok(None);
        }
        self.redraw()?;
        Ok(Some(self.size))
    }

    /// Has everything drawn again.
    pub(super) fn redraw(&mut self) -> io::Result<()> {
        self.terminal.resize(area(self.size))
    }

    pub(super) fn draw(&mut self, state: &State) -> io::Result<()> {
        self.terminal.draw(|frame| top::draw(state, frame)).map(drop)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

/// Gives the terminal back, once.
fn leave() {
    if let Some(raw) = entered().take() {
        // A terminal that is gone needs nothing.
        let _ = execute!(io::stdout(), DisableMouseCapture, LeaveAlternateScreen, Show);
        // Reports of the mouse that are on their way are not for the shell.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
        drop(raw);
    }
}

fn entered() -> MutexGuard<'static, Option<RawTerminal>> {
    ENTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has a panic of any thread told where it can be read.
fn leave_when_broken() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            IS_BROKEN.store(true, Ordering::Relaxed);
            leave();
            before(panic);
        }));
    });
}

/// Whether the terminal is still there, and all threads.
pub(super) fn check() -> Result<()> {
    if IS_BROKEN.load(Ordering::Relaxed) {
        bail!("a part of kiln top has broken down");
    }
    tcgetattr(io::stdin())?;
    Ok(())
}

/// The size of the terminal.
fn size() -> Size {
    let (lines, columns) = terminal::size();
    Size::new(columns, lines)
}

fn area(size: Size) -> Rect {
    Rect::new(0, 0, size.width, size.height)
}
