//! What races of the kernel share.

use std::fs;
use std::sync::atomic::{AtomicI32, Ordering::*};

use harness::check::{Checked, skip};
use harness::loopback::set_loopback;
use harness::sys::{succeeded, unshare};
use rustix::fd::{BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::process::{getgid, getuid};
use rustix::thread::UnshareFlags;

/// A descriptor that one section may close while the other one uses its number.
#[derive(Debug)]
pub(super) struct Shared(AtomicI32);

impl Shared {
    pub(super) const fn new() -> Self {
        Self(AtomicI32::new(-1))
    }

    /// Takes another file; the one that it had is closed.
    pub(super) fn set(&self, file: OwnedFd) {
        let before = self.0.swap(file.into_raw_fd(), AcqRel);
        if before >= 0 {
            // SAFETY: it was taken out, so nobody else owns it.
            drop(unsafe { OwnedFd::from_raw_fd(before) });
        }
    }

    /// Its number, which may be closed.
    pub(super) fn number(&self) -> i32 {
        self.0.load(Acquire)
    }

    /// The file, for a system call that may come after it was closed: EBADF is what the race is about.
    pub(super) fn file(&self) -> BorrowedFd<'_> {
        // SAFETY: at least one round sets it before its sections use it, and in a round nothing else is opened.
        unsafe { BorrowedFd::borrow_raw(self.number()) }
    }

    /// Closes the file.
    pub(super) fn close(&self) {
        let before = self.0.swap(-1, AcqRel);
        if before >= 0 {
            // SAFETY: it was taken out, so nobody else owns it.
            drop(unsafe { OwnedFd::from_raw_fd(before) });
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.close();
    }
}

/// From now on this process has a network of its own, with nothing but `lo`, and all rights in it.
pub(super) fn own_network() -> Checked {
    own("a network namespace", UnshareFlags::NEWNET)?;
    Ok(set_loopback(true)?)
}

/// From now on this process has namespaces of its own, and all rights in them: they end with it.
pub(super) fn own(what: &str, namespaces: UnshareFlags) -> Checked {
    let (user, group) = (getuid(), getgid());
    if user.is_root() {
        return or_skip(what, unshare(namespaces));
    }
    or_skip(what, unshare(namespaces | UnshareFlags::NEWUSER))?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {} 1", user.as_raw()))?;
    Ok(fs::write("/proc/self/gid_map", format!("0 {} 1", group.as_raw()))?)
}

/// Skips where the kernel does not have what the race is about, or not for this user.
pub(super) fn or_skip<T>(what: &str, result: Result<T, Errno>) -> Checked<T> {
    const LACKING: [Errno; 10] = [
        Errno::ACCESS,
        Errno::AFNOSUPPORT,
        Errno::INVAL,
        Errno::NODEV,
        Errno::NOENT,
        Errno::NOPROTOOPT,
        Errno::NOSYS,
        Errno::OPNOTSUPP,
        Errno::PERM,
        Errno::PROTONOSUPPORT,
    ];
    match result {
        Err(error) if LACKING.contains(&error) => {
            skip(&format!("{what}: not here, or not for this user: {}", harness::check::describe(error)))
        }
        result => Ok(result?),
    }
}

/// setsockopt(2) with a plain value.
pub(super) fn set_option<T: Copy>(socket: i32, (level, name): (i32, i32), value: &T) -> Result<(), Errno> {
    let size = size_of::<T>() as libc::socklen_t;
    // SAFETY: the value has the given size; the kernel only reads it.
    succeeded(unsafe { libc::setsockopt(socket, level, name, (&raw const *value).cast(), size) })
}

/// connect(2) or bind(2), by `call`, to an address of any family.
pub(super) fn with_address<T>(
    call: unsafe extern "C" fn(i32, *const libc::sockaddr, libc::socklen_t) -> i32,
    socket: i32,
    address: &T,
) -> Result<(), Errno> {
    let size = size_of::<T>() as libc::socklen_t;
    // SAFETY: the address has the given size; the kernel only reads it.
    succeeded(unsafe { call(socket, (&raw const *address).cast(), size) })
}
