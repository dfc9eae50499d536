//! Page faults that a program answers: userfaultfd(2).

use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};
use std::thread;

use harness::check::{Checked, equal, fail, fails};
use harness::sys::ioctl;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::ioctl::opcode;
use rustix::mm::{MapFlags, ProtFlags, UserfaultfdFlags, mmap_anonymous, munmap, userfaultfd};

use crate::case::{Case, Need};

const USERFAULTFD: &[Need] = &[Need::Config("USERFAULTFD")];

pub(super) const CASES: &[Case] = &[
    Case::new(
        "userfaultfd/missing-page",
        "a touched page is reported; UFFDIO_COPY fills it and wakes the thread that touched it",
        missing_page,
    )
    .needs(USERFAULTFD),
    Case::new("userfaultfd/zero-page", "UFFDIO_ZEROPAGE fills ahead; a filled page gives EEXIST", zero_page)
        .needs(USERFAULTFD),
    Case::new(
        "userfaultfd/refusals",
        "UFFDIO_API and UFFDIO_REGISTER refuse bad versions, modes and ranges with EINVAL",
        refusals,
    )
    .needs(USERFAULTFD),
];

// Constants of <linux/userfaultfd.h>.
const API: u64 = 0xaa;
const REGISTER_MISSING: u64 = 1;
const EVENT_PAGEFAULT: u8 = 0x12;

/// `struct uffdio_api`: version, features, operations.
type Api = [u64; 3];
/// `struct uffdio_register`: address, length, mode, operations.
type Register = [u64; 4];
/// `struct uffdio_copy`: destination, source, length, mode, bytes copied.
type Copy = [u64; 5];
/// `struct uffdio_zeropage`: address, length, mode, bytes filled.
type Zero = [u64; 4];
/// `struct uffd_msg`: event, flags, address and others.
type Message = [u64; 4];

/// A page of fresh memory, unmapped when dropped.
struct Memory {
    address: usize,
    size: usize,
}

impl Memory {
    fn new() -> Result<Self, Errno> {
        let size = rustix::param::page_size();
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address that the kernel chooses.
        let address = unsafe { mmap_anonymous(std::ptr::null_mut(), size, access, MapFlags::PRIVATE)? };
        Ok(Self { address: address.expose_provenance(), size })
    }

    fn start(&self) -> u64 {
        self.address as u64
    }

    fn length(&self) -> u64 {
        self.size as u64
    }

    /// Reads a byte, whoever must fill the page first.
    fn byte(&self, index: usize) -> u8 {
        assert!(index < self.size);
        // SAFETY: inside the mapping; volatile, because the kernel and other threads fill it.
        unsafe { with_exposed_provenance::<u8>(self.address + index).read_volatile() }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and nothing can refer to it any more.
        let _ = unsafe { munmap(with_exposed_provenance_mut(self.address), self.size) };
    }
}

/// Makes request `number` with the structure it is defined with.
fn request<T>(faults: &OwnedFd, number: u8, argument: &mut T) -> Result<usize, Errno> {
    let code = opcode::read_write::<T>(0xaa, number);
    // SAFETY: the request's code carries the size of the structure.
    unsafe { ioctl(faults, code, (&raw mut *argument).addr()) }
}

fn api(faults: &OwnedFd, version: u64) -> Result<usize, Errno> {
    request::<Api>(faults, 0x3f, &mut [version, 0, 0])
}

fn register(faults: &OwnedFd, start: u64, length: u64, mode: u64) -> Result<usize, Errno> {
    request::<Register>(faults, 0, &mut [start, length, mode, 0])
}

fn copy(faults: &OwnedFd, memory: &Memory, source: &[u8]) -> Result<usize, Errno> {
    request::<Copy>(faults, 3, &mut [memory.start(), source.as_ptr().addr() as u64, memory.length(), 0, 0])
}

fn open() -> Result<OwnedFd, Errno> {
    // SAFETY: faults are only asked for in memory that the cases map for it.
    unsafe { userfaultfd(UserfaultfdFlags::CLOEXEC) }
}

/// Memory whose faults are reported.
fn watched() -> Checked<(OwnedFd, Memory)> {
    let (faults, memory) = (open()?, Memory::new()?);
    api(&faults, API)?;
    register(&faults, memory.start(), memory.length(), REGISTER_MISSING)?;
    Ok((faults, memory))
}

fn missing_page() -> Checked {
    let (faults, memory) = watched()?;
    let page = vec![0x5a; memory.size];
    thread::scope(|scope| {
        let filler = scope.spawn(|| answer_one_fault(&faults, &memory, &page));
        let seen = [memory.byte(100), memory.byte(memory.size - 1)];
        filler.join().unwrap_or_else(|_| fail("the thread that fills the page panicked"))?;
        equal("bytes that were touched", seen, [0x5a, 0x5a])
    })?;
    fails("copy to a page that is there", copy(&faults, &memory, &page), Errno::EXIST)
}

/// Waits for a fault in `memory` and fills it with `page`.
fn answer_one_fault(faults: &OwnedFd, memory: &Memory, page: &[u8]) -> Checked {
    let mut message = [0; size_of::<Message>()];
    equal("size of the message", rustix::io::read(faults, &mut message)?, size_of::<Message>())?;
    equal("event", message[0], EVENT_PAGEFAULT)?;
    let mut address = [0; 8];
    address.copy_from_slice(&message[16..24]);
    equal("address", u64::from_ne_bytes(address), memory.start())?;
    copy(faults, memory, page)?;
    Ok(())
}

fn zero_page() -> Checked {
    let (faults, memory) = watched()?;
    let zero = || request::<Zero>(&faults, 4, &mut [memory.start(), memory.length(), 0, 0]);
    zero()?;
    equal("byte of the filled page", memory.byte(8), 0)?;
    fails("fill it again", zero(), Errno::EXIST)?;
    rustix::io::ioctl_fionbio(&faults, true)?;
    fails("message when no fault happened", rustix::io::read(&faults, &mut [0; 32]), Errno::AGAIN)
}

fn refusals() -> Checked {
    let (faults, memory) = (open()?, Memory::new()?);
    let (start, length) = (memory.start(), memory.length());
    let early = register(&faults, start, length, REGISTER_MISSING);
    fails("register before UFFDIO_API", early, Errno::INVAL)?;
    fails("an unknown version", api(&faults, 1), Errno::INVAL)?;
    api(&faults, API)?;
    fails("register in no mode", register(&faults, start, length, 0), Errno::INVAL)?;
    fails("register an odd range", register(&faults, start + 1, length, REGISTER_MISSING), Errno::INVAL)?;
    fails("register nothing", register(&faults, start, 0, REGISTER_MISSING), Errno::INVAL)?;
    register(&faults, start, length, REGISTER_MISSING)?;
    let other = open()?;
    api(&other, API)?;
    fails("register it twice", register(&other, start, length, REGISTER_MISSING), Errno::BUSY)
}
