//! What a search for a Kernel needs of whoever asks for it.

use std::sync::atomic::AtomicBool;

use crate::store::Store;

/// The store, the ear and the patience of whoever asks for a Kernel.
pub struct Context<'a> {
    /// Where kernels are kept.
    pub store: &'a Store,
    /// Gets a line for each long step, and again when there is news about it.
    pub listener: &'a mut dyn FnMut(&str),
    /// Set when the user wants to stop.
    pub interrupt: &'a AtomicBool,
}

impl Context<'_> {
    /// Tells what takes long.
    pub(crate) fn progress(&mut self, text: &str) {
        (self.listener)(text);
    }
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("store", &self.store).finish_non_exhaustive()
    }
}
