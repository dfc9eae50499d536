//! Filters of system calls: seccomp(2).

use rustix::fd::OwnedFd;
use rustix::io::Errno;

use crate::sys::{call, call_for_descriptor};

/// Reads the system call's number, and takes `action` if it is getppid(2).
#[must_use]
pub fn on_getppid(action: u32) -> [libc::sock_filter; 4] {
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_getppid as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, action),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// Calls seccomp(2) with `filter`.
fn with_filter<T>(
    filter: &mut [libc::sock_filter],
    flags: libc::c_ulong,
    seccomp: impl FnOnce([usize; 3]) -> T,
) -> T {
    let length = filter.len().try_into().unwrap_or(u16::MAX);
    let program = libc::sock_fprog { len: length, filter: filter.as_mut_ptr() };
    seccomp([libc::SECCOMP_SET_MODE_FILTER as usize, flags as usize, (&raw const program).addr()])
}

/// Installs a filter: `SECCOMP_SET_MODE_FILTER` of seccomp(2).
///
/// # Errors
///
/// As the manual page says.
pub fn install(filter: &mut [libc::sock_filter], flags: libc::c_ulong) -> Result<usize, Errno> {
    // SAFETY: the program names the filter and its length; the kernel copies both.
    with_filter(filter, flags, |arguments| unsafe { call(libc::SYS_seccomp, arguments) })
}

/// The same with a listener that answers for the kernel: `SECCOMP_FILTER_FLAG_NEW_LISTENER`.
///
/// # Errors
///
/// As the manual page says.
pub fn install_with_listener(filter: &mut [libc::sock_filter]) -> Result<OwnedFd, Errno> {
    // SAFETY: as in `install`; with this flag the result is a new descriptor.
    with_filter(filter, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER, |arguments| unsafe {
        call_for_descriptor(libc::SYS_seccomp, arguments)
    })
}
