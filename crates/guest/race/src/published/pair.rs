//! What its threads share.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::*};

/// What both threads share, as the library has it: close together.
#[derive(Debug, Default)]
pub(super) struct Pair {
    /// How often the other thread has arrived, for each.
    pub(super) arrivals: [AtomicU64; 2],
    /// Loops that a thread waited for the other one's end.
    pub(super) spins: AtomicI64,
    pub(super) delay: AtomicI64,
    pub(super) start: [AtomicI64; 2],
    pub(super) end: [AtomicI64; 2],
}

impl Pair {
    /// From the start of A to the start of B, in nanoseconds.
    pub(super) fn starts(&self) -> i64 {
        self.start[1].load(Relaxed) - self.start[0].load(Relaxed)
    }
}
