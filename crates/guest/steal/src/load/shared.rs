//! A number that two processes share.

use std::sync::atomic::AtomicU64;

use harness::check::describe;
use harness::instrument::broken;
use harness::memory::READ_WRITE;
use protocol::Report;
use rustix::mm::{MapFlags, mmap_anonymous, munmap};

/// A number that the sender counts in and this process reads.
#[derive(Debug)]
pub(super) struct Shared(*mut AtomicU64);

impl Shared {
    /// Zero, shared with all processes that are forked from now on.
    pub(super) fn new() -> Result<Self, Report> {
        // SAFETY: a new mapping at an address that the kernel chooses.
        let memory = unsafe {
            mmap_anonymous(std::ptr::null_mut(), size_of::<AtomicU64>(), READ_WRITE, MapFlags::SHARED)
        };
        memory.map(|memory| Self(memory.cast())).map_err(|error| broken(format!("mmap: {}", describe(error))))
    }

    pub(super) fn count(&self) -> &AtomicU64 {
        // SAFETY: mapped as long as this lives, zeroed, aligned to a page, and everybody uses it as an atomic.
        unsafe { &*self.0 }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: no reference is left.
        let _ = unsafe { munmap(self.0.cast(), size_of::<AtomicU64>()) };
    }
}
