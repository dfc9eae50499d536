//! A network of the worker's own.

use harness::check::{Checked, fail, skip};
use harness::loopback::{loopback_is_up, set_loopback};
use harness::sys::unshare;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::AsFd;
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use rustix::thread::UnshareFlags;

use super::clock::timespec;
use crate::Worker;

/// From now on this process has a network of its own with nothing but `lo`, if the user may have one; otherwise it uses
/// the `lo` of others.
///
/// # Errors
///
/// Skips where there is no `lo` that is up.
pub(crate) fn own_or_loopback() -> Checked {
    match own() {
        Err(Errno::PERM | Errno::INVAL) if loopback_is_up()? => Ok(()),
        Err(Errno::PERM | Errno::INVAL) => skip("lo is down, and a network of its own needs CAP_SYS_ADMIN"),
        result => Ok(result?),
    }
}

/// From now on this process has a network of its own.
///
/// # Errors
///
/// As unshare(2) says.
pub(crate) fn own() -> Result<(), Errno> {
    unshare(UnshareFlags::NEWNET)?;
    set_loopback(true)
}

/// What comes late is waited for so often and so long, in nanoseconds: with a look at the stop flag each time.
const STEPS: u32 = 200;
const STEP: u64 = 50_000_000;

/// Waits for something to read; nothing comes to a worker that is to end.
///
/// # Errors
///
/// When nothing has come for ten seconds: what was sent is lost.
pub(crate) fn comes(worker: &Worker, to: impl AsFd) -> Checked<bool> {
    for _ in 0..STEPS {
        if poll(&mut [PollFd::new(&to, PollFlags::IN)], Some(&timespec(STEP)))? > 0 {
            return Ok(true);
        }
        if worker.is_over() {
            return Ok(false);
        }
    }
    fail("what was sent did not arrive")
}

/// Sends to a port at which nobody listens until that is answered. The answer is late where the machine is busy, and with a full queue of
/// the network it is lost: then the next datagram gets one.
pub(crate) fn is_refused(worker: &Worker, from: impl AsFd) -> Checked {
    for _ in 0..STEPS {
        if send(&from, b"x", SendFlags::DONTWAIT) == Err(Errno::CONNREFUSED) || worker.is_over() {
            return Ok(());
        }
        poll(&mut [PollFd::new(&from, PollFlags::empty())], Some(&timespec(STEP)))?;
    }
    fail("a port at which nobody listens did not answer")
}
