//! Where two threads wait for each other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};

use rustix::thread::sched_yield;

/// After so many looks in vain a thread gives way to others: the one that it waits for may need its CPU.
const SPINS: u32 = 1000;

/// The race is over: nobody will come any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Over;

/// How a thread waits: by looking again and again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait<'a> {
    /// It is set when the race is over.
    over: &'a AtomicBool,
    spins: u32,
}

impl<'a> Wait<'a> {
    /// On `one_cpu` it gives way after each look.
    pub(crate) fn new(over: &'a AtomicBool, one_cpu: bool) -> Self {
        Self { over, spins: if one_cpu { 0 } else { SPINS } }
    }

    /// Returns when `condition` holds.
    pub(crate) fn until(self, condition: impl Fn() -> bool) -> Result<(), Over> {
        let mut looks = 0;
        while !condition() {
            if self.over.load(Relaxed) {
                return Err(Over);
            }
            if looks < self.spins {
                looks += 1;
                std::hint::spin_loop();
            } else {
                sched_yield();
            }
        }
        Ok(())
    }

    /// Returns when `condition` holds, as soon as it can: no pause and no other thread comes between, unless there is
    /// one CPU only.
    #[inline(always)]
    pub(crate) fn keenly_until(self, condition: impl Fn() -> bool) {
        while !condition() && !self.over.load(Relaxed) {
            if self.spins == 0 {
                sched_yield();
            }
        }
    }
}

/// Counts how often each of two threads has arrived.
#[derive(Debug, Default)]
pub(crate) struct Barrier([Arrivals; 2]);

/// In a cache line of its own, and not in the one that is fetched with it.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Arrivals(AtomicU64);

/// A thread at a barrier.
#[derive(Debug)]
pub(crate) struct Party<'a> {
    mine: &'a AtomicU64,
    other: &'a AtomicU64,
    arrivals: u64,
    pub(crate) wait: Wait<'a>,
}

impl Barrier {
    /// The parties of both threads, at a barrier where nobody has arrived.
    pub(crate) fn parties<'a>(&'a self, wait: Wait<'a>) -> [Party<'a>; 2] {
        let [Arrivals(a), Arrivals(b)] = &self.0;
        [(a, b), (b, a)].map(|(mine, other)| Party { mine, other, arrivals: 0, wait })
    }
}

impl Party<'_> {
    /// Waits for the other thread to arrive as often as this one: what it did before is seen from now on.
    pub(crate) fn meet(&mut self) -> Result<(), Over> {
        self.arrivals += 1;
        self.mine.store(self.arrivals, Release);
        self.wait.until(|| self.other.load(Acquire) >= self.arrivals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;
    use std::thread::scope;

    const ROUNDS: usize = 65_535;

    /// Both threads write the cells of a table in turn, and each checks what the other one has written.
    fn take_turns(one_cpu: bool) {
        let (barrier, over) = (Barrier::default(), AtomicBool::new(false));
        let table: Vec<AtomicU32> = (0..ROUNDS).map(|_| AtomicU32::new(u32::MAX)).collect();
        let turns = |mut party: Party, me: usize| {
            for (cell, place) in table.iter().enumerate() {
                if cell % 2 == me {
                    place.store(cell as u32, Relaxed);
                }
                party.meet().expect("nobody ends it");
                assert_eq!(place.load(Relaxed), cell as u32);
            }
        };
        let [a, b] = barrier.parties(Wait::new(&over, one_cpu));
        scope(|threads| {
            threads.spawn(|| turns(b, 1));
            turns(a, 0);
        });
        assert!(table.iter().enumerate().all(|(cell, place)| place.load(Relaxed) == cell as u32));
        assert!(barrier.0.iter().all(|Arrivals(count)| count.load(Relaxed) == ROUNDS as u64));
    }

    #[test]
    fn two_threads_take_turns() {
        take_turns(false);
    }

    #[test]
    fn two_threads_that_yield_take_turns() {
        take_turns(true);
    }

    #[test]
    fn nobody_waits_any_more_when_it_is_over() {
        let (barrier, over) = (Barrier::default(), AtomicBool::new(false));
        let [mut a, b] = barrier.parties(Wait::new(&over, false));
        scope(|threads| {
            threads.spawn(|| b.wait.until(|| false).expect_err("it is over"));
            over.store(true, Relaxed);
        });
        assert_eq!(a.meet(), Err(Over));
    }
}
