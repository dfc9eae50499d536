//! Files in memory and their seals: memfd_create(2).

use harness::check::{Checked, equal, fails};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{
    MemfdFlags, Mode, OFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create,
    open,
};
use rustix::io::{Errno, pread, pwrite, write};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::case::Case;

pub(super) const CASES: &[Case] = &[
    Case::new("memfd/seal-write", "F_SEAL_WRITE: write(2) and new writable mappings give EPERM", seal_write),
    Case::new("memfd/seal-busy", "F_SEAL_WRITE gives EBUSY while a writable mapping exists", seal_busy),
    Case::new(
        "memfd/seal-size",
        "F_SEAL_SHRINK and F_SEAL_GROW forbid their kind of ftruncate(2)",
        seal_size,
    ),
    Case::new("memfd/seal-seal", "F_SEAL_SEAL forbids more seals; only memfds can be sealed", seal_seal),
    Case::new(
        "memfd/create",
        "memfd_create(2) gives an empty file without a name, EINVAL for bad flags",
        create,
    ),
];

fn sealable() -> Result<OwnedFd, Errno> {
    let file = memfd_create("kiln", MemfdFlags::ALLOW_SEALING | MemfdFlags::CLOEXEC)?;
    write(&file, b"contents")?;
    Ok(file)
}

/// Maps the file's first page shared and unmaps it again, after `mapped` has run.
fn map<T>(file: &OwnedFd, access: ProtFlags, mapped: impl FnOnce() -> T) -> Result<T, Errno> {
    // SAFETY: a new mapping at an address that the kernel chooses, which nobody uses.
    let address = unsafe { mmap(std::ptr::null_mut(), 4096, access, MapFlags::SHARED, file, 0)? };
    let result = mapped();
    // SAFETY: mapped above.
    unsafe { munmap(address, 4096)? };
    Ok(result)
}

fn seal_write() -> Checked {
    let file = sealable()?;
    fcntl_add_seals(&file, SealFlags::WRITE)?;
    fails("write", pwrite(&file, b"C", 0), Errno::PERM)?;
    let writable = ProtFlags::READ | ProtFlags::WRITE;
    fails("map to write", map(&file, writable, || ()), Errno::PERM)?;
    let mut buffer = [0; 16];
    equal("bytes read", pread(&file, &mut buffer, 0)?, 8)?;
    equal("contents", &buffer[..8], b"contents")?;
    ftruncate(&file, 4096)?;
    equal("size after growing", fstat(&file)?.st_size, 4096)
}

fn seal_busy() -> Checked {
    let file = sealable()?;
    let seal = || fcntl_add_seals(&file, SealFlags::WRITE);
    let refused = map(&file, ProtFlags::READ | ProtFlags::WRITE, seal)?;
    fails("seal while mapped to write", refused, Errno::BUSY)?;
    equal("seals", fcntl_get_seals(&file)?, SealFlags::empty())?;
    pwrite(&file, b"C", 0)?;
    seal()?;
    fails("write after the seal", pwrite(&file, b"c", 0), Errno::PERM)
}

fn seal_size() -> Checked {
    let file = sealable()?;
    fcntl_add_seals(&file, SealFlags::SHRINK)?;
    fails("shrink", ftruncate(&file, 7), Errno::PERM)?;
    ftruncate(&file, 100)?;
    fcntl_add_seals(&file, SealFlags::GROW)?;
    fails("grow", ftruncate(&file, 101), Errno::PERM)?;
    fails("write beyond the end", pwrite(&file, b"!", 4096), Errno::PERM)?;
    equal("write inside", pwrite(&file, b"!", 99)?, 1)?;
    equal("size", fstat(&file)?.st_size, 100)?;
    equal("seals", fcntl_get_seals(&file)?, SealFlags::SHRINK | SealFlags::GROW)
}

fn seal_seal() -> Checked {
    let file = sealable()?;
    fcntl_add_seals(&file, SealFlags::GROW | SealFlags::SEAL)?;
    fails("one more seal", fcntl_add_seals(&file, SealFlags::WRITE), Errno::PERM)?;
    let unsealable = memfd_create("kiln", MemfdFlags::empty())?;
    equal("seals of a plain memfd", fcntl_get_seals(&unsealable)?, SealFlags::SEAL)?;
    fails("seal a plain memfd", fcntl_add_seals(&unsealable, SealFlags::WRITE), Errno::PERM)?;
    let file = sealable()?;
    let read_only = open(path_of(&file), OFlags::RDONLY, Mode::empty())?;
    fails("seal without write access", fcntl_add_seals(read_only, SealFlags::WRITE), Errno::PERM)?;
    let (_reader, pipe) = rustix::pipe::pipe()?;
    fails("seal a pipe", fcntl_add_seals(pipe, SealFlags::WRITE), Errno::INVAL)
}

fn path_of(file: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

fn create() -> Checked {
    let file = memfd_create("kiln", MemfdFlags::CLOEXEC)?;
    let state = fstat(&file)?;
    equal("size and links", (state.st_size, state.st_nlink), (0, 0))?;
    let flags = rustix::io::fcntl_getfd(&file)?;
    equal("descriptor flags", flags, rustix::io::FdFlags::CLOEXEC)?;
    let name = std::fs::read_link(path_of(&file))?;
    equal("name in /proc", name.to_string_lossy().as_ref(), "/memfd:kiln (deleted)")?;
    let unknown = MemfdFlags::from_bits_retain(0x8000);
    fails("an unknown flag", memfd_create("kiln", unknown), Errno::INVAL)?;
    fails("a name of 250 bytes", memfd_create("n".repeat(250), MemfdFlags::empty()), Errno::INVAL)
}
