//! The clocks that can be measured with: clock_gettime(2).

use std::io::Error;

use protocol::latency::Clock;

/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;

/// What the clock shows, in nanoseconds since its epoch.
#[inline]
pub(crate) fn now(clock: Clock) -> u64 {
    read(id(clock))
}

/// The CPU time that this thread has used, in nanoseconds.
pub(crate) fn cpu_time() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The resolution of a clock, which is that of its timers: clock_getres(2).
///
/// # Errors
///
/// When the kernel has no such clock.
pub(crate) fn resolution(clock: Clock) -> Result<u64, Error> {
    let mut time = EPOCH;
    // SAFETY: the time is valid for writing.
    match unsafe { libc::clock_getres(id(clock), &raw mut time) } {
        0 => Ok(nanoseconds(time)),
        _ => Err(Error::last_os_error()),
    }
}

/// Its number in C.
pub(crate) const fn id(clock: Clock) -> libc::clockid_t {
    match clock {
        Clock::Monotonic => libc::CLOCK_MONOTONIC,
        Clock::Realtime => libc::CLOCK_REALTIME,
        Clock::Boottime => libc::CLOCK_BOOTTIME,
        Clock::Tai => libc::CLOCK_TAI,
    }
}

/// A time or a duration as the kernel takes it.
#[inline]
pub(crate) fn timespec(nanoseconds: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: (nanoseconds / SECOND).try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: (nanoseconds % SECOND).cast_signed(),
    }
}

pub(crate) const EPOCH: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 0 };

#[inline]
fn read(id: libc::clockid_t) -> u64 {
    let mut time = EPOCH;
    // SAFETY: the time is valid for writing. A clock that is not there leaves it; `resolution` has found that before.
    unsafe { libc::clock_gettime(id, &raw mut time) };
    nanoseconds(time)
}

#[inline]
fn nanoseconds(time: libc::timespec) -> u64 {
    time.tv_sec.cast_unsigned().wrapping_mul(SECOND).wrapping_add(time.tv_nsec.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_clock_goes_back_and_each_has_a_resolution() {
        for clock in [Clock::Monotonic, Clock::Boottime] {
            let (before, after) = (now(clock), now(clock));
            assert!(before > 0 && after >= before, "{clock:?}");
        }
        for clock in [Clock::Monotonic, Clock::Realtime, Clock::Boottime, Clock::Tai] {
            assert!(resolution(clock).expect("Linux has it") > 0, "{clock:?}");
        }
    }

    #[test]
    fn times_are_read_as_they_were_written() {
        for time in [0, 1, 999_999_999, 1_000_000_000, 1_800_000_000_123_456_789, u64::MAX] {
            assert_eq!(nanoseconds(timespec(time)), time);
        }
    }
}
