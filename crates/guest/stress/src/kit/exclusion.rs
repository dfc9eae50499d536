//! Mutual exclusion, and whether it holds.

use std::sync::atomic::Ordering;

use harness::check::{Checked, equal};
use harness::child::Child;
use rustix::io::Errno;
use rustix::thread::sched_yield;

use super::helper::helper;
use super::memory::Memory;
use crate::Worker;

/// How often each process comes in before it gives others a chance to end.
const TURNS: u64 = 16;

/// Several `processes` read, pause and write a counter in turn. Each opens what it `enter`s and `leave`s, which is a bogo
/// operation. `what` describes the additions.
///
/// # Errors
///
/// When two were inside at a time, or one could not come in.
pub(crate) fn exclude<T>(
    worker: &Worker,
    (processes, what): (u64, &str),
    open: impl Fn() -> Checked<T>,
    enter: impl Fn(&T) -> Result<(), Errno>,
    leave: impl Fn(&T) -> Result<(), Errno>,
) -> Checked {
    let memory = Memory::shared(4096)?;
    let counter = &memory.atomics()[0];
    let turns = || {
        let opened = open()?;
        for _ in 0..TURNS {
            enter(&opened)?;
            let before = counter.load(Ordering::Relaxed);
            sched_yield();
            counter.store(before + 1, Ordering::Relaxed);
            leave(&opened)?;
            worker.count();
        }
        Ok(())
    };
    while worker.goes_on() {
        counter.store(0, Ordering::Relaxed);
        let all = (0..processes).map(|_| helper(turns)).collect::<Checked<Vec<Child>>>()?;
        all.into_iter().try_for_each(Child::succeeds)?;
        equal(what, counter.load(Ordering::Relaxed), processes * TURNS)?;
    }
    Ok(())
}
