//! What a long step needs from its caller.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// A listener for progress, and the user's wish to stop.
pub struct Caller<'a> {
    /// Gets a line for each long step, and again when there is news about it.
    pub listener: &'a mut dyn FnMut(&str),
    /// Set when the user wants to stop.
    pub interrupt: &'a AtomicBool,
}

impl Caller<'_> {
    /// Reports a long step, or news about it.
    pub fn progress(&mut self, text: &str) {
        (self.listener)(text);
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
