//! Repeats an operation and looks at the clock.

use harness::check::{Checked, Stop};
use harness::sys::time_stamp;
use protocol::measure::{Clock, EMPTY_REPETITIONS, Samples, WARM_UP};
use rustix::time::{ClockId, clock_gettime};

use super::marks;

/// How often an operation is repeated.
#[derive(Debug)]
struct Repetitions {
    /// So many come first and are forgotten.
    warm_up: usize,
    /// At least, however dear it is.
    min: usize,
    /// At most.
    max: usize,
    /// No more than it takes until all together have cost so much, by the clock.
    enough: u64,
}

/// Instructions are the same each time but for what comes now and then: some repetitions tell which is which.
const COUNTED: Repetitions = Repetitions { warm_up: WARM_UP, min: 5, max: 8, enough: 1_000_000 };

/// Times are not.
const TIMED: Repetitions = Repetitions { warm_up: WARM_UP, min: 9, max: 32, enough: 10_000_000 };

/// What is recorded is looked at, and nothing is derived from it.
const RECORDED: Repetitions = Repetitions { warm_up: 0, min: 1, max: 1, enough: 0 };

/// Shortest time that a clock in nanoseconds can tell from another one.
const BATCH_NANOSECONDS: u64 = 20_000;

/// How much longer than a look at the clock a sample is: in a machine without a clock of its own such a look takes
/// microseconds, now more and now less.
const LOOKS: u64 = 20;

/// Looks at a clock in nanoseconds of which the shortest is taken for what a look costs.
const EMPTY_TIMES: usize = 64;

/// Most operations that are timed together.
const BATCH_MAX: u32 = 1000;

/// Counts what an operation costs.
///
/// Under the clock of instructions a repetition counts as *ticked* when the kernel's timer interrupt came in it:
/// `CLOCK_MONOTONIC_COARSE`, which only that interrupt moves, is another one after it.
#[derive(Debug)]
pub struct Meter {
    clock: Clock,
    repetitions: &'static Repetitions,
    /// What looking at the clock costs.
    own_cost: u64,
    /// Repetitions so far, with those that warm up.
    made: usize,
    /// Operations that are timed together.
    batch: u32,
    samples: Samples,
}

impl Meter {
    pub(super) fn new(clock: Clock) -> Self {
        let repetitions = match clock {
            Clock::Instructions { .. } => &COUNTED,
            Clock::Nanoseconds => &TIMED,
        };
        let (costs, ticked) = (Vec::with_capacity(repetitions.max), Vec::with_capacity(repetitions.max));
        let samples = Samples { costs, ticked };
        let empty = Self { clock, repetitions, own_cost: 0, made: 0, batch: 1, samples };
        // The second look finds the code translated and its pages there.
        let looks = match clock {
            Clock::Instructions { .. } => EMPTY_REPETITIONS,
            Clock::Nanoseconds => EMPTY_TIMES,
        };
        let own_cost = (0..looks).map(|_| empty.look(|| ()).1).min().unwrap_or(0);
        Self { own_cost, ..empty }
    }

    /// The same for an operation that is done once, while the kernel records.
    pub(super) fn of_recording(clock: Clock) -> Self {
        Self { repetitions: &RECORDED, ..Self::new(clock) }
    }

    /// Whether the kernel records meanwhile.
    pub(super) fn is_of_recording(&self) -> bool {
        self.repetitions.max == RECORDED.max
    }

    pub(super) fn into_samples(self) -> Samples {
        self.samples
    }

    /// Measures `operation`, over and over.
    ///
    /// # Errors
    ///
    /// The first error of the operation.
    pub fn each<T, E>(&mut self, mut operation: impl FnMut() -> Result<T, E>) -> Checked
    where
        Stop: From<E>,
    {
        while self.wants_more() {
            let batch = self.batch;
            let mut several = || -> Result<(), E> {
                for _ in 0..batch {
                    operation()?;
                }
                Ok(())
            };
            let (result, cost, ticked) = self.repetition(&mut several);
            result?;
            if !self.adapt(cost) {
                self.note(cost / u64::from(batch), ticked);
            }
        }
        Ok(())
    }

    /// Measures `operation`, over and over, each time between `before` and `after`, which are not measured.
    /// What `before` gives goes to the operation, and with its result to `after`.
    ///
    /// # Errors
    ///
    /// The first error of any of them.
    pub fn around<P, T, E>(
        &mut self,
        mut before: impl FnMut() -> Checked<P>,
        mut operation: impl FnMut(&mut P) -> Result<T, E>,
        mut after: impl FnMut(P, T) -> Checked,
    ) -> Checked
    where
        Stop: From<E>,
    {
        while self.wants_more() {
            let mut prepared = before()?;
            let (result, cost, ticked) = self.repetition(&mut || operation(&mut prepared));
            after(prepared, result?)?;
            self.note(cost, ticked);
        }
        Ok(())
    }

