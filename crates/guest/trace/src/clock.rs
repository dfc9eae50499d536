//! The time of the events and the time of day.

use rustix::time::{ClockId, clock_gettime};

/// Tries, of which the one counts that took the shortest.
const TRIES: usize = 5;

/// Both clocks at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    /// CLOCK_MONOTONIC, in nanoseconds.
    pub(crate) monotonic_ns: u64,
    /// CLOCK_REALTIME, in nanoseconds.
    pub(crate) realtime_ns: u64,
    /// The time of day was read within so many nanoseconds.
    pub(crate) error_ns: u64,
}

impl Pair {
    /// Reads them.
    pub(crate) fn now() -> Self {
        let read = |_| {
            let (before, realtime_ns, after) = (
                nanoseconds(ClockId::Monotonic),
                nanoseconds(ClockId::Realtime),
                nanoseconds(ClockId::Monotonic),
            );
            let error_ns = after.saturating_sub(before).div_ceil(2);
            Self { monotonic_ns: before + error_ns, realtime_ns, error_ns }
        };
        let first = read(0);
        (1..TRIES).map(read).fold(first, |best, pair| if pair.error_ns < best.error_ns { pair } else { best })
    }
}

/// The time of a clock, in nanoseconds.
pub(crate) fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let part = |value: i64| u64::try_from(value).unwrap_or_default();
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_go_on() {
        let (first, second) = (Pair::now(), Pair::now());
        assert!(first.monotonic_ns <= second.monotonic_ns + second.error_ns);
        assert!(first.realtime_ns > 1_700_000_000_000_000_000, "{first:?}");
    }
}
