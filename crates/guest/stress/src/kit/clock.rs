//! Time.

use rustix::io::Errno;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// `CLOCK_MONOTONIC` in nanoseconds.
pub(crate) fn now() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// A time that is not negative, in nanoseconds.
pub(crate) fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// The same for the kernel.
pub(crate) fn timespec(nanoseconds: u64) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(nanoseconds / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(nanoseconds % 1_000_000_000).unwrap_or(0),
    }
}

/// Sleeps for at least this long.
pub(crate) fn sleep(nanoseconds: u64) {
    let end = timespec(now().saturating_add(nanoseconds));
    while rustix::thread::clock_nanosleep_absolute(ClockId::Monotonic, &end) == Err(Errno::INTR) {}
}
