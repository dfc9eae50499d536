//! Signals: how a measurement ends early, and how its threads are woken for that.
//!
//! No handler does anything: the first thread waits for signals and for the next second with one call.

use std::ptr::null_mut;
use std::time::Duration;

use harness::sys::{block, fetch_within, succeeded};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, kill_process};

/// They end a measurement early.
const ENDS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// A measuring thread has come to its end.
const FINISHED: libc::c_int = libc::SIGUSR1;

/// Wakes a thread that waits.
const WAKE: libc::c_int = libc::SIGUSR2;

/// Why the first thread goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// The measurement shall end.
    End,
    /// A thread has come to its end, or the time is over.
    Other,
}

/// Prepares the process: threads that are made from now on leave all but [`WAKE`] and the timer's signal to the first.
///
/// # Errors
///
/// When the kernel refuses.
pub(crate) fn prepare() -> Result<(), Errno> {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: all zeroes is a valid action with an empty mask, and without SA_RESTART calls are interrupted.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the action is valid, and the old one is not asked for.
    succeeded(unsafe { libc::sigaction(WAKE, &raw const action, null_mut()) })?;
    block(&[FINISHED])?;
    block(&ENDS)
}

/// Waits for what [`prepare`] has left to the first thread.
pub(crate) fn wait(at_most: Duration) -> Event {
    let signal = fetch_within(&[ENDS.as_slice(), &[FINISHED]].concat(), at_most);
    if signal.is_some_and(|signal| ENDS.contains(&signal)) { Event::End } else { Event::Other }
}

/// Tells the first thread that the calling one has come to its end.
pub(crate) fn finished() {
    // A process may send itself a signal, and this one exists.
    let _ = kill_process(getpid(), Signal::USR1);
}

/// Interrupts the wait of a thread of this process, if it is still there: tgkill(2).
pub(crate) fn wake(thread: Pid) {
    let [process, thread] = [getpid(), thread].map(|id| id.as_raw_nonzero().get());
    // SAFETY: the call takes numbers.
    unsafe { libc::syscall(libc::SYS_tgkill, process, thread, WAKE) };
}
