//! What a search for a Kernel needs from its caller.

use std::sync::atomic::AtomicBool;

use crate::caller::{Caller, News};
use crate::store::Store;

/// The store, a listener for long steps, and the user's wish to stop.
pub struct Context<'a> {
    /// Where kernels are kept.
    pub store: &'a Store,
    /// Gets each long step, news about it, and notes.
    pub listener: &'a mut dyn FnMut(News<'_>),
    /// Set when the user wants to stop.
    pub interrupt: &'a AtomicBool,
}

impl Context<'_> {
    /// The part that does not know the store.
    pub fn caller(&mut self) -> Caller<'_> {
        Caller { listener: &mut *self.listener, interrupt: self.interrupt }
    }

    /// Reports a long step, or news about it.
    pub fn progress(&mut self, text: &str) {
        self.caller().progress(text);
    }

    /// Reports something that is worth knowing afterwards, too.
    pub fn note(&mut self, text: &str) {
        self.caller().note(text);
    }
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("store", &self.store).finish_non_exhaustive()
    }
}
