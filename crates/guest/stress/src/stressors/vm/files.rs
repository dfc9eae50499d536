//! `memfd`, `seal`, `shm`, `secretmem`: memory with a descriptor.

use harness::check::{Checked, equal, fails};
use rustix::fs::{
    FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, fcntl_get_seals, ftruncate,
    memfd_create,
};
use rustix::io::{Errno, pread, pwrite};
use rustix::mm::MprotectFlags;
use rustix::param::page_size;
use rustix::shm;

use crate::Worker;
use crate::kit::content;
use crate::kit::helper::helper;
use crate::kit::memory::{Memory, pages};
use crate::kit::support::{supported, supported_unless};
use crate::stressor::{Class, Setting, Stressor, size};

const BYTES: Setting = size("bytes", "size of the memory", 65536..=128 << 20, 4 << 20);
const SECRET: Setting = size("bytes", "size of the memory", 4096..=64 << 10, 16 << 10);

pub(super) const MEMFD: Stressor = Stressor {
    name: "memfd",
    classes: &[Class::Vm, Class::Memory, Class::Os],
    about: "anonymous files of memfd_create(2): written, mapped, with holes punched, truncated",
    operation: "a file made, filled, punched and given up",
    verifies: "content through descriptor and mapping; holes are 0 and take no memory",
    options: &[BYTES],
    body: memfd,
    ..Stressor::PLAIN
};

pub(super) const SEAL: Stressor = Stressor {
    name: "seal",
    classes: &[Class::Vm, Class::Os],
    about: "seals of memfd_create(2): F_ADD_SEALS of fcntl(2)",
    operation: "a file with each seal",
    verifies: "each seal forbids what it names and nothing else, and cannot be taken away",
    body: seal,
    ..Stressor::PLAIN
};

pub(super) const SHM: Stressor = Stressor {
    name: "shm",
    classes: &[Class::Vm, Class::Ipc, Class::Os],
    about: "POSIX shared memory: shm_open(3), grown, shared with a child, shrunk, shm_unlink(3)",
    operation: "an object made, shared with a child and removed",
    verifies: "what the child wrote; the object has no name afterwards",
    options: &[BYTES],
    body: posix,
    ..Stressor::PLAIN
};

pub(super) const SECRETMEM: Stressor = Stressor {
    name: "secretmem",
    classes: &[Class::Vm, Class::Security],
    about: "memory that not even the kernel's direct map shows: memfd_secret(2)",
    operation: "secret memory made, filled and given up",
    verifies: "the process reads its content, and read(2) and write(2) are refused",
    options: &[SECRET],
    body: secret,
    ..Stressor::PLAIN
};

fn memfd(worker: &Worker) -> Checked {
    let (count, page, mut random) = (pages(worker.size(&BYTES)), page_size(), worker.random());
    let size = count * page;
    worker.repeat(|| {
        let (file, seed) = (memfd_create("stressed", MemfdFlags::CLOEXEC)?, random.next_u64());
        ftruncate(&file, size as u64)?;
        let mut memory = Memory::of(&file, size)?;
        content::fill(&mut memory, seed, 0);
        let at = random.below(count) * page;
        let mut bytes = vec![0; page];
        equal("bytes read", pread(&file, &mut *bytes, at as u64)?, page)?;
        content::verify("what was mapped", &bytes, seed, at as u64)?;
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(&file, hole, at as u64, page as u64)?;
        equal("bytes of a hole that are not 0", content::nonzero(&memory[at..at + page]), 0)?;
        let other = random.below(count) * page;
        if other != at {
            content::verify("what has no hole", &memory[other..other + page], seed, other as u64)?;
        }
        ftruncate(&file, 0)?;
        equal("blocks of an empty file", rustix::fs::fstat(&file)?.st_blocks, 0)
    })
}

fn seal(worker: &Worker) -> Checked {
    let size = page_size() as u64;
    worker.repeat(|| {
        let new = || -> Result<_, Errno> {
            let file = memfd_create("sealed", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
            ftruncate(&file, size)?;
            Ok(file)
        };
        let file = new()?;
        fcntl_add_seals(&file, SealFlags::SHRINK)?;
        fails("shrinking", ftruncate(&file, 1), Errno::PERM)?;
        ftruncate(&file, 2 * size)?;
        let file = new()?;
        fcntl_add_seals(&file, SealFlags::GROW)?;
        fails("growing", ftruncate(&file, 2 * size), Errno::PERM)?;
        fails("writing behind the end", pwrite(&file, b"x", size), Errno::PERM)?;
        ftruncate(&file, 1)?;
        let file = new()?;
        let mapped = Memory::of(&file, page_size())?;
        fails("sealing writes while one can write", fcntl_add_seals(&file, SealFlags::WRITE), Errno::BUSY)?;
        drop(mapped);
        fcntl_add_seals(&file, SealFlags::WRITE)?;
        fails("writing", pwrite(&file, b"x", 0), Errno::PERM)?;
        fails("mapping for writing", Memory::of(&file, page_size()), Errno::PERM)?;
        fcntl_add_seals(&file, SealFlags::SEAL)?;
        fails("one more seal", fcntl_add_seals(&file, SealFlags::GROW), Errno::PERM)?;
        equal("the seals", fcntl_get_seals(&file)?, SealFlags::WRITE | SealFlags::SEAL)
    })
}

fn posix(worker: &Worker) -> Checked {
    let (size, mut random) = (pages(worker.size(&BYTES)) * page_size(), worker.random());
    let name = format!("/kiln-stress-{}", std::process::id());
    let open = |flags| shm::open(name.as_str(), flags | shm::OFlags::RDWR, shm::Mode::RUSR | shm::Mode::WUSR);
    worker.repeat(|| {
        let object = supported_unless(
            "POSIX shared memory",
            open(shm::OFlags::CREATE | shm::OFlags::EXCL),
            &[Errno::NOENT],
        )?;
        // It has no name any more whatever happens below.
        let other = open(shm::OFlags::empty());
        shm::unlink(name.as_str())?;
        let (other, seed) = (other?, random.next_u64());
        ftruncate(&object, size as u64)?;
        let memory = Memory::of(&object, size)?;
        helper(|| {
            content::fill(&mut Memory::of(&other, size)?, seed, 0);
            Ok(())
        })?
        .succeeds()?;
        content::verify("what the child wrote", &memory, seed, 0)?;
        fails("opening what has no name", open(shm::OFlags::empty()), Errno::NOENT)
    })
}

fn secret(worker: &Worker) -> Checked {
    let (size, mut random) = (pages(worker.size(&SECRET)) * page_size(), worker.random());
    worker.repeat(|| {
        // SAFETY: takes only flags, and gives a new descriptor.
        let file = unsafe { harness::sys::call_for_descriptor(libc::SYS_memfd_secret, [0]) };
        let file = supported("memfd_secret(2)", file)?;
        ftruncate(&file, size as u64)?;
        let mut memory = supported_unless("secret memory", Memory::of(&file, size), &[Errno::AGAIN])?;
        let seed = random.next_u64();
        content::fill(&mut memory, seed, 0);
        content::verify("secret memory", &memory, seed, 0)?;
        fails("reading it through the descriptor", rustix::io::read(&file, &mut [0; 1]), Errno::INVAL)?;
        memory.area().protect(MprotectFlags::READ)?;
        content::verify("secret memory that can only be read", &memory, seed, 0)
    })
}
