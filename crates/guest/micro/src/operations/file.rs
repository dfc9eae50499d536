//! Files: open(2), stat(2), read(2), write(2) and what else a file can do. They are made in the current directory:
//! on tmpfs here, on ext4 in [`super::ext4`].

use harness::check::{Checked, at_least, equal, holds};
use protocol::Need;
use rustix::fd::OwnedFd;
use rustix::fs::{
    Access, AtFlags, FallocateFlags, FlockOperation, Mode, OFlags, SeekFrom, StatxFlags, XattrFlags, access,
    chmod, copy_file_range, fallocate, fcntl_getfl, fcntl_lock, flock, fstat, fsync, ftruncate, getxattr,
    open, seek, setxattr, stat, statfs, statx,
};
use rustix::io::{Errno, dup, pread, pwrite, read};

use super::parts::{PRIVATE, gives, nothing, succeeds};
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("file/open-close", "open(2) of a file and close(2)", open_close),
    Operation::new(
        "file/open-tmpfile",
        "open(2) O_TMPFILE of a file without a name and close(2)",
        open_tmpfile,
    ),
    Operation::new("file/dup-close", "dup(2) of a descriptor and close(2)", dup_close),
    Operation::new("file/stat", "stat(2) of a file", stat_file),
    Operation::new("file/fstat", "fstat(2) of an open file", fstat_file),
    Operation::new("file/statx", "statx(2) of a file, all fields", statx_file),
    Operation::new("file/statfs", "statfs(2) of the file system", statfs_file),
    Operation::new("file/access", "access(2) R_OK of a file", access_file),
    Operation::new("file/chmod", "chmod(2) of a file", chmod_file),
    Operation::new("file/fcntl-getfl", "fcntl(2) F_GETFL", getfl),
    Operation::new("file/lseek", "lseek(2) SEEK_SET", lseek),
    Operation::new("file/lseek-read-4k", "lseek(2) to the start and read(2) of 4 KiB", lseek_read),
    Operation::new("file/pread-1", "pread(2) of one byte", |meter| pread_file(meter, 1)),
    Operation::new("file/pread-4k", "pread(2) of 4 KiB", |meter| pread_file(meter, 4 << 10)),
    Operation::new("file/pread-64k", "pread(2) of 64 KiB", |meter| pread_file(meter, 64 << 10)),
    Operation::new("file/pwrite-1", "pwrite(2) of one byte over what is there", |meter| {
        pwrite_file(meter, 1)
    }),
    Operation::new("file/pwrite-4k", "pwrite(2) of 4 KiB over what is there", |meter| {
        pwrite_file(meter, 4 << 10)
    }),
    Operation::new("file/pwrite-64k", "pwrite(2) of 64 KiB over what is there", |meter| {
        pwrite_file(meter, 64 << 10)
    }),
    Operation::new("file/append-4k", "write(2) of the first 4 KiB of an empty file", append),
    Operation::new("file/truncate-64k", "ftruncate(2) of a file of 64 KiB to nothing", truncate),
    Operation::new("file/fallocate-64k", "fallocate(2) of 64 KiB in an empty file", allocate),
    Operation::new("file/fsync", "fsync(2) of a file that was written to", sync_written),
    Operation::new("file/copy-range-64k", "copy_file_range(2) of 64 KiB over another file", copy_range),
    Operation::new("file/flock", "flock(2) LOCK_EX and LOCK_UN", flock_file),
    Operation::new("file/fcntl-lock", "fcntl(2) F_SETLK of a whole file, and its release", fcntl_lock_file),
    Operation::new("file/setxattr", "setxattr(2) of 8 bytes over a value of that size", set_attribute)
        .needs(&[Need::Config("TMPFS_XATTR")]),
    Operation::new("file/getxattr", "getxattr(2) of 8 bytes", get_attribute)
        .needs(&[Need::Config("TMPFS_XATTR")]),
];

const NAME: &std::ffi::CStr = c"file";

/// Size of a file with something in it.
const SIZE: usize = 64 << 10;

/// A new file without anything in it.
fn empty() -> Result<OwnedFd, Errno> {
    open(NAME, OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC, PRIVATE)
}

/// A new file of [`SIZE`] times the letter k.
fn full() -> Checked<OwnedFd> {
    let file = empty()?;
    equal("bytes written", pwrite(&file, &[b'k'; SIZE], 0)?, SIZE)?;
    Ok(file)
}

pub(super) fn open_close(meter: &mut Meter) -> Checked {
    full()?;
    let open = || open(NAME, OFlags::RDONLY, Mode::empty());
    meter.each(open)?;
    equal("its size", fstat(open()?)?.st_size, SIZE as i64)
}

pub(super) fn open_tmpfile(meter: &mut Meter) -> Checked {
    let open = || open(c".", OFlags::RDWR | OFlags::TMPFILE, PRIVATE);
    meter.around(nothing, |()| open().map(drop), |(), ()| Ok(()))?;
    equal("its names", fstat(open()?)?.st_nlink, 0)
}

fn dup_close(meter: &mut Meter) -> Checked {
    let file = full()?;
    meter.each(|| dup(&file))?;
    equal("its inode", fstat(dup(&file)?)?.st_ino, fstat(&file)?.st_ino)
}

pub(super) fn stat_file(meter: &mut Meter) -> Checked {
    full()?;
    gives(meter, "its size", SIZE as i64, || stat(NAME).map(|found| found.st_size))
}

pub(super) fn fstat_file(meter: &mut Meter) -> Checked {
    let file = full()?;
    gives(meter, "its size", SIZE as i64, || fstat(&file).map(|found| found.st_size))
}

