//! What is counted, in memory that outlives the threads and their process.
//!
//! Only thread A counts; its supervisor may look at any time.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering::*};

use protocol::race::{ClockSource, Delays, Ended, FirstHit, RaceReport, Spread, Statistics};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

use crate::coverage::Coverage;
use crate::plan::Plan;
use crate::race::Judgement;
use crate::statistics::median;
use crate::whereabouts::Whereabouts;

/// Hits whose delays are remembered for their median.
const REMEMBERED: usize = 64;

/// The ends of a race, by their numbers in a tally.
const ENDS: [Ended; 7] =
    [Ended::Running, Ended::Hits, Ended::Time, Ended::Rounds, Ended::Signal, Ended::Hang, Ended::Taint];

/// Counters of a race. All zeroes is one that has not begun.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Tally {
    over: Line<AtomicBool>,
    sides: [Whereabouts; 2],
    has_begun: AtomicBool,
    ended: AtomicU8,
    is_one_cpu: AtomicBool,
    is_monotonic: AtomicBool,
    is_settled: AtomicBool,
    is_known: AtomicBool,
    rounds: AtomicU64,
    hits: AtomicU64,
    early: AtomicU64,
    late: AtomicU64,
    useless: AtomicU64,
    pub(crate) disturbed: AtomicU64,
    pub(crate) sampling: AtomicU64,
    elapsed_ns: AtomicU64,
    first_round: AtomicU64,
    first_elapsed_ns: AtomicU64,
    first_delay: AtomicI64,
    /// Hits of which the delay is known.
    delays: AtomicU64,
    min_delay: AtomicI64,
    max_delay: AtomicI64,
    last_delays: [AtomicI64; REMEMBERED],
    /// Median and deviation of A, B, starts and ends, in nanoseconds.
    statistics: [[AtomicI64; 2]; 4],
    pub(crate) coverage: Coverage,
}

/// What a thread polls is in no cache line that another one writes.
#[derive(Debug)]
#[repr(align(128))]
struct Line<T>(T);

fn number(end: Ended) -> u8 {
    ENDS.iter().position(|&it| it == end).unwrap_or_default() as u8
}

/// A counter that only this thread changes goes one further.
pub(crate) fn increment(counter: &AtomicU64) -> u64 {
    let count = counter.load(Relaxed) + 1;
    counter.store(count, Relaxed);
    count
}

impl Default for Tally {
    fn default() -> Self {
        Self::new()
    }
}

impl Tally {
    /// One of a race that has not begun.
    #[must_use]
    pub fn new() -> Self {
        // SAFETY: all fields are atomics, or arrays of them, of which all zeroes are valid values.
        unsafe { std::mem::zeroed() }
    }

