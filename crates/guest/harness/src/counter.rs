//! Numbers that one thread changes while others read them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A number with one writer. What the writer does to it takes no more than a plain variable would, and a reader sees one
/// of its values.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// A number that begins with `value`.
    #[must_use]
    pub const fn new(value: u64) -> Self {
        Self(AtomicU64::new(value))
    }

    /// Its value.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    /// Changes its value.
    pub fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    /// Adds to it, up to the largest value that there is.
    pub fn add(&self, more: u64) {
        self.set(self.get().saturating_add(more));
    }

    /// Makes it `value`, unless it is larger.
    pub fn raise(&self, value: u64) {
        if value > self.get() {
            self.set(value);
        }
    }

    /// Makes it `value`, unless it is smaller.
    pub fn lower(&self, value: u64) {
        if value < self.get() {
            self.set(value);
        }
    }
}
