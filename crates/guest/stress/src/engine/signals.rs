//! What the engine is told while workers work: signal(7).

use std::time::Duration;

use harness::sys::{self, signal_set};
use rustix::io::Errno;

/// Blocked in the engine, so that it takes them when it looks; workers get them as usual.
const ALL: [libc::c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGUSR2, libc::SIGCHLD];

/// What a signal tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// End early: SIGINT, SIGTERM.
    Stop,
    /// Report now: SIGUSR2.
    Report,
    /// A child has ended: SIGCHLD.
    Child,
}

/// Blocks the signals.
///
/// # Errors
///
/// As sigprocmask(2) says.
pub(super) fn block() -> Result<(), Errno> {
    sys::block(&ALL)
}

/// Unblocks them, in a worker.
///
/// # Errors
///
/// As sigprocmask(2) says.
pub(super) fn unblock() -> Result<(), Errno> {
    sys::unblock(&ALL)
}

/// Waits for the next signal, at most for `time`: sigtimedwait(2).
pub(super) fn wait(time: Duration) -> Option<Told> {
    let set = signal_set(&ALL);
    let time = libc::timespec {
        tv_sec: libc::time_t::try_from(time.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: time.subsec_nanos().into(),
    };
    // SAFETY: set and time are valid, and no details are asked for.
    match unsafe { libc::sigtimedwait(&raw const set, std::ptr::null_mut(), &raw const time) } {
        libc::SIGINT | libc::SIGTERM => Some(Told::Stop),
        libc::SIGUSR2 => Some(Told::Report),
        libc::SIGCHLD => Some(Told::Child),
        _ => None,
    }
}
