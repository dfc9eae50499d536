//! `atomic`: words that several processes change at once.

use std::sync::atomic::{AtomicU64, Ordering};

use harness::check::{Checked, equal};

use crate::Worker;
use crate::kit::helper::helper;
use crate::kit::memory::Memory;
use crate::stressor::{Class, Setting, Stressor, number};

const PROCESSES: Setting = number("processes", "processes that change the same words", 1..=32, 3);

pub(super) const STRESSOR: Stressor = Stressor {
    name: "atomic",
    classes: &[Class::CpuCache, Class::Cpu, Class::Memory],
    about: "atomic operations of several processes on the same cache line",
    operation: "each process does 10000 rounds of add, exclusive or, maximum and compare-and-exchange",
    verifies: "no operation was lost",
    options: &[PROCESSES],
    body,
    ..Stressor::PLAIN
};

const ROUNDS: u64 = 10_000;

fn body(worker: &Worker) -> Checked {
    let memory = Memory::shared(4096)?;
    let [sum, mixed, highest, exchanged] = [0, 1, 2, 3].map(|at| &memory.atomics()[at]);
    let processes = worker.value(&PROCESSES);
    worker.repeat(|| {
        [sum, mixed, highest, exchanged].into_iter().for_each(|word| word.store(0, Ordering::Relaxed));
        let work = |process: u64| {
            for round in 0..ROUNDS {
                sum.fetch_add(process + 1, Ordering::Relaxed);
                mixed.fetch_xor(round.rotate_left(17) ^ process, Ordering::Relaxed);
                highest.fetch_max(round * processes + process, Ordering::Relaxed);
                add_one(exchanged);
            }
            Ok(())
        };
        let others = (1..processes).map(|process| helper(|| work(process))).collect::<Checked<Vec<_>>>()?;
        work(0)?;
        others.into_iter().try_for_each(harness::child::Child::succeeds)?;
        let value = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let expected = |term: fn(u64, u64) -> u64| {
            (0..processes)
                .flat_map(|process| (0..ROUNDS).map(move |round| (round, process)))
                .map(move |(r, p)| term(r, p))
        };
        equal("the sum", value(sum), expected(|_, process| process + 1).sum::<u64>())?;
        let all = expected(|round, process| round.rotate_left(17) ^ process).fold(0, |a, b| a ^ b);
        equal("the exclusive or", value(mixed), all)?;
        equal("the maximum", value(highest), ROUNDS * processes - 1)?;
        equal("exchanges", value(exchanged), ROUNDS * processes)
    })
}

fn add_one(word: &AtomicU64) {
    let mut old = word.load(Ordering::Relaxed);
    while let Err(other) = word.compare_exchange_weak(old, old + 1, Ordering::Relaxed, Ordering::Relaxed) {
        old = other;
    }
}
