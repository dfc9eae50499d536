//! Keys that the kernel keeps: keyrings(7).

use std::ffi::CStr;

use rustix::io::Errno;

use crate::sys::call;

/// keyctl(2).
///
/// # Errors
///
/// As the manual page says.
pub fn keyctl<const N: usize>(operation: u32, key: usize, more: [usize; N]) -> Result<usize, Errno> {
    let mut arguments = [operation as usize, key, 0, 0, 0];
    arguments[2..2 + N].copy_from_slice(&more);
    // SAFETY: addresses among the arguments are of buffers that live in the callers.
    unsafe { call(libc::SYS_keyctl, arguments) }
}

/// Gives the process an empty session keyring of its own.
///
/// # Errors
///
/// As the manual page says.
pub fn new_session() -> Result<usize, Errno> {
    keyctl(libc::KEYCTL_JOIN_SESSION_KEYRING, 0, [])
}

/// add_key(2).
///
/// # Errors
///
/// As the manual page says.
pub fn add(kind: &CStr, description: &CStr, payload: &[u8], keyring: usize) -> Result<usize, Errno> {
    let (kind, description) = (kind.as_ptr().addr(), description.as_ptr().addr());
    let (data, size) = if payload.is_empty() { (0, 0) } else { (payload.as_ptr().addr(), payload.len()) };
    // SAFETY: two strings that end in a null byte, and a payload with its size.
    unsafe { call(libc::SYS_add_key, [kind, description, data, size, keyring]) }
}
