//! Rests of a thread that would take a CPU for itself.
//!
//! A thread of SCHED_FIFO or SCHED_RR that never waits lets nothing else run on its CPU: not the thread that would stop
//! it, nor the kernel's own. The kernel limits such threads only if `sched_rt_runtime_us` says so. So the thread itself
//! leaves a tenth of the time to others, which is more than the kernel takes by default; and if it did not, the kernel
//! would end the process by RLIMIT_RTTIME, which has no need of a CPU that is free.

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::nanosleep;
use rustix::time::Timespec;

use crate::clock::cpu_time;

/// The thread looks so often at what it has used, in nanoseconds.
const SPELL_NS: u64 = 50_000_000;

/// A rest.
const REST: Timespec = Timespec { tv_sec: 0, tv_nsec: 6_000_000 };

/// The kernel ends the process if one of its threads runs for so long without a wait.
const RUN_MAX_US: u64 = 2_000_000;

/// What a thread has used of its CPU.
#[derive(Debug)]
pub(crate) struct Share {
    since: u64,
    used: u64,
}

impl Share {
    /// Begins to count at a time of any clock.
    pub(crate) fn new(now: u64) -> Self {
        Self { since: now, used: cpu_time() }
    }

    /// Whether a rest is due. It costs a system call each [`SPELL_NS`].
    #[inline]
    pub(crate) fn is_exhausted(&mut self, now: u64) -> bool {
        now.wrapping_sub(self.since) >= SPELL_NS && self.look(now)
    }

    #[cold]
    fn look(&mut self, now: u64) -> bool {
        let before = std::mem::replace(self, Self::new(now));
        exceeds(now.wrapping_sub(before.since), self.used.saturating_sub(before.used))
    }
}

/// Lets others run.
pub(crate) fn rest() {
    // A signal may end it early: then the measurement ends as well.
    let _ = nanosleep(&REST);
}

/// Has the kernel end this process if one of its real-time threads runs for [`RUN_MAX_US`] without a wait.
///
/// # Errors
///
/// As setrlimit(2) says.
pub(crate) fn limit_real_time() -> Result<(), Errno> {
    let lower = |limit: Option<u64>| Some(limit.map_or(RUN_MAX_US, |limit| limit.min(RUN_MAX_US)));
    let Rlimit { current, maximum } = getrlimit(Resource::Rttime);
    setrlimit(Resource::Rttime, Rlimit { current: lower(current), maximum: lower(maximum) })
}

/// Whether nine tenths of a time were used.
fn exceeds(elapsed: u64, used: u64) -> bool {
    used >= elapsed / 10 * 9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_tenths_are_too_much() {
        assert!(exceeds(SPELL_NS, SPELL_NS) && exceeds(SPELL_NS, 45_000_000));
        assert!(!exceeds(SPELL_NS, 44_999_999) && !exceeds(u64::MAX, 0));
    }

    #[test]
    fn nobody_looks_before_a_spell_is_over() {
        let mut share = Share { since: 100, used: 0 };
        assert!(!share.is_exhausted(100 + SPELL_NS - 1));
        assert_eq!((share.since, share.used), (100, 0));
        share.is_exhausted(100 + SPELL_NS);
        assert_eq!(share.since, 100 + SPELL_NS);
    }
}
