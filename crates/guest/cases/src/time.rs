//! Clocks and timers: time(7).

use std::time::{Duration, Instant};

use harness::check::{Checked, at_least, describe, equal, fail, fails, holds};
use harness::child::unprivileged;
use harness::plain::plain;
use harness::sys::{self, handle, set_interval};
use rustix::io::Errno;
use rustix::thread::{
    CpuSet, NanosleepRelativeResult, clock_nanosleep_absolute, clock_nanosleep_relative, nanosleep,
    sched_getaffinity, sched_setaffinity,
};
use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime, clock_settime};

use crate::case::Case;

pub(super) const CASES: &[Case] = &[
    Case::new("time/monotonic", "clock_gettime(2) never goes back, also from one CPU to the next", monotonic),
    Case::new("time/system-call", "clock_gettime(2) by vDSO and by system call agree", system_call),
    Case::new("time/resolution", "clock_getres(2) is known for every clock; EINVAL for none", resolution),
    Case::new("time/boot", "CLOCK_BOOTTIME is never behind CLOCK_MONOTONIC", boot),
    Case::new("time/sleep", "clock_nanosleep(2) lasts at least as long as asked, on each clock", sleep),
    Case::new(
        "time/sleep-until",
        "clock_nanosleep(2) TIMER_ABSTIME lasts until then, not at all if that has passed",
        sleep_until,
    ),
    Case::new(
        "time/sleep-interrupted",
        "nanosleep(2) gives EINTR and the time that is left",
        sleep_interrupted,
    ),
    Case::new(
        "time/set-clock",
        "clock_settime(2) moves CLOCK_REALTIME and no other clock; EPERM, EINVAL",
        set_clock,
    )
    .cleanup(leap_back),
];

const CLOCKS: [ClockId; 8] = [
    ClockId::Realtime,
    ClockId::RealtimeCoarse,
    ClockId::Monotonic,
    ClockId::MonotonicCoarse,
    ClockId::MonotonicRaw,
    ClockId::Boottime,
    ClockId::ProcessCPUTime,
    ClockId::ThreadCPUTime,
];

const SHORT: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
const SHORT_DURATION: Duration = Duration::from_millis(20);

fn monotonic() -> Checked {
    let allowed = sched_getaffinity(None)?;
    let cpus: Vec<_> = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect();
    for clock in CLOCKS {
        let mut last = clock_gettime(clock);
        for cpu in cpus.iter().cycle().take(cpus.len().max(20)) {
            let mut only = CpuSet::new();
            only.set(*cpu);
            sched_setaffinity(None, &only)?;
            for _ in 0..100 {
                let time = clock_gettime(clock);
                if time < last {
                    return fail(&format!(
                        "{clock:?} goes from {} to {} on CPU {cpu}",
                        plain(&last),
                        plain(&time)
                    ));
                }
                last = time;
            }
        }
        holds("the clock runs", last > Timespec::default())?;
    }
    Ok(())
}

fn system_call() -> Checked {
    for clock in [ClockId::Realtime, ClockId::Monotonic, ClockId::MonotonicRaw, ClockId::Boottime] {
        for _ in 0..5 {
            let before = clock_gettime(clock);
            let call = by_system_call(clock)?;
            at_least(&format!("{clock:?} by system call after vDSO"), call, before)?;
            at_least(&format!("{clock:?} by vDSO after system call"), clock_gettime(clock), call)?;
        }
    }
    Ok(())
}

fn by_system_call(clock: ClockId) -> Result<Timespec, Errno> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel fills the time.
    unsafe { sys::call(libc::SYS_clock_gettime, [clock as usize, (&raw mut time) as usize])? };
    Ok(Timespec { tv_sec: time.tv_sec, tv_nsec: time.tv_nsec })
}

fn resolution() -> Checked {
    for clock in CLOCKS {
        let resolution = clock_getres(clock);
        let plausible = resolution.tv_sec == 0 && resolution.tv_nsec > 0;
        holds(&format!("resolution of {clock:?} is between 0 and 1 second"), plausible)?;
    }
    // SAFETY: no result is asked for.
    let unknown = unsafe { sys::call(libc::SYS_clock_getres, [1000, 0]) };
    fails("clock_getres(2) of clock 1000", unknown, Errno::INVAL)?;
    // SAFETY: the address is refused.
    let nowhere = unsafe { sys::call(libc::SYS_clock_gettime, [0, 16]) };
    fails("clock_gettime(2) to address 16", nowhere, Errno::FAULT)
}

