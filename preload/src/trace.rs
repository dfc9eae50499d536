//! What UML calls instead of glibc's `ptrace`.

use std::ffi::{c_long, c_uint, c_void};
use std::sync::Mutex;

use crate::state::complete;

/// `NT_X86_XSTATE` of elf.h: the extended state.
const EXTENDED: usize = 0x202;

/// More than any state of today.
const SPACE: usize = 64 << 10;

/// The stacks of UML's own kernel are too small for it.
static WHOLE: Mutex<[u8; SPACE]> = Mutex::new([0; SPACE]);

/// ptrace(2), as glibc declares it; arguments that a request does not have are not looked at.
///
/// # Safety
///
/// As for glibc's: pointers must be what the request asks for.
#[unsafe(no_mangle)]
unsafe extern "C" fn ptrace(
    request: c_uint,
    process: c_long,
    address: *mut c_void,
    data: *mut c_void,
) -> c_long {
    if request == libc::PTRACE_SETREGSET && address.addr() == EXTENDED {
        // SAFETY: this request comes with a vector.
        if let Some(done) = unsafe { set_extended(process, address, data.cast()) } {
            return done;
        }
    }
    if !matches!(request, libc::PTRACE_PEEKTEXT | libc::PTRACE_PEEKDATA | libc::PTRACE_PEEKUSER) {
        // SAFETY: the caller's arguments as they are.
        return unsafe { call(request, process, address, data) };
    }
    let mut word: c_long = 0;
    // SAFETY: these requests write a word.
    match unsafe { call(request, process, address, (&raw mut word).cast()) } {
        0.. => word,
        failed => failed,
    }
}

/// Hands back a whole state of which the caller knows only the beginning; nothing if it knows all of it.
unsafe fn set_extended(process: c_long, address: *mut c_void, given: *const libc::iovec) -> Option<c_long> {
    let mut whole = WHOLE.try_lock().ok()?;
    let mut vector = libc::iovec { iov_base: whole.as_mut_ptr().cast(), iov_len: SPACE };
    let pointer = (&raw mut vector).cast();
    // SAFETY: the vector names memory that is ours; the caller's is as long as it says.
    unsafe {
        let has_more =
            call(libc::PTRACE_GETREGSET, process, address, pointer) == 0 && vector.iov_len > (*given).iov_len;
        if !has_more {
            return None;
        }
        let beginning = std::slice::from_raw_parts((*given).iov_base.cast::<u8>(), (*given).iov_len);
        complete(&mut whole[..vector.iov_len], beginning);
        Some(call(libc::PTRACE_SETREGSET, process, address, pointer))
    }
}

unsafe fn call(request: c_uint, process: c_long, address: *mut c_void, data: *mut c_void) -> c_long {
    // SAFETY: whoever calls this keeps to ptrace(2).
    unsafe { libc::syscall(libc::SYS_ptrace, request, process, address, data) }
}
