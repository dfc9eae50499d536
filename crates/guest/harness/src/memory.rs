//! Mapped memory: mmap(2).

use rustix::fd::AsFd;
use rustix::io::Errno;
use rustix::mm::{
    Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap, mmap_anonymous, mprotect, munmap,
};
use rustix::param::page_size;

use crate::sys::succeeded;

/// Pages of an [`Area`] unless something else is said.
pub const PAGES: usize = 4;

/// Mapped memory, for as long as the process of the case lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// Its first byte.
    pub start: *mut u8,
    /// Its size in bytes.
    pub length: usize,
}

impl Area {
    /// New memory, private or shared.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn anonymous(flags: MapFlags) -> Result<Self, Errno> {
        Self::new(PAGES * page_size(), flags)
    }

    /// As much of it as wanted, in bytes.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn new(length: usize, flags: MapFlags) -> Result<Self, Errno> {
        // SAFETY: a new mapping at an address that the kernel chooses.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), length, READ_WRITE, flags)? };
        Ok(Self { start: start.cast(), length })
    }

    /// The first pages of `file`.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn of(file: impl AsFd, access: ProtFlags, flags: MapFlags) -> Result<Self, Errno> {
        let length = PAGES * page_size();
        // SAFETY: a new mapping at an address that the kernel chooses.
        let start = unsafe { mmap(std::ptr::null_mut(), length, access, flags, file, 0)? };
        Ok(Self { start: start.cast(), length })
    }

    /// Where page `number` begins.
    #[must_use]
    pub fn page(self, number: usize) -> *mut u8 {
        self.start.wrapping_add(number * page_size())
    }

    /// The first byte of page `number`.
    #[must_use]
    pub fn get(self, number: usize) -> u8 {
        // SAFETY: inside the area; where that is not accessible the fault is what the case wants.
        unsafe { self.page(number).read_volatile() }
    }

    /// Sets the first byte of page `number`.
    pub fn set(self, number: usize, value: u8) {
        // SAFETY: inside the area; where that is not accessible the fault is what the case wants.
        unsafe { self.page(number).write_volatile(value) }
    }

    /// Writes to each page.
    pub fn touch_all(self) {
        (0..self.length / page_size()).for_each(|number| self.set(number, 1));
    }

    /// madvise(2) of all of it.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn advise(self, advice: Advice) -> Result<(), Errno> {
        // SAFETY: no reference points into the area.
        unsafe { madvise(self.start.cast(), self.length, advice) }
    }

    /// Small pages only, so that a write brings no more than its page.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn without_huge_pages(self) -> Result<Self, Errno> {
        match self.advise(Advice::LinuxNoHugepage) {
            Err(Errno::INVAL) => Ok(self), // The kernel has no huge pages.
            result => result.map(|()| self),
        }
    }

    /// mprotect(2) of all of it.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn protect(self, access: MprotectFlags) -> Result<(), Errno> {
        // SAFETY: no reference points into the area.
        unsafe { mprotect(self.start.cast(), self.length, access) }
    }

    /// munmap(2) of all of it.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn unmap(self) -> Result<(), Errno> {
        // SAFETY: no reference points into the area.
        unsafe { munmap(self.start.cast(), self.length) }
    }

    /// mincore(2): which pages are in memory.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn resident(self) -> Result<[bool; PAGES], Errno> {
        let mut pages = [0_u8; PAGES];
        // SAFETY: one byte for each page of the area.
        succeeded(unsafe { libc::mincore(self.start.cast(), self.length, pages.as_mut_ptr()) })?;
        Ok(pages.map(|page| page & 1 == 1))
    }
}

/// Access for reading and writing.
pub const READ_WRITE: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);