    /// One that this process shares with all children it makes from now on.
    ///
    /// # Errors
    ///
    /// When mmap(2) fails.
    pub fn shared() -> Result<&'static Self, Errno> {
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address that the kernel chooses; it is never unmapped.
        let memory = unsafe { mmap_anonymous(std::ptr::null_mut(), size_of::<Self>(), access, flags)? };
        // SAFETY: mapped for ever, aligned to a page, all zeroes, and everybody uses it as atomics.
        Ok(unsafe { &*memory.cast::<Self>() })
    }

    /// The race begins.
    pub(crate) fn begin(&self, is_one_cpu: bool, clock: ClockSource) {
        self.is_one_cpu.store(is_one_cpu, Relaxed);
        self.is_monotonic.store(clock == ClockSource::Monotonic, Relaxed);
        self.has_begun.store(true, Relaxed);
    }

    /// It has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.load(Relaxed)
    }

    /// Rounds that have ended.
    pub(crate) fn rounds(&self) -> u64 {
        self.rounds.load(Relaxed)
    }

    /// Where both threads are.
    pub(crate) fn sides(&self) -> [&Whereabouts; 2] {
        self.sides.each_ref()
    }

    /// What is set when it is over.
    pub(crate) fn over(&self) -> &AtomicBool {
        &self.over.0
    }

    /// It has ended, or shall.
    pub(crate) fn is_over(&self) -> bool {
        self.over.0.load(Relaxed)
    }

    /// Ends it; only the first reason counts.
    pub(crate) fn end(&self, why: Ended) {
        let _ = self.ended.compare_exchange(number(Ended::Running), number(why), Relaxed, Relaxed);
        self.over.0.store(true, Relaxed);
    }

    /// Ends it for a reason that outweighs all others.
    pub(crate) fn end_with(&self, why: Ended) {
        self.ended.store(number(why), Relaxed);
        self.over.0.store(true, Relaxed);
    }

    /// So much time has passed, in nanoseconds.
    pub(crate) fn elapse(&self, ns: u64) {
        self.elapsed_ns.store(ns, Relaxed);
    }

    /// Counts a round by its judgement and, if it is known, its delay in nanoseconds. Gives the number of hits.
    pub(crate) fn judged(&self, judgement: Judgement, delay: Option<i64>) -> u64 {
        let round = increment(&self.rounds);
        match judgement {
            Judgement::Hit => self.hit(round, delay),
            Judgement::Miss => 0,
            Judgement::Early => increment(&self.early),
            Judgement::Late => increment(&self.late),
            Judgement::Useless => increment(&self.useless),
        };
        self.hits.load(Relaxed)
    }

    fn hit(&self, round: u64, delay: Option<i64>) -> u64 {
        if let Some(delay) = delay {
            let number = self.delays.load(Relaxed);
            self.last_delays[number as usize % REMEMBERED].store(delay, Relaxed);
            let is_first = number == 0;
            let (min, max) = (self.min_delay.load(Relaxed), self.max_delay.load(Relaxed));
            self.min_delay.store(if is_first { delay } else { min.min(delay) }, Relaxed);
            self.max_delay.store(if is_first { delay } else { max.max(delay) }, Relaxed);
            increment(&self.delays);
        }
        if self.hits.load(Relaxed) == 0 {
            self.first_elapsed_ns.store(self.elapsed_ns.load(Relaxed), Relaxed);
            self.first_delay.store(delay.unwrap_or(i64::MIN), Relaxed);
            self.first_round.store(round, Relaxed);
        }
        increment(&self.hits)
    }

    /// The lengths are known.
    pub(crate) fn know(&self, spreads: [Spread; 4], is_settled: bool) {
        for (places, spread) in self.statistics.iter().zip(spreads) {
            places[0].store(spread.median_ns, Relaxed);
            places[1].store(spread.deviation_ns, Relaxed);
        }
        self.is_settled.store(is_settled, Relaxed);
        self.is_known.store(true, Relaxed);
    }

    /// What it came to so far.
    #[must_use]
    pub fn report(&self, plan: &Plan) -> RaceReport {
        let count = |counter: &AtomicU64| counter.load(Relaxed);
        let source = if self.is_monotonic.load(Relaxed) { ClockSource::Monotonic } else { ClockSource::Tsc };
        RaceReport {
            strategy: plan.strategy,
            seed: plan.seed,
            ended: ENDS.get(usize::from(self.ended.load(Relaxed))).copied().unwrap_or(Ended::Running),
            elapsed_us: count(&self.elapsed_ns) / 1000,
            rounds: count(&self.rounds),
            hits: count(&self.hits),
            first_hit: self.first_hit(),
            hit_delays: self.hit_delays(),
            early: count(&self.early),
            late: count(&self.late),
            useless: count(&self.useless),
            disturbed: count(&self.disturbed),
            sampling: count(&self.sampling),
            settled: self.is_settled.load(Relaxed),
            range: self.coverage.range(),
            statistics: self.statistics().filter(|_| plan.statistics),
            one_cpu: self.is_one_cpu.load(Relaxed),
            clock: source,
            detail: None,
        }
    }

    fn first_hit(&self) -> Option<FirstHit> {
        let round = self.first_round.load(Relaxed);
        (round > 0).then(|| FirstHit {
            round,
            elapsed_us: self.first_elapsed_ns.load(Relaxed) / 1000,
            delay_ns: Some(self.first_delay.load(Relaxed)).filter(|&delay| delay != i64::MIN),
        })
    }

    fn hit_delays(&self) -> Option<Delays> {
        let count = (self.delays.load(Relaxed) as usize).min(REMEMBERED);
        let mut last = self.last_delays.each_ref().map(|delay| delay.load(Relaxed));
        (count > 0).then(|| Delays {
            min_ns: self.min_delay.load(Relaxed),
            median_ns: median(&mut last[..count]),
            max_ns: self.max_delay.load(Relaxed),
        })
    }

    fn statistics(&self) -> Option<Statistics> {
        let [a, b, starts, ends] = self.statistics.each_ref().map(|[median, deviation]| Spread {
            median_ns: median.load(Relaxed),
            deviation_ns: deviation.load(Relaxed),
        });
        self.is_known.load(Relaxed).then_some(Statistics { a, b, starts, ends })
    }
}
