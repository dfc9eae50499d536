//! How fast the probe is.

use crate::gaps::scaled;

/// What the probe needs to know of itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Speed {
    /// A tick of the time-stamp counter, in nanoseconds.
    pub(crate) tick_ns: f64,
    /// A unit of work, in ticks and in picoseconds.
    pub(crate) unit: u64,
    pub(crate) unit_ps: u64,
    /// A gap is longer than so many ticks.
    pub(crate) threshold: u64,
}

impl Speed {
    /// Nanoseconds in ticks.
    pub(crate) fn ticks(&self, ns: u64) -> u64 {
        scaled(ns, 1.0 / self.tick_ns)
    }
}
