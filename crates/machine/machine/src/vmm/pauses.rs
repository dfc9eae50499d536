//! Detects pauses of kiln itself.

use std::time::{Duration, Instant};

/// kiln looks several times a second; a longer gap is a pause.
const GAP: Duration = Duration::from_secs(2);

/// Adds up the time in which kiln was stopped, by a shell or with its host, or waited for the reader of its output. A
/// machine that seems silent may have written much in that time.
#[derive(Debug)]
pub(super) struct PauseDetector {
    looked: Instant,
    paused: Duration,
}

impl PauseDetector {
    /// kiln looks from `now` on.
    pub(super) fn new(now: Instant) -> Self {
        Self { looked: now, paused: Duration::ZERO }
    }

    /// Looks at `now`; gives the sum of all pauses.
    pub(super) fn paused(&mut self, now: Instant) -> Duration {
        let since = now.saturating_duration_since(self.looked);
        self.looked = now;
        if since > GAP {
            self.paused += since;
        }
        self.paused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_long_gap_is_a_pause() {
        let start = Instant::now();
        let mut pauses = PauseDetector::new(start);
        let at = |millis| start + Duration::from_millis(millis);
        assert_eq!(pauses.paused(at(200)), Duration::ZERO);
        assert_eq!(pauses.paused(at(2200)), Duration::ZERO);
        assert_eq!(pauses.paused(at(9200)), Duration::from_secs(7));
        assert_eq!(pauses.paused(at(9000)), Duration::from_secs(7), "clocks of CPUs may differ");
    }
}
