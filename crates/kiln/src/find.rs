//! Kernels, while the user looks on.

use std::sync::atomic::AtomicBool;

use kernel::Context;
use lab::backend::{HostBackend, Waiting, with_store};
use lab::prepare;

use crate::terminal::Progress;

/// Does what takes long, is shown on a terminal, and can be interrupted.
pub(crate) fn waiting<T>(interrupt: &AtomicBool, work: impl FnOnce(&mut Waiting<'_>) -> T) -> T {
    let mut progress = Progress::new();
    work(&mut Waiting { interrupt, progress: &mut |news| progress.tell(news) })
}

/// The same with the store of this host.
pub(crate) fn in_context<T>(interrupt: &AtomicBool, work: impl FnOnce(&mut Context<'_>) -> T) -> T {
    waiting(interrupt, |waiting| with_store(waiting, work))
}

/// Prepares what a request asks.
pub(crate) fn preparing<T>(interrupt: &AtomicBool, work: impl FnOnce(&mut prepare::Context<'_>) -> T) -> T {
    let mut progress = Progress::new();
    let waiting = Waiting { interrupt, progress: &mut |news| progress.tell(news) };
    work(&mut prepare::Context { backend: &HostBackend, waiting })
}
