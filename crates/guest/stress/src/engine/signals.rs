//! What the engine is told while workers work: signal(7).

use std::time::Duration;

use harness::sys;
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

/// Waits for the next signal, at most for `time`.
pub(super) fn wait(time: Duration) -> Option<Told> {
    match sys::fetch_within(&ALL, time)? {
        libc::SIGINT | libc::SIGTERM => Some(Told::Stop),
        libc::SIGUSR2 => Some(Told::Report),
        libc::SIGCHLD => Some(Told::Child),
        _ => None,
    }
}