    fn wants_more(&self) -> bool {
        let spent: u64 = self.samples.costs.iter().map(|cost| cost * u64::from(self.batch)).sum();
        let (count, repetitions) = (self.samples.costs.len(), self.repetitions);
        count < repetitions.min || (count < repetitions.max && spent < repetitions.enough)
    }

    /// Times more operations together when they are too short for the clock, and warms up once more: the first ones
    /// take much longer than those that are measured. Whether it was so.
    fn adapt(&mut self, cost: u64) -> bool {
        let least = BATCH_NANOSECONDS.max(LOOKS * self.own_cost);
        let is_short = cost < least && self.samples.costs.is_empty() && self.batch < BATCH_MAX;
        let adapts = self.clock == Clock::Nanoseconds && is_short;
        if adapts {
            let more = least.div_ceil(cost.max(1)).saturating_mul(u64::from(self.batch));
            self.batch = u32::try_from(more).unwrap_or(BATCH_MAX).min(BATCH_MAX);
            self.made = 0;
        }
        adapts
    }

    fn note(&mut self, cost: u64, ticked: bool) {
        self.made += 1;
        if self.made > self.repetitions.warm_up {
            if ticked {
                self.samples.ticked.push(u32::try_from(self.samples.costs.len()).unwrap_or(u32::MAX));
            }
            self.samples.costs.push(cost);
        }
    }

    /// Does it once; gives its result, its cost, and whether the timer interrupt came.
    fn repetition<T>(&self, operation: &mut impl FnMut() -> T) -> (T, u64, bool) {
        let tick = clock_gettime(ClockId::MonotonicCoarse);
        let (result, cost) = self.look(operation);
        let ticked = clock_gettime(ClockId::MonotonicCoarse) != tick;
        (result, cost.saturating_sub(self.own_cost), ticked)
    }

    #[inline(always)]
    fn look<T>(&self, mut operation: impl FnMut() -> T) -> (T, u64) {
        match self.clock {
            Clock::Instructions { shift } => {
                marks::begin();
                let start = time_stamp();
                let result = operation();
                let end = time_stamp();
                marks::end();
                (result, end.wrapping_sub(start) >> shift)
            }
            Clock::Nanoseconds => {
                let start = nanoseconds();
                let result = operation();
                (result, nanoseconds().wrapping_sub(start))
            }
        }
    }
}

fn nanoseconds() -> u64 {
    let now = clock_gettime(ClockId::MonotonicRaw);
    u64::try_from(now.tv_sec * 1_000_000_000 + now.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(meter: &mut Meter, cost: u64) {
        if !meter.adapt(cost) {
            meter.note(cost / u64::from(meter.batch), false);
        }
    }

    #[test]
    fn what_is_short_once_it_is_warm_is_timed_in_batches() {
        let mut meter = Meter { own_cost: 100, ..Meter::new(Clock::Nanoseconds) };
        // Code is translated, pages are found.
        repeated(&mut meter, 90_000);
        repeated(&mut meter, 30_000);
        assert_eq!((meter.batch, meter.samples.costs.len()), (1, 0));
        repeated(&mut meter, 400);
        assert_eq!((meter.batch, meter.samples.costs.len()), (50, 0));
        [60_000, 25_000].iter().for_each(|cost| repeated(&mut meter, *cost));
        assert_eq!(meter.samples.costs.len(), 0);
        [21_000, 22_000, 19_000].iter().for_each(|cost| repeated(&mut meter, *cost));
        // The batch stays as it is once something was noted.
        assert_eq!((meter.batch, &meter.samples.costs[..]), (50, &[420, 440, 380][..]));
    }

    #[test]
    fn a_sample_is_longer_than_many_looks_at_the_clock() {
        let mut meter = Meter { own_cost: 8_000, ..Meter::new(Clock::Nanoseconds) };
        repeated(&mut meter, 40_000);
        assert_eq!(meter.batch, 4);
        repeated(&mut meter, 0);
        assert_eq!(meter.batch, BATCH_MAX);
        (0..=WARM_UP).for_each(|_| repeated(&mut meter, 0));
        assert_eq!(meter.samples.costs, [0]);
    }

    #[test]
    fn what_is_recorded_is_done_once() {
        let mut meter = Meter::of_recording(Clock::Instructions { shift: 0 });
        let mut done = 0;
        meter
            .each(|| -> Result<(), Stop> {
                done += 1;
                Ok(())
            })
            .expect("nothing fails");
        assert_eq!((done, meter.into_samples().costs.len()), (1, 1));
    }

    #[test]
    fn instructions_are_counted_one_by_one() {
        let mut meter = Meter { own_cost: 9, ..Meter::new(Clock::Instructions { shift: 0 }) };
        (0..=WARM_UP).for_each(|_| repeated(&mut meter, 10));
        assert_eq!((meter.batch, &meter.samples.costs[..]), (1, &[10][..]));
    }
}
