//! The memory that the engine shares with its workers.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use harness::memory::Area;
use protocol::results::Page;
use protocol::stress::report::FIGURES_MAX;
use rustix::io::Errno;
use rustix::mm::MapFlags;
use rustix::thread::futex;
use rustix::time::{ClockId, clock_gettime};

/// What all workers look at.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Control {
    has_started: AtomicU32,
    stops: AtomicU32,
}

impl Control {
    /// Lets all workers begin.
    pub(crate) fn start(&self) {
        self.has_started.store(1, Ordering::Release);
        // Nobody may be waiting yet.
        let _ = futex::wake(&self.has_started, futex::Flags::empty(), i32::MAX.unsigned_abs());
    }

    /// Waits until all workers may begin.
    pub(crate) fn wait_for_start(&self) {
        while self.has_started.load(Ordering::Acquire) == 0 {
            // Woken early it looks again.
            let _ = futex::wait(&self.has_started, futex::Flags::empty(), 0, None);
        }
    }

    /// Asks all workers to come to an end.
    pub(crate) fn stop(&self) {
        self.stops.store(1, Ordering::Relaxed);
    }

    /// Whether workers are asked to come to an end.
    pub(crate) fn stops(&self) -> bool {
        self.stops.load(Ordering::Relaxed) != 0
    }
}

/// What one worker counts.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Counters {
    pub(crate) operations: AtomicU64,
    /// When its work began, by `CLOCK_MONOTONIC` in nanoseconds; 0 before.
    began: AtomicU64,
    /// When its work ended.
    ended: AtomicU64,
    /// Figures by their place in the stressor's list: bits of an `f64`; 0 for those that were not measured.
    rates: [AtomicU64; FIGURES_MAX],
}

impl Counters {
    pub(crate) fn begin(&self) {
        self.began.store(now_ns(), Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.ended.store(now_ns(), Ordering::Relaxed);
    }

    /// The time from begin to end, or until now if it has not come to its own end.
    pub(crate) fn wall_ns(&self) -> u64 {
        let began = self.began.load(Ordering::Relaxed);
        let ended = self.ended.load(Ordering::Relaxed);
        let until = if ended == 0 { now_ns() } else { ended };
        if began == 0 { 0 } else { until.saturating_sub(began) }
    }

    pub(crate) fn set_rate(&self, place: usize, value: f64) {
        if let Some(rate) = self.rates.get(place).filter(|_| value.is_finite()) {
            rate.store(value.to_bits(), Ordering::Relaxed);
        }
    }

    pub(crate) fn rate(&self, place: usize) -> Option<f64> {
        let bits = self.rates.get(place)?.load(Ordering::Relaxed);
        Some(f64::from_bits(bits)).filter(|value| bits != 0 && value.is_finite())
    }
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// The part of one worker.
#[repr(C, align(4096))]
#[derive(Debug)]
pub(crate) struct Desk {
    /// What its checks report.
    pub(crate) page: Page,
    pub(crate) counters: Counters,
}

#[repr(C, align(4096))]
struct Head(Control);

/// The whole; unmapped when it is dropped.
#[derive(Debug)]
pub(crate) struct Board {
    memory: Area,
    desks: usize,
}

impl Board {
    /// For this many workers.
    ///
    /// # Errors
    ///
    /// When there is no memory for it.
    pub(crate) fn new(desks: usize) -> Result<Self, Errno> {
        let size = desks.checked_mul(size_of::<Desk>()).ok_or(Errno::NOMEM)? + size_of::<Head>();
        let board = Self { memory: Area::new(size, MapFlags::SHARED | MapFlags::NORESERVE)?, desks };
        (0..desks).filter_map(|number| board.desk(number)).for_each(|desk| desk.page.prepare());
        Ok(board)
    }

    pub(crate) fn control(&self) -> &Control {
        // SAFETY: the mapping begins with a `Head` of atomics, for which all bytes are valid.
        unsafe { &(*self.memory.start.cast::<Head>()).0 }
    }

    pub(crate) fn desk(&self, number: usize) -> Option<&Desk> {
        let offset = size_of::<Head>() + number * size_of::<Desk>();
        // SAFETY: inside the mapping, aligned as it is, and made of atomics.
        (number < self.desks).then(|| unsafe { &*self.memory.start.add(offset).cast::<Desk>() })
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        // Nothing can be done about a mapping that stays.
        let _ = self.memory.unmap();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::ReportKind;

    #[test]
    fn each_worker_has_counters_and_a_page_of_its_own() {
        let board = Board::new(3).expect("memory");
        let desk = |number| board.desk(number).expect("a desk");
        desk(1).counters.operations.store(7, Ordering::Relaxed);
        desk(1).page.report(ReportKind::Fail, "seen");
        desk(2).counters.set_rate(3, 1.5);
        let counted: Vec<u64> =
            (0..3).map(|number| desk(number).counters.operations.load(Ordering::Relaxed)).collect();
        assert_eq!(counted, [0, 7, 0]);
        assert_eq!((desk(0).page.counts().fail, desk(1).page.counts().fail), (0, 1));
        assert_eq!((desk(2).counters.rate(3), desk(2).counters.rate(0)), (Some(1.5), None));
        assert!(board.desk(3).is_none());
    }

    #[test]
    fn odd_figures_are_not_kept() {
        let board = Board::new(1).expect("memory");
        let counters = &board.desk(0).expect("a desk").counters;
        counters.set_rate(0, f64::NAN);
        counters.set_rate(FIGURES_MAX, 1.0);
        assert_eq!((counters.rate(0), counters.rate(FIGURES_MAX)), (None, None));
    }
}
