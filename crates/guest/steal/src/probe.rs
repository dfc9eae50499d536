//! A victim that never leaves user space, and knows what it should have done.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use harness::clock::monotonic;
use harness::counter::Counter;
use harness::random::mix;
use harness::sys::time_stamp;
use protocol::steal::{Pass, Work};

use crate::accounting;
use crate::affinity::pin;
use crate::gaps::{GapTally, scaled};
use crate::speed::Speed;

/// Mixes in a unit of work, between two looks at the time-stamp counter: some 50 ns.
const MIXES: u64 = 8;

/// Units between two looks at the flag that ends the probe early.
const UNITS: u64 = 64;

/// A probe that runs, as others see it.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    pub(crate) gaps: GapTally,
    pub(crate) stopped: AtomicBool,
    /// Units of work at the last gap.
    units: Counter,
}

/// A piece of the probe's life, in ticks of the time-stamp counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) units: u64,
    pub(crate) ticks: u64,
}

impl Probe {
    /// Works for so many ticks, or until it is stopped. It makes no system call.
    #[inline(never)]
    pub(crate) fn work(&self, ticks: u64, speed: &Speed) -> Stretch {
        let begin = time_stamp();
        let (mut last, mut units, mut state) = (begin, 0, begin);
        while last.wrapping_sub(begin) < ticks && !self.stopped.load(Relaxed) {
            for _ in 0..UNITS {
                state = unit(state);
                let now = time_stamp();
                let gap = now.wrapping_sub(last);
                if gap > speed.threshold {
                    self.gaps.record(gap.saturating_sub(speed.unit), speed.tick_ns);
                    self.units.set(units);
                }
                last = now;
                units += 1;
            }
        }
        black_box(state);
        Stretch { units, ticks: last.wrapping_sub(begin) }
    }

    /// A whole pass on this CPU, by the calling thread.
    ///
    /// # Errors
    ///
    /// When it cannot run there.
    pub(crate) fn pass(&self, cpu: u32, duration_ns: u64, speed: &Speed) -> Result<Pass, String> {
        pin(cpu).map_err(|error| format!("CPU {cpu}: {error}"))?;
        let times = accounting::cpu_times(cpu);
        let (begin, usage) = (monotonic(), accounting::of_this_thread());
        let stretch = self.work(speed.ticks(duration_ns), speed);
        let (usage, end) = (accounting::between(usage, accounting::of_this_thread()), monotonic());
        let times = accounting::since(times, accounting::cpu_times(cpu));
        Ok(Pass { usage, times, ..self.so_far(stretch, end.saturating_sub(begin), speed) })
    }

    /// What is known of a pass that has taken so long.
    pub(crate) fn until_now(&self, elapsed_ns: u64, speed: &Speed) -> Pass {
        self.so_far(Stretch { units: self.units.get(), ticks: speed.ticks(elapsed_ns) }, elapsed_ns, speed)
    }

    fn so_far(&self, stretch: Stretch, elapsed_ns: u64, speed: &Speed) -> Pass {
        // The clock is more precise over a whole pass than over the calibration.
        let tick_ns = elapsed_ns as f64 / stretch.ticks.max(1) as f64;
        let done_ns = scaled(stretch.units, speed.unit_ps as f64 / 1000.0);
        Pass {
            elapsed_ns: elapsed_ns.max(1),
            work: Some(Work { done_ns, gaps: self.gaps.gaps(tick_ns) }),
            ..Pass::default()
        }
    }
}

/// Some arithmetic that no compiler can shorten and no cache can disturb.
#[inline(always)]
fn unit(state: u64) -> u64 {
    (0..MIXES).fold(state, |state, _| mix(state))
}

/// How long a unit takes with the look at the time-stamp counter, in ticks: the median of so many.
pub(crate) fn sample(count: usize) -> u64 {
    let mut state = time_stamp();
    let mut last = state;
    let mut lengths: Vec<u64> = (0..count)
        .map(|_| {
            state = unit(state);
            let now = time_stamp();
            now.wrapping_sub(std::mem::replace(&mut last, now))
        })
        .collect();
    black_box(state);
    lengths.sort_unstable();
    lengths.get(count / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_with_its_time_and_early_when_it_is_stopped() {
        let speed = Speed { tick_ns: 1.0, unit: 1, unit_ps: 1000, threshold: u64::MAX };
        let probe = Probe::default();
        let stretch = probe.work(1_000_000, &speed);
        assert!(stretch.ticks >= 1_000_000 && stretch.units > 0, "{stretch:?}");
        assert_eq!((stretch.units % UNITS, probe.gaps.count()), (0, 0));
        probe.stopped.store(true, Relaxed);
        assert_eq!(probe.work(u64::MAX, &speed).units, 0);
    }

    #[test]
    fn all_time_is_work_or_a_gap_when_each_unit_is_one() {
        let speed = Speed { tick_ns: 1.0, unit: 0, unit_ps: 1000, threshold: 0 };
        let probe = Probe::default();
        let stretch = probe.work(100_000, &speed);
        assert_eq!((probe.gaps.sum(), probe.gaps.count()), (stretch.ticks, stretch.units));
    }

    #[test]
    fn a_unit_takes_time() {
        assert!(sample(101) > 0);
    }
}
