//! The buffer of an event, in which the kernel tells of processes: `struct perf_event_mmap_page`.

use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fd::AsFd;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;

use super::record::{HEADER, size_of_record};

/// Where the first page has what the kernel has written to, and where this process has read to.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// A buffer, which is unmapped when this is dropped.
#[derive(Debug)]
pub struct Ring {
    start: *mut u8,
    pages: usize,
}

impl Ring {
    /// Maps the buffer of an event, with so many pages of records: a power of two. Where the user may lock less memory it has half of them,
    /// and so on.
    ///
    /// # Errors
    ///
    /// As mmap(2) says.
    pub fn map(event: impl AsFd, mut pages: usize) -> Result<Self, Errno> {
        loop {
            let length = (1 + pages) * page_size();
            let flags = ProtFlags::READ | ProtFlags::WRITE;
            // SAFETY: a new mapping at an address of the kernel's choice.
            match unsafe { mmap(std::ptr::null_mut(), length, flags, MapFlags::SHARED, &event, 0) } {
                Ok(start) => return Ok(Self { start: start.cast(), pages }),
                Err(Errno::PERM | Errno::NOMEM | Errno::AGAIN) if pages > 1 => pages /= 2,
                Err(error) => return Err(error),
            }
        }
    }

    /// Hands each record that the kernel has written to `take`, and gives their room back.
    pub fn drain(&mut self, take: &mut dyn FnMut(&[u8])) {
        let head = self.word(HEAD).load(Ordering::Acquire);
        let mut tail = self.word(TAIL).load(Ordering::Relaxed);
        let mut record = Vec::new();
        while head.wrapping_sub(tail) >= HEADER as u64 {
            record.clear();
            self.copy(tail, HEADER, &mut record);
            let size = size_of_record(&record);
            if size < HEADER || size as u64 > head.wrapping_sub(tail) {
                // The kernel writes none like this: what follows cannot be read.
                tail = head;
                break;
            }
            self.copy(tail + HEADER as u64, size - HEADER, &mut record);
            take(&record);
            tail = tail.wrapping_add(size as u64);
        }
        self.word(TAIL).store(tail, Ordering::Release);
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the first page is mapped as long as this lives, and has aligned words there.
        unsafe { &*self.start.add(offset).cast::<AtomicU64>() }
    }

    /// Appends bytes that begin at this place of the records, which may go round the end.
    fn copy(&self, from: u64, length: usize, into: &mut Vec<u8>) {
        let size = self.pages * page_size();
        let begin = usize::try_from(from % size as u64).unwrap_or(0);
        let first = length.min(size - begin);
        for (offset, length) in [(begin, first), (0, length - first)] {
            // SAFETY: both parts lie in the mapping, where the kernel writes only past the head.
            into.extend_from_slice(unsafe {
                std::slice::from_raw_parts(self.start.add(page_size() + offset), length)
            });
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: mapped by `map`, and nobody has a reference into it.
        let _ = unsafe { munmap(self.start.cast(), (1 + self.pages) * page_size()) };
    }
}
