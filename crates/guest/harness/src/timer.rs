//! Timers of a process: timer_create(2).

use std::mem::MaybeUninit;

use rustix::io::Errno;
use rustix::time::Timespec;

use crate::sys::succeeded;

/// A timer of timer_create(2) that sends SIGRTMIN with 4711; deleted when dropped.
#[derive(Debug)]
pub struct Timer(libc::timer_t);

impl Timer {
    /// A timer of `CLOCK_MONOTONIC` that is not armed.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn new() -> Result<Self, Errno> {
        // SAFETY: all zeroes is a valid event.
        let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
        event.sigev_notify = libc::SIGEV_SIGNAL;
        event.sigev_signo = libc::SIGRTMIN();
        event.sigev_value = libc::sigval { sival_ptr: std::ptr::without_provenance_mut(4711) };
        let mut timer = MaybeUninit::uninit();
        // SAFETY: the event is valid, and the timer is read only when it was made.
        succeeded(unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, timer.as_mut_ptr()) })?;
        // SAFETY: made just now.
        Ok(Self(unsafe { timer.assume_init() }))
    }

    /// timer_settime(2): expires after `first`, then every `interval`.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn set(&self, first: Timespec, interval: Timespec) -> Result<(), Errno> {
        set_timer(self.0, first, interval)
    }

    /// Deletes the timer, and then calls timer_settime(2) of it.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn set_deleted(self, first: Timespec, interval: Timespec) -> Result<(), Errno> {
        let timer = self.0;
        drop(self);
        set_timer(timer, first, interval)
    }

    /// timer_getoverrun(2): expirations that no signal reported.
    #[must_use]
    pub fn overrun(&self) -> libc::c_int {
        // SAFETY: the timer is valid.
        unsafe { libc::timer_getoverrun(self.0) }
    }
}

/// timer_settime(2) of a timer that may not be there.
fn set_timer(timer: libc::timer_t, first: Timespec, interval: Timespec) -> Result<(), Errno> {
    let [it_value, it_interval] =
        [first, interval].map(|time| libc::timespec { tv_sec: time.tv_sec, tv_nsec: time.tv_nsec });
    let setting = libc::itimerspec { it_interval, it_value };
    // SAFETY: the setting is valid, and an unknown timer is refused.
    succeeded(unsafe { libc::timer_settime(timer, 0, &raw const setting, std::ptr::null_mut()) })
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: the timer is valid and not used after this.
        unsafe { libc::timer_delete(self.0) };
    }
}
