//! Memory that is there before it is needed.

use protocol::latency::Grant;
use rustix::io::Errno;
use rustix::mm::{MlockAllFlags, mlockall};

/// Bytes of stack that the loop of a measuring thread needs at most.
const STACK: usize = 16 << 10;

/// Keeps the allocator from giving memory back: that would interrupt all CPUs on which threads of this process run, so that
/// they forget its addresses.
pub(crate) fn keep() {
    for (parameter, value) in [(libc::M_ARENA_MAX, 1), (libc::M_MMAP_MAX, 0), (libc::M_TRIM_THRESHOLD, -1)] {
        // SAFETY: sets a parameter of the allocator. One that it does not take is left as it is.
        unsafe { libc::mallopt(parameter, value) };
    }
}

/// Locks all that is mapped now, which also brings it into memory: mlockall(2). What the first thread maps later stays
/// unlocked: nothing that is measured uses it.
pub(crate) fn lock() -> Grant {
    match mlockall(MlockAllFlags::CURRENT) {
        Ok(()) => Grant::Granted,
        Err(error @ (Errno::PERM | Errno::NOMEM)) => Grant::Refused(format!(
            "mlockall: {error}: it needs CAP_IPC_LOCK, or a higher RLIMIT_MEMLOCK (ulimit -l)"
        )),
        Err(error) => Grant::Refused(format!("mlockall: {error}")),
    }
}

/// Writes to the stack as deep as the loop goes.
#[inline(never)]
pub(crate) fn touch_stack() {
    std::hint::black_box(&[0_u8; STACK]);
}
