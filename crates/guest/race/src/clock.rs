//! A clock that both threads agree on, with as little cost as there is.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::thread::scope;

use harness::clock::monotonic;
use harness::sys::time_stamp;
use protocol::race::ClockSource;
use rustix::process::{TimeStampCounterReadability, time_stamp_counter_readability};
use rustix::thread::sched_getaffinity;

use crate::barrier::{Barrier, Party, Wait};

/// How long the rate of the time-stamp counter is measured, twice, in nanoseconds.
const MEASURED: u64 = 1_000_000;

/// Looks at both clocks of which the quickest counts.
const LOOKS: usize = 16;

/// How much the two rates may differ.
const TOLERANCE: f64 = 0.02;

/// How often two threads in turn must find that the counter has gone on.
const EXCHANGES: usize = 256;

/// A clock that ticks at a constant rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    source: ClockSource,
    ns_per_tick: f64,
}

impl Clock {
    /// `CLOCK_MONOTONIC`, which every kernel has.
    pub const MONOTONIC: Self = Self { source: ClockSource::Monotonic, ns_per_tick: 1.0 };

    /// The time-stamp counter if it can be relied on, else [`Self::MONOTONIC`].
    #[must_use]
    pub fn best() -> Self {
        let is_readable =
            time_stamp_counter_readability().is_ok_and(|it| it == TimeStampCounterReadability::Readable);
        let rate = if is_readable { steady_rate() } else { None };
        match rate.filter(|_| cpus() < 2 || agrees_between_cpus()) {
            Some(ns_per_tick) => Self { source: ClockSource::Tsc, ns_per_tick },
            None => Self::MONOTONIC,
        }
    }

    /// What it reads.
    #[must_use]
    pub fn source(self) -> ClockSource {
        self.source
    }

    /// The time in ticks.
    #[must_use]
    #[inline(always)]
    pub fn now(self) -> u64 {
        match self.source {
            ClockSource::Tsc => time_stamp(),
            ClockSource::Monotonic => monotonic(),
        }
    }

    /// Ticks in nanoseconds.
    #[must_use]
    pub fn ns(self, ticks: i64) -> i64 {
        (ticks as f64 * self.ns_per_tick).round() as i64
    }

    /// Nanoseconds in ticks.
    #[must_use]
    pub fn ticks(self, ns: u64) -> u64 {
        (ns as f64 / self.ns_per_tick).round() as u64
    }
}

/// CPUs that this thread may run on.
#[must_use]
pub fn cpus() -> u32 {
    sched_getaffinity(None).map_or(1, |set| set.count())
}

/// Both clocks at one moment.
#[derive(Clone, Copy)]
struct Look {
    stamp: u64,
    ns: u64,
    /// The time between looks at the one clock before and after that at the other.
    took: u64,
}

fn look() -> Look {
    let one = || {
        let (before, stamp, after) = (monotonic(), time_stamp(), monotonic());
        Look { stamp, ns: u64::midpoint(before, after), took: after - before }
    };
    (0..LOOKS).map(|_| one()).min_by_key(|look| look.took).unwrap_or_else(one)
}

/// Nanoseconds for each tick of the time-stamp counter, if it is steady.
fn steady_rate() -> Option<f64> {
    let first = look();
    let [second, third] = [1, 2].map(|number| {
        while monotonic() < first.ns + number * MEASURED {}
        look()
    });
    let rate = |from: Look, to: Look| {
        let ticks = to.stamp.checked_sub(from.stamp).filter(|&ticks| ticks > 0)?;
        Some((to.ns - from.ns) as f64 / ticks as f64)
    };
    let (early, late) = (rate(first, second)?, rate(second, third)?);
    let is_steady = early > 0.0 && (late / early - 1.0).abs() < TOLERANCE;
    is_steady.then(|| rate(first, third)).flatten()
}

/// Whether the counters of the CPUs that two threads run on agree: each thread in turn must find a later time than the
/// other one found before.
fn agrees_between_cpus() -> bool {
    let (barrier, over) = (Barrier::default(), AtomicBool::new(false));
    let (last, goes_back) = (AtomicU64::new(0), AtomicBool::new(false));
    let turns = |mut party: Party, me: usize| {
        for number in 0..EXCHANGES {
            if number % 2 == me {
                let now = ordered_stamp();
                goes_back.fetch_or(now < last.swap(now, Relaxed), Relaxed);
            }
            if party.meet().is_err() {
                return;
            }
        }
    };
    let [a, b] = barrier.parties(Wait::new(&over, false));
    scope(|threads| {
        threads.spawn(|| turns(b, 1));
        turns(a, 0);
    });
    !goes_back.into_inner()
}

/// The time-stamp counter, not before all that comes earlier in the program was done.
fn ordered_stamp() -> u64 {
    // SAFETY: an instruction of every x86-64 processor; it only waits.
    unsafe { std::arch::asm!("lfence", options(nostack, preserves_flags)) };
    time_stamp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_clock_goes_on_as_the_kernel_says() {
        let clock = Clock::best();
        let (ns, ticks) = (monotonic(), clock.now());
        while monotonic() < ns + 5_000_000 {}
        let ticks = clock.now() - ticks;
        // It may have been preempted before its last look, so this can only be too much.
        assert!(clock.ns(ticks as i64) >= 4_800_000, "{clock:?}: {ticks} ticks");
    }

    #[test]
    fn ticks_and_nanoseconds_are_each_other() {
        let clock = Clock { source: ClockSource::Tsc, ns_per_tick: 0.4 };
        assert_eq!((clock.ns(-25), clock.ticks(10)), (-10, 25));
        assert_eq!(Clock::MONOTONIC.ns(i64::from(i32::MIN)), i64::from(i32::MIN));
        for ns in (0..40).map(|power| 3_u64 << power) {
            assert!(clock.ns(clock.ticks(ns) as i64).abs_diff(ns as i64) <= 1);
        }
    }
}
