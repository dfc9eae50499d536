//! Rings of requests: io_uring(7).

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::io_uring::{
    IORING_OFF_SQ_RING, IORING_OFF_SQES, IoringEnterFlags, IoringFeatureFlags, IoringOp, io_uring_cqe,
    io_uring_enter, io_uring_params, io_uring_setup,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::check::{Checked, equal, holds, skip};

/// Requests for which a ring has room.
pub const ENTRIES: u32 = 8;

/// A ring with its shared memory.
#[derive(Debug)]
pub struct Ring {
    descriptor: OwnedFd,
    parameters: io_uring_params,
    rings: Mapping,
    entries: Mapping,
}

#[derive(Debug)]
struct Mapping {
    address: *mut c_void,
    size: usize,
}

impl Mapping {
    fn new(ring: &OwnedFd, offset: u64, size: usize) -> Result<Self, Errno> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: a new mapping at an address that the kernel chooses.
        let address = unsafe { mmap(std::ptr::null_mut(), size, access, flags, ring, offset)? };
        Ok(Self { address, size })
    }

    fn word(&self, offset: u32) -> &AtomicU32 {
        // SAFETY: the kernel gave the offset of an aligned word in this mapping, which is never
        // unmapped while borrowed and is changed by the kernel only atomically.
        unsafe { &*self.address.byte_add(offset as usize).cast() }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and nothing can refer to it any more.
        let _ = unsafe { munmap(self.address, self.size) };
    }
}

/// A completion: the request's number and its result.
pub type Completion = (u64, Result<u32, Errno>);

impl Ring {
    /// A ring with room for eight requests.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn new() -> Checked<Self> {
        let mut parameters = io_uring_params::default();
        // SAFETY: the parameters ask for nothing with addresses.
        let descriptor = match unsafe { io_uring_setup(ENTRIES, &mut parameters) } {
            Err(Errno::PERM) => return skip("io_uring_disabled forbids io_uring"),
            other => other?,
        };
        holds("one mapping for both rings", parameters.features.contains(IoringFeatureFlags::SINGLE_MMAP))?;
        let completions = parameters.cq_entries as usize * size_of::<(u64, u64)>();
        let size = (parameters.cq_off.cqes as usize + completions)
            .max((parameters.sq_off.array + parameters.sq_entries * 4) as usize);
        let rings = Mapping::new(&descriptor, IORING_OFF_SQ_RING, size)?;
        let size = parameters.sq_entries as usize * size_of::<Request>();
        let entries = Mapping::new(&descriptor, IORING_OFF_SQES, size)?;
        Ok(Self { descriptor, parameters, rings, entries })
    }

    /// Its file descriptor.
    #[must_use]
    pub fn descriptor(&self) -> &OwnedFd {
        &self.descriptor
    }

    /// Submits the requests, numbered from 0, without waiting.
    ///
    /// The memory that they name must live until they are completed.
    ///
    /// # Errors
    ///
    /// When the kernel takes fewer.
    pub fn submit(&self, requests: &[Request]) -> Checked {
        let count = self.put(requests);
        equal("requests submitted", self.enter(count, 0)?, count)
    }

    /// Puts the requests, numbered from 0, into the ring, and gives how many they are.
    pub fn put(&self, requests: &[Request]) -> u32 {
        let offsets = &self.parameters.sq_off;
        let tail = self.rings.word(offsets.tail).load(Ordering::Relaxed);
        for (number, request) in (0..).zip(requests) {
            let slot = (tail + number) % self.parameters.sq_entries;
            let request = Request { number: number.into(), ..*request };
            // SAFETY: the slot is inside the mapping and is the kernel's only after the tail moved.
            unsafe { self.entries.address.cast::<Request>().add(slot as usize).write(request) };
            self.rings.word(offsets.array + slot * 4).store(slot, Ordering::Relaxed);
        }
        let count = u32::try_from(requests.len()).unwrap_or(u32::MAX);
        self.rings.word(offsets.tail).store(tail.wrapping_add(count), Ordering::Release);
        count
    }

    /// io_uring_enter(2): submits what is in the ring, and waits for completions.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn enter(&self, submit: u32, complete: u32) -> Result<u32, Errno> {
        // SAFETY: the requests' memory is valid by the contract of who put them there.
        unsafe { io_uring_enter(&self.descriptor, submit, complete, IoringEnterFlags::GETEVENTS) }
    }

    /// Waits for `count` completions and takes them.
    ///
    /// # Errors
    ///
    /// When there are fewer.
    pub fn complete(&self, count: u32) -> Checked<Vec<Completion>> {
        self.enter(0, count)?;
        let taken: Vec<_> = std::iter::from_fn(|| self.take()).collect();
        equal("completions", taken.len(), count as usize)?;
        Ok(taken)
    }

    /// Takes a completion out of the ring, if there is one.
    pub fn take(&self) -> Option<Completion> {
        let offsets = &self.parameters.cq_off;
        let head = self.rings.word(offsets.head).load(Ordering::Relaxed);
        let tail = self.rings.word(offsets.tail).load(Ordering::Acquire);
        let completion = (head != tail).then(|| self.completion(head));
        self.rings
            .word(offsets.head)
            .store(head.wrapping_add(completion.is_some().into()), Ordering::Release);
        completion
    }

    fn completion(&self, index: u32) -> Completion {
        let slot = (index % self.parameters.cq_entries) as usize * size_of::<io_uring_cqe>();
        let offset = self.parameters.cq_off.cqes as usize + slot;
        // SAFETY: the slot is inside the mapping and the kernel has filled it.
        let entry = unsafe { &*self.rings.address.byte_add(offset).cast::<io_uring_cqe>() };
        let result = u32::try_from(entry.res).map_err(|_| Errno::from_raw_os_error(-entry.res));
        (entry.user_data.u64_(), result)
    }

    /// Submits the requests and gives their results in the order of the requests.
    ///
    /// # Errors
    ///
    /// When they are not all completed.
    pub fn run(&self, requests: &[Request]) -> Checked<Vec<Result<u32, Errno>>> {
        self.submit(requests)?;
        let mut completions = self.complete(u32::try_from(requests.len()).unwrap_or(u32::MAX))?;
        completions.sort_unstable_by_key(|(number, _)| *number);
        Ok(completions.into_iter().map(|(_, result)| result).collect())
    }
}

