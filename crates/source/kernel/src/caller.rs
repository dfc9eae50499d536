//! What a long step needs from its caller.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// What long work reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News<'a> {
    /// A step, or how far it is; the next line replaces it.
    Step(&'a str),
    /// Worth knowing afterwards, too.
    Note(&'a str),
}

/// A listener for progress, and the user's wish to stop.
pub struct Caller<'a> {
    /// Gets each long step, news about it, and notes.
    pub listener: &'a mut dyn FnMut(News<'_>),
    /// Set when the user wants to stop.
    pub interrupt: &'a AtomicBool,
}

impl Caller<'_> {
    /// Reports a long step, or news about it.
    pub fn progress(&mut self, text: &str) {
        (self.listener)(News::Step(text));
    }

    /// Reports something that is worth knowing afterwards, too.
    pub fn note(&mut self, text: &str) {
        (self.listener)(News::Note(text));
    }

    /// Whether the user wants to stop.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Caller<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").field("interrupt", &self.interrupt).finish_non_exhaustive()
    }
}
