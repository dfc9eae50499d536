//! A timer whose signal only its thread gets: timer_create(2).

use std::mem::MaybeUninit;
use std::ptr::null_mut;

use harness::sys::succeeded;
use rustix::io::Errno;

use crate::clock::{EPOCH, timespec};

/// Deleted when dropped.
#[derive(Debug)]
pub(crate) struct Timer(libc::timer_t);

impl Timer {
    /// A timer of the calling thread that is not armed. The thread must have blocked [`signal`], and keeps it blocked.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub(crate) fn new(clock: libc::clockid_t) -> Result<Self, Errno> {
        // SAFETY: all zeroes is a valid event.
        let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal();
        event.sigev_notify_thread_id = rustix::thread::gettid().as_raw_nonzero().get();
        let mut timer = MaybeUninit::uninit();
        // SAFETY: the event is valid, and the timer is read only when it was made.
        succeeded(unsafe { libc::timer_create(clock, &raw mut event, timer.as_mut_ptr()) })?;
        // SAFETY: made just now.
        Ok(Self(unsafe { timer.assume_init() }))
    }

    /// timer_settime(2): expires once, at a time or after a span of the clock. A time of 0 would disarm it, so it is
    /// never less than 1.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub(crate) fn arm(&self, flags: libc::c_int, nanoseconds: u64) -> Result<(), Errno> {
        let setting = libc::itimerspec { it_interval: EPOCH, it_value: timespec(nanoseconds.max(1)) };
        // SAFETY: the timer and the setting are valid, and the old setting is not asked for.
        succeeded(unsafe { libc::timer_settime(self.0, flags, &raw const setting, null_mut()) })
    }
}

/// The signal of all timers: each thread gets that of its own.
pub(crate) fn signal() -> libc::c_int {
    libc::SIGRTMIN()
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: the timer is valid and not used after this.
        unsafe { libc::timer_delete(self.0) };
    }
}