fn boot() -> Checked {
    for _ in 0..10 {
        let monotonic = clock_gettime(ClockId::Monotonic);
        at_least("CLOCK_BOOTTIME", clock_gettime(ClockId::Boottime), monotonic)?;
    }
    Ok(())
}

fn sleep() -> Checked {
    for clock in [ClockId::Realtime, ClockId::Monotonic, ClockId::Boottime] {
        let start = Instant::now();
        match clock_nanosleep_relative(clock, &SHORT) {
            NanosleepRelativeResult::Ok => {
                at_least(&format!("sleep by {clock:?}"), start.elapsed(), SHORT_DURATION)?;
            }
            NanosleepRelativeResult::Interrupted(left) => {
                return fail(&format!("sleep by {clock:?} was interrupted, {} left", plain(&left)));
            }
            NanosleepRelativeResult::Err(error) => {
                return fail(&format!("sleep by {clock:?}: unexpected {}", describe(error)));
            }
        }
    }
    let wrong = clock_nanosleep_relative(ClockId::Monotonic, &Timespec { tv_sec: 0, tv_nsec: 1_000_000_000 });
    holds("1000000000 nanoseconds give EINVAL", matches!(wrong, NanosleepRelativeResult::Err(Errno::INVAL)))?;
    let negative = clock_nanosleep_relative(ClockId::Monotonic, &Timespec { tv_sec: -1, tv_nsec: 0 });
    holds("-1 seconds give EINVAL", matches!(negative, NanosleepRelativeResult::Err(Errno::INVAL)))
}

fn sleep_until() -> Checked {
    for clock in [ClockId::Realtime, ClockId::Monotonic, ClockId::Boottime] {
        let then = clock_gettime(clock) + SHORT;
        clock_nanosleep_absolute(clock, &then)?;
        at_least(&format!("{clock:?} after the sleep"), clock_gettime(clock), then)?;
        let past = Timespec { tv_sec: 0, tv_nsec: 1 };
        equal("sleep until a time that has passed", clock_nanosleep_absolute(clock, &past), Ok(()))?;
    }
    Ok(())
}

extern "C" fn nothing(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {}

fn sleep_interrupted() -> Checked {
    let asked = Timespec { tv_sec: 1000, tv_nsec: 0 };
    handle(libc::SIGALRM, nothing, libc::SA_RESTART)?;
    set_interval(libc::ITIMER_REAL, libc::timeval { tv_sec: 0, tv_usec: 20_000 })?;
    let NanosleepRelativeResult::Interrupted(left) = nanosleep(&asked) else {
        return fail("nanosleep(2) was not interrupted");
    };
    holds("less is left than was asked for", left < asked)?;
    holds("something is left", left > Timespec::default())
}

/// How far the cases that set the clock move it: a time that no machine shows by itself.
pub(super) const LEAP: Timespec = Timespec { tv_sec: 1 << 32, tv_nsec: 0 };

/// Moves CLOCK_REALTIME by [`LEAP`].
pub(super) fn leap() -> Result<(), Errno> {
    clock_settime(ClockId::Realtime, clock_gettime(ClockId::Realtime) + LEAP)
}

/// Undoes [`leap`] if it was done.
pub(super) fn leap_back() -> Checked {
    let time = clock_gettime(ClockId::Realtime);
    if time >= LEAP {
        clock_settime(ClockId::Realtime, time - LEAP)?;
    }
    Ok(())
}

fn set_clock() -> Checked {
    let [real, monotonic, boot] =
        [ClockId::Realtime, ClockId::Monotonic, ClockId::Boottime].map(clock_gettime);
    leap()?;
    at_least("CLOCK_REALTIME", clock_gettime(ClockId::Realtime), real + LEAP)?;
    holds("CLOCK_MONOTONIC was not moved", clock_gettime(ClockId::Monotonic) < monotonic + LEAP)?;
    holds("CLOCK_BOOTTIME was not moved", clock_gettime(ClockId::Boottime) < boot + LEAP)?;
    leap_back()?;
    holds("CLOCK_REALTIME was moved back", clock_gettime(ClockId::Realtime) < real + LEAP)?;
    let set = |clock, time| clock_settime(clock, time);
    fails("setting CLOCK_MONOTONIC", set(ClockId::Monotonic, monotonic), Errno::INVAL)?;
    let wrong = Timespec { tv_nsec: 1_000_000_000, ..real };
    fails("1000000000 nanoseconds", set(ClockId::Realtime, wrong), Errno::INVAL)?;
    unprivileged(|| {
        fails(
            "setting the clock without rights",
            set(ClockId::Realtime, clock_gettime(ClockId::Realtime)),
            Errno::PERM,
        )
    })?
    .succeeds()
}
