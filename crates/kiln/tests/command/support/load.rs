//! A host that has much else to do.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Runs something on one CPU of the host that has something else to do all the while.
pub(crate) fn under_load<T>(work: impl FnOnce() -> T) -> T {
    let all = sched_getaffinity(None).expect("every thread has CPUs");
    let mut one = CpuSet::new();
    one.set((0..CpuSet::MAX_CPU).find(|&cpu| all.is_set(cpu)).expect("every thread has a CPU"));
    // Threads and programs that are started from now on have this CPU only.
    sched_setaffinity(None, &one).expect("it is one of ours");
    let is_over = AtomicBool::new(false);
    let done = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        // The other thread ends also when this one panics.
        let done = catch_unwind(AssertUnwindSafe(work));
        is_over.store(true, Ordering::Relaxed);
        done
    });
    sched_setaffinity(None, &all).expect("it had them before");
    done.unwrap_or_else(|panic| resume_unwind(panic))
}