/// A submission queue entry; unlike rustix's it can hold an operation that does not exist.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Request {
    /// What is done: `IORING_OP_`.
    pub operation: u8,
    /// `IOSQE_` flags.
    pub flags: u8,
    /// Priority of the request.
    pub priority: u16,
    /// File descriptor, or number of a registered file.
    pub file: i32,
    /// Offset in the file, or what the operation has in its place.
    pub offset: u64,
    /// Address of the buffer, or what the operation has in its place.
    pub address: u64,
    /// Length of the buffer, in bytes.
    pub length: u32,
    /// Flags of the operation.
    pub operation_flags: u32,
    /// The number that its completion carries; [`Ring::put`] sets it.
    pub number: u64,
    /// Number of a registered buffer.
    pub buffer: u16,
    /// Number of registered credentials.
    pub personality: u16,
    /// A second file descriptor.
    pub other_file: i32,
    /// Not used.
    pub rest: [u64; 2],
}

/// A request of `operation`.
pub fn request(operation: IoringOp, file: i32, offset: u64, address: *const u8, length: usize) -> Request {
    Request {
        operation: operation as u8,
        file,
        offset,
        address: address.addr() as u64,
        length: u32::try_from(length).unwrap_or(u32::MAX),
        ..Request::default()
    }
}

/// Reads from `offset` of `file` into `buffer`, which must live until the completion.
pub fn read(file: &OwnedFd, offset: u64, buffer: &mut [u8]) -> Request {
    request(IoringOp::Read, file.as_raw_fd(), offset, buffer.as_mut_ptr(), buffer.len())
}

/// Writes `data` at `offset` of `file`; it must live until the completion.
pub fn write(file: &OwnedFd, offset: u64, data: &[u8]) -> Request {
    request(IoringOp::Write, file.as_raw_fd(), offset, data.as_ptr(), data.len())
}

/// A request of an operation that names no file and no memory.
pub fn empty(operation: IoringOp) -> Request {
    request(operation, -1, 0, std::ptr::null(), 0)
}
