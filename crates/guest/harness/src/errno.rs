//! Errors of the kernel by their names.

use rustix::io::Errno;

/// The symbolic name of an error, such as `EINVAL`.
#[must_use]
pub fn name(error: Errno) -> String {
    unsafe extern "C" {
        fn strerrorname_np(number: i32) -> *const libc::c_char;
    }
    let number = error.raw_os_error();
    // SAFETY: glibc gives a static string or null for any number.
    let text = unsafe { strerrorname_np(number) };
    if text.is_null() {
        return format!("errno {number}");
    }
    // SAFETY: not null, so a static string that ends in a null byte.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Name and meaning of an error.
#[must_use]
pub fn describe(error: Errno) -> String {
    let text = std::io::Error::from(error).to_string();
    let meaning = text.split(" (os error").next().unwrap_or_default();
    format!("{} ({meaning})", name(error))
}
