//! Whether kiln itself was looking.

use std::time::{Duration, Instant};

/// Whoever looks several times a second and did not for so long was kept from it.
const BLINK: Duration = Duration::from_secs(2);

/// Adds up the time in which nobody looked: kiln was stopped, by a shell or with its host, or waited for whoever
/// reads its output. A machine that was silent meanwhile may have said much.
#[derive(Debug)]
pub(super) struct Attention {
    looked: Instant,
    missed: Duration,
}

impl Attention {
    /// Somebody looks from `now` on, several times a second.
    pub(super) fn new(now: Instant) -> Self {
        Self { looked: now, missed: Duration::ZERO }
    }

    /// Looks at `now`; gives all the time that was missed.
    pub(super) fn missed(&mut self, now: Instant) -> Duration {
        let since = now.saturating_duration_since(self.looked);
        self.looked = now;
        if since > BLINK {
            self.missed += since;
        }
        self.missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_longer_than_a_blink_is_missed() {
        let start = Instant::now();
        let mut attention = Attention::new(start);
        let at = |millis| start + Duration::from_millis(millis);
        assert_eq!(attention.missed(at(200)), Duration::ZERO);
        assert_eq!(attention.missed(at(2200)), Duration::ZERO);
        assert_eq!(attention.missed(at(9200)), Duration::from_secs(7));
        assert_eq!(attention.missed(at(9000)), Duration::from_secs(7), "clocks of CPUs may differ");
    }
}
