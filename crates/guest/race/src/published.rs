//! The algorithm of the Linux Test Project's fuzzy synchronisation library, `tst_fuzzy_sync.h`, for comparison.
//!
//! Written from a description of it, with its defaults. It samples until the relative deviations of five averages are
//! small, then delays one of the threads by a random number of loops that do nothing.
//!
//! * [`pair`]: what its threads share; [`delays`]: its averages, and the delays that it makes of them

mod delays;
mod pair;

use std::sync::atomic::{AtomicI64, Ordering::*};

use harness::check::Checked;
use rustix::thread::sched_yield;
use rustix::time::{ClockId, clock_gettime};

use crate::barrier::Over;
use crate::counter::Counter;
use crate::outcome::Outcome;
use crate::race::Race;
use crate::setting::Setting;
use crate::tally::Tally;
use crate::whereabouts::{Doing, Whereabouts};
use delays::Delays;
use pair::Pair;

/// Runs a race.
///
/// # Errors
///
/// Those of set-ups and judgement.
pub(crate) fn run<A, B: Send>(race: Race<A, B>, setting: &Setting) -> Checked {
    let Race { mut setup_a, mut a, mut setup_b, mut b, mut judge } = race;
    let tally = setting.tally;
    let (pair, outcome) = (Pair::default(), Outcome::new());
    let [side_a, side_b] = [0, 1].map(|me| Side {
        pair: &pair,
        tally,
        me,
        yields: setting.one_cpu,
        whereabouts: tally.sides()[me],
    });
    let is_ordered = setup_b.is_some();
    let mut delays = Delays::new(setting.plan.seed);
    let rounds_of_a = || {
        let counter = Counter::begin(setting);
        while counter.goes_on() {
            delays.hurry(counter.used(), tally);
            side_a.meet()?;
            side_a.whereabouts.set(Doing::Setup);
            setup_a.as_mut().map_or(Ok(()), |setup| setup())?;
            if is_ordered {
                side_a.meet()?;
            }
            delays.update(&pair, tally);
            side_a.meet()?;
            let of_a = side_a.perform(&mut *a);
            side_a.meet_counting()?;
            side_a.whereabouts.set(Doing::Judging);
            let judgement = outcome.judge(&mut judge, &of_a)?;
            delays.bias(judgement);
            counter.count(judgement, Some(pair.starts()));
        }
        Ok(())
    };
    let rounds_of_b = || loop {
        side_b.meet()?;
        if let Some(setup) = &mut setup_b {
            side_b.meet()?;
            side_b.whereabouts.set(Doing::Setup);
            setup()?;
        }
        side_b.meet()?;
        outcome.put(side_b.perform(&mut *b));
        side_b.meet_counting()?;
    };
    crate::pair::run(tally, rounds_of_a, rounds_of_b)
}

/// A thread.
struct Side<'a> {
    pair: &'a Pair,
    tally: &'a Tally,
    me: usize,
    yields: bool,
    whereabouts: &'a Whereabouts,
}

impl Side<'_> {
    fn meet(&self) -> Result<(), Over> {
        self.whereabouts.set(Doing::Waiting);
        self.arrive(|| ())
    }

    /// The same, and counts the loops.
    fn meet_counting(&self) -> Result<(), Over> {
        self.whereabouts.set(Doing::Waiting);
        let spins = &self.pair.spins;
        self.arrive(|| spins.store(spins.load(Relaxed) + 1, Relaxed))
    }

    #[inline(always)]
    fn arrive(&self, in_loop: impl Fn()) -> Result<(), Over> {
        let [mine, other] = [self.me, 1 - self.me].map(|side| &self.pair.arrivals[side]);
        let arrivals = other.fetch_add(1, SeqCst) + 1;
        while mine.load(SeqCst) < arrivals {
            if self.tally.is_over() {
                return Err(Over);
            }
            in_loop();
            if self.yields {
                sched_yield();
            }
        }
        Ok(())
    }

    fn perform<R>(&self, section: &mut dyn FnMut() -> R) -> R {
        let delay = self.pair.delay.load(Relaxed);
        self.whereabouts.set(Doing::Section);
        self.spin(if self.me == 0 { -delay } else { delay });
        self.pair.start[self.me].store(raw_ns(), Relaxed);
        let outcome = section();
        self.pair.end[self.me].store(raw_ns(), Relaxed);
        outcome
    }

    /// Loops that do nothing, as many as `count`.
    fn spin(&self, count: i64) {
        let left = AtomicI64::new(count);
        while left.load(Relaxed) > 0 {
            if self.yields {
                sched_yield();
            }
            left.store(left.load(Relaxed) - 1, Relaxed);
        }
    }
}

/// `CLOCK_MONOTONIC_RAW` in nanoseconds.
fn raw_ns() -> i64 {
    let now = clock_gettime(ClockId::MonotonicRaw);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}
