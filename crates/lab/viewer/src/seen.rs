//! An event and its surroundings.

use ctf::Event;

/// An event, and what earlier ones say about it.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The event.
    pub event: Event<'a>,
    /// What its thread is called, if that is known.
    pub comm: Option<&'a str>,
    /// The time of the first event, in nanoseconds on the clock of the trace.
    pub begin: u64,
}

impl Seen<'_> {
    /// Nanoseconds since the first event.
    #[must_use]
    pub fn since_begin(&self) -> u64 {
        self.event.time.saturating_sub(self.begin)
    }
}
