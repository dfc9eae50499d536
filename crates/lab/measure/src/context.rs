//! What all boots of a Kernel have in common.

use std::sync::atomic::AtomicBool;

use machine::TimeoutScale;

use crate::event::Progress;

/// How long a machine may take, what stops it, and where its progress goes.
pub(super) struct Context<'a> {
    pub(super) timeouts: TimeoutScale,
    pub(super) interrupt: &'a AtomicBool,
    pub(super) emit: &'a dyn Fn(Progress),
}
