//! Time.

use harness::clock::monotonic;
use rustix::io::Errno;
use rustix::time::{ClockId, Timespec};

/// Nanoseconds for the kernel.
pub(crate) fn timespec(nanoseconds: u64) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(nanoseconds / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(nanoseconds % 1_000_000_000).unwrap_or(0),
    }
}

/// Sleeps for at least this long.
pub(crate) fn sleep(nanoseconds: u64) {
    let end = timespec(monotonic().saturating_add(nanoseconds));
    while rustix::thread::clock_nanosleep_absolute(ClockId::Monotonic, &end) == Err(Errno::INTR) {}
}
