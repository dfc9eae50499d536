//! A network of the worker's own.

use harness::check::{Checked, fail, skip};
use harness::loopback::{loopback_is_up, set_loopback};
use harness::sys::unshare;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::AsFd;
use rustix::io::Errno;
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

/// Waits for something to read; nothing comes to a worker that is to end.
///
/// # Errors
///
/// When nothing has come for ten seconds: what was sent is lost.
pub(crate) fn comes(worker: &Worker, to: impl AsFd) -> Checked<bool> {
    /// A look at the stop flag each time.
    const STEP: u64 = 50_000_000;
    for _ in 0..200 {
        if poll(&mut [PollFd::new(&to, PollFlags::IN)], Some(&timespec(STEP)))? > 0 {
            return Ok(true);
        }
        if worker.is_over() {
            return Ok(false);
        }
    }
    fail("what was sent did not arrive")
}
