//! How long before its start a round is planned: long enough for both threads to learn of it.

/// The lead to begin with, in nanoseconds.
const FIRST: u64 = 300;

/// The longest one, in nanoseconds.
const LONGEST: u64 = 100_000;

/// More than one missed start in so many rounds is too many.
const ACCEPTED: u32 = 16;

/// Missed starts, beyond the accepted ones, after which the lead is doubled.
const TOO_MANY: u32 = 8;

/// A lead in ticks, which grows where threads miss their starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lead {
    ticks: u64,
    longest: u64,
    excess: u32,
}

impl Lead {
    /// One in ticks, of which `ticks` says how many some nanoseconds are.
    pub(crate) fn new(ticks: impl Fn(u64) -> u64) -> Self {
        Self { ticks: ticks(FIRST), longest: ticks(LONGEST), excess: 0 }
    }

    pub(crate) fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Learns whether a thread has missed its start, and how late it began. One that began later than any lead helps
    /// against had lost its CPU.
    pub(crate) fn observe(&mut self, missed: bool, late: i64) {
        let missed = missed && late.unsigned_abs() < self.longest;
        self.excess = if missed { self.excess + ACCEPTED } else { self.excess.saturating_sub(1) };
        if self.excess > TOO_MANY * ACCEPTED {
            self.ticks = (self.ticks * 2).min(self.longest);
            self.excess = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_while_starts_are_missed_rarely() {
        let mut lead = Lead::new(|ns| 2 * ns);
        (0..10_000).for_each(|number| lead.observe(number % 20 == 0, 100));
        assert_eq!(lead.ticks(), 2 * FIRST);
    }

    #[test]
    fn it_grows_to_what_is_needed_and_no_further() {
        let mut lead = Lead::new(|ns| ns);
        for _ in 0..1000 {
            lead.observe(lead.ticks() < 2_000, 100);
        }
        assert_eq!(lead.ticks(), 2_400);
        (0..10_000).for_each(|_| lead.observe(true, 100));
        assert_eq!(lead.ticks(), LONGEST);
    }

    #[test]
    fn a_thread_without_its_cpu_needs_no_longer_lead() {
        let mut lead = Lead::new(|ns| ns);
        (0..10_000).for_each(|_| lead.observe(true, 3_000_000));
        assert_eq!(lead.ticks(), FIRST);
    }
}
