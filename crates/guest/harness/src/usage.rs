//! What a thread was charged with: getrusage(2).

/// What the kernel has charged the calling thread with since it began.
#[must_use]
pub fn of_this_thread() -> libc::rusage {
    // SAFETY: all zeroes is a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the value is valid for writing. RUSAGE_THREAD is always there.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    usage
}

/// A time of it, in microseconds.
#[must_use]
pub fn microseconds(time: libc::timeval) -> u64 {
    time.tv_sec.unsigned_abs().saturating_mul(1_000_000).saturating_add(time.tv_usec.unsigned_abs())
}
