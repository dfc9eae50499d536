//! Mapped memory, as bytes and as words.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::AtomicU64;

use harness::memory::{Area, READ_WRITE};
use rustix::fd::AsFd;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::param::page_size;

/// A mapping; it is unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Memory(Area);

impl Memory {
    /// New private memory of `size` bytes.
    ///
    /// # Errors
    ///
    /// As mmap(2) says.
    pub(crate) fn private(size: usize) -> Result<Self, Errno> {
        Self::anonymous(size, MapFlags::PRIVATE)
    }

    /// New memory of `size` bytes that is shared with children.
    ///
    /// # Errors
    ///
    /// As mmap(2) says.
    pub(crate) fn shared(size: usize) -> Result<Self, Errno> {
        Self::anonymous(size, MapFlags::SHARED)
    }

    /// New memory of `size` bytes with flags.
    ///
    /// # Errors
    ///
    /// As mmap(2) says.
    pub(crate) fn anonymous(size: usize, flags: MapFlags) -> Result<Self, Errno> {
        Area::new(size, flags).map(Self)
    }

    /// The first `size` bytes of `file`, which must have as many.
    ///
    /// # Errors
    ///
    /// As mmap(2) says.
    pub(crate) fn of(file: impl AsFd, size: usize) -> Result<Self, Errno> {
        Self::with(file, size, READ_WRITE, MapFlags::SHARED)
    }

    /// The same with access and flags.
    ///
    /// # Errors
    ///
    /// As mmap(2) says.
    pub(crate) fn with(
        file: impl AsFd,
        size: usize,
        access: ProtFlags,
        flags: MapFlags,
    ) -> Result<Self, Errno> {
        // SAFETY: a new mapping at an address that the kernel chooses.
        let start = unsafe { mmap(std::ptr::null_mut(), size, access, flags, file, 0)? };
        Ok(Self(Area { start: start.cast(), length: size }))
    }

    /// For system calls.
    pub(crate) fn area(&self) -> Area {
        self.0
    }

    /// As words; its size must be a multiple of their size.
    pub(crate) fn words(&mut self) -> &mut [u64] {
        let count = self.0.length / size_of::<u64>();
        // SAFETY: mapped, aligned to a page, and borrowed as long as the slice lives.
        unsafe { std::slice::from_raw_parts_mut(self.0.start.cast(), count) }
    }

    /// As words that several processes change.
    pub(crate) fn atomics(&self) -> &[AtomicU64] {
        let count = self.0.length / size_of::<u64>();
        // SAFETY: mapped, aligned to a page, and only used as atomics while borrowed so.
        unsafe { std::slice::from_raw_parts(self.0.start.cast(), count) }
    }
}

impl Deref for Memory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: mapped for as long as this lives.
        unsafe { std::slice::from_raw_parts(self.0.start, self.0.length) }
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: mapped for as long as this lives, and borrowed only once.
        unsafe { std::slice::from_raw_parts_mut(self.0.start, self.0.length) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // Nothing can be done about a mapping that stays.
        let _ = self.0.unmap();
    }
}

/// A size rounded down to whole pages, at least one.
pub(crate) fn whole_pages(size: usize) -> usize {
    pages(size) * page_size()
}

/// How many whole pages a size has, at least one.
pub(crate) fn pages(size: usize) -> usize {
    (size / page_size()).max(1)
}
