//! Files in the worker's directory.

use std::fs::File;

use harness::check::{Checked, equal};
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, pread, pwrite};

use super::content;

/// A new, empty file for reading and writing; one of that name is emptied.
pub(crate) fn create(name: &str) -> std::io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(true).open(name)
}

/// open(2) of a file for reading and writing with more `flags`.
pub(crate) fn open(name: &str, flags: OFlags) -> Result<rustix::fd::OwnedFd, Errno> {
    rustix::fs::open(name, OFlags::RDWR | OFlags::CLOEXEC | flags, Mode::RUSR | Mode::WUSR)
}

/// Writes `size` bytes at `offset` that [`verify`] finds.
pub(crate) fn fill(file: &File, seed: u64, offset: u64, size: usize) -> Checked {
    equal("bytes written", pwrite(file, &content::of(size, seed, offset), offset)?, size)
}

/// Reads and verifies `size` bytes at `offset`.
pub(crate) fn verify(what: &str, file: &File, seed: u64, offset: u64, size: usize) -> Checked {
    let mut bytes = vec![0; size];
    equal("bytes read", pread(file, &mut *bytes, offset)?, size)?;
    content::verify(what, &bytes, seed, offset)
}
