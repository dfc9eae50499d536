//! Where the clock of a trace stands in the time of day.

use protocol::trace::Alignment;

/// What is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Its time 0, in nanoseconds since 1970.
    pub offset: i64,
    /// The offset is known up to this, in nanoseconds.
    pub error_ns: u64,
    /// The time of day is that of this host, not of the machine that was recorded.
    pub is_aligned: bool,
}

impl Clock {
    /// The error in microseconds.
    #[must_use]
    pub fn error_us(self) -> u64 {
        self.error_ns.div_ceil(1000)
    }

    /// By what a kernel says of its own clocks.
    pub(crate) fn own(found: Alignment) -> Self {
        Self { offset: offset(found), error_ns: found.error_ns, is_aligned: false }
    }

    /// By the clock of this host at the begin.
    pub(crate) fn aligned(begin: Alignment) -> Self {
        Self { is_aligned: true, ..Self::own(begin) }
    }

    /// The same with what was found at the end: clocks do not run equally fast, so both are right in the middle.
    pub(crate) fn with_end(self, end: Alignment) -> Self {
        let last = offset(end);
        let apart = self.offset.abs_diff(last);
        let half = i64::try_from(apart / 2).unwrap_or_default();
        let offset = self.offset.min(last).saturating_add(half);
        Self { offset, error_ns: (apart - apart / 2).saturating_add(self.error_ns.max(end.error_ns)), ..self }
    }
}

/// The time of day when the monotonic clock was 0.
fn offset(Alignment { monotonic_ns, realtime_ns, .. }: Alignment) -> i64 {
    i64::try_from(i128::from(realtime_ns) - i128::from(monotonic_ns)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_clocks_drift_apart_is_error() {
        let found = |monotonic_ns, realtime_ns, error_ns| Alignment { monotonic_ns, realtime_ns, error_ns };
        let begin = Clock::aligned(found(1000, 1_000_001_000, 5));
        assert_eq!(begin, Clock { offset: 1_000_000_000, error_ns: 5, is_aligned: true });
        for (later, offset) in [(1_000_002_010, 1_000_000_005), (1_000_001_990, 999_999_995)] {
            let both = begin.with_end(found(2000, later, 3));
            assert_eq!(both, Clock { offset, error_ns: 10, is_aligned: true });
        }
        assert_eq!(begin.with_end(found(2000, 1_000_002_001, 9)).error_ns, 10);
    }

    #[test]
    fn lies_of_a_guest_do_not_overflow() {
        let found = |monotonic_ns, realtime_ns| Alignment { monotonic_ns, realtime_ns, error_ns: u64::MAX };
        let lie = Clock::aligned(found(0, u64::MAX / 2)).with_end(found(u64::MAX / 2, 0));
        assert_eq!(lie.error_ns, u64::MAX);
        assert_eq!(Clock::own(found(u64::MAX, 0)).offset, 0);
    }
}