fn statx_file(meter: &mut Meter) -> Checked {
    full()?;
    let ask = || statx(rustix::fs::CWD, NAME, AtFlags::empty(), StatxFlags::ALL);
    gives(meter, "its size", SIZE as u64, || ask().map(|found| found.stx_size))
}

fn statfs_file(meter: &mut Meter) -> Checked {
    full()?;
    gives(meter, "the longest name", 255, || statfs(NAME).map(|found| found.f_namelen))
}

fn access_file(meter: &mut Meter) -> Checked {
    full()?;
    succeeds(meter, || access(NAME, Access::READ_OK))
}

fn chmod_file(meter: &mut Meter) -> Checked {
    full()?;
    succeeds(meter, || chmod(NAME, Mode::RUSR))?;
    equal("its mode", stat(NAME)?.st_mode & 0o7777, 0o400)
}

fn getfl(meter: &mut Meter) -> Checked {
    let file = full()?;
    gives(meter, "it is open for both", true, || fcntl_getfl(&file).map(|flags| flags.contains(OFlags::RDWR)))
}

fn lseek(meter: &mut Meter) -> Checked {
    let file = full()?;
    gives(meter, "the offset", 4711, || seek(&file, SeekFrom::Start(4711)))
}

fn lseek_read(meter: &mut Meter) -> Checked {
    let (file, mut buffer) = (full()?, [0; 4 << 10]);
    gives(meter, "bytes read", buffer.len(), || {
        seek(&file, SeekFrom::Start(0))?;
        read(&file, &mut buffer)
    })?;
    holds("they are what was written", buffer == [b'k'; 4 << 10])
}

pub(super) fn pread_file(meter: &mut Meter, size: usize) -> Checked {
    let (file, mut buffer) = (full()?, vec![0; size]);
    gives(meter, "bytes read", size, || pread(&file, &mut *buffer, 0))?;
    holds("they are what was written", buffer.iter().all(|&byte| byte == b'k'))
}

pub(super) fn pwrite_file(meter: &mut Meter, size: usize) -> Checked {
    let (file, data) = (full()?, vec![b'n'; size]);
    gives(meter, "bytes written", size, || pwrite(&file, &data, 0))?;
    let mut buffer = [0; SIZE];
    equal("bytes read", pread(&file, &mut buffer, 0)?, SIZE)?;
    equal("bytes that are new", buffer.iter().filter(|&&byte| byte == b'n').count(), size)
}

pub(super) fn append(meter: &mut Meter) -> Checked {
    let file = empty()?;
    meter.around(
        || Ok(ftruncate(&file, 0)?),
        |()| pwrite(&file, &[b'k'; 4 << 10], 0),
        |(), written| equal("bytes in the file", (fstat(&file)?.st_size, written), (4 << 10, 4 << 10)),
    )
}

pub(super) fn truncate(meter: &mut Meter) -> Checked {
    meter.around(full, |file| ftruncate(file, 0), |file, ()| equal("its size", fstat(&file)?.st_size, 0))
}

pub(super) fn allocate(meter: &mut Meter) -> Checked {
    meter.around(
        || Ok(empty()?),
        |file| fallocate(file, FallocateFlags::empty(), 0, SIZE as u64),
        |file, ()| at_least("its blocks of 512 bytes", fstat(&file)?.st_blocks, SIZE as i64 / 512),
    )
}

pub(super) fn sync_written(meter: &mut Meter) -> Checked {
    let file = full()?;
    let dirty = || equal("bytes written", pwrite(&file, &[b'n'; 4 << 10], 0)?, 4 << 10);
    meter.around(dirty, |()| fsync(&file), |(), ()| Ok(()))
}

pub(super) fn copy_range(meter: &mut Meter) -> Checked {
    let source = full()?;
    let target = open(c"copy", OFlags::RDWR | OFlags::CREATE, PRIVATE)?;
    gives(meter, "bytes copied", SIZE, || {
        copy_file_range(&source, Some(&mut 0), &target, Some(&mut 0), SIZE)
    })?;
    let mut buffer = [0; SIZE];
    equal("bytes read", pread(&target, &mut buffer, 0)?, SIZE)?;
    holds("they are what was written", buffer == [b'k'; SIZE])
}

fn flock_file(meter: &mut Meter) -> Checked {
    let file = full()?;
    meter.each(|| {
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        flock(&file, FlockOperation::Unlock)
    })
}

fn fcntl_lock_file(meter: &mut Meter) -> Checked {
    let file = full()?;
    meter.each(|| {
        fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive)?;
        fcntl_lock(&file, FlockOperation::Unlock)
    })
}

/// An attribute that every file system with attributes has, for root.
const ATTRIBUTE: &std::ffi::CStr = c"trusted.kiln";

pub(super) fn set_attribute(meter: &mut Meter) -> Checked {
    full()?;
    succeeds(meter, || setxattr(NAME, ATTRIBUTE, b"measured", XattrFlags::empty()))?;
    let mut value = [0; 8];
    equal("bytes of its value", getxattr(NAME, ATTRIBUTE, &mut value)?, 8)?;
    equal("the value", &value, b"measured")
}

pub(super) fn get_attribute(meter: &mut Meter) -> Checked {
    full()?;
    setxattr(NAME, ATTRIBUTE, b"measured", XattrFlags::empty())?;
    let mut value = [0; 8];
    gives(meter, "bytes of its value", 8, || getxattr(NAME, ATTRIBUTE, &mut value))?;
    equal("the value", &value, b"measured")
}
