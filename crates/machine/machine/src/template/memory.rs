//! The memory of a machine.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{MemfdFlags, SeekFrom, ftruncate, memfd_create, seek};
use rustix::io::Errno;

use crate::error::Error;

/// Bytes that are copied at once. The host's pages are as small, but a call for each would cost more than it saves.
const CHUNK: usize = 64 * 1024;

/// A file that a machine uses as its memory.
#[derive(Debug)]
pub(crate) struct Memory {
    file: File,
    mib: u64,
}

impl Memory {
    /// An empty one; it takes room as it is used.
    pub(crate) fn new(mib: u64) -> Result<Self, Error> {
        let failed = |error: Errno| Error::host("memory of a machine", error);
        let file = memfd_create("memory", MemfdFlags::CLOEXEC).map_err(failed)?;
        ftruncate(&file, mib << 20).map_err(failed)?;
        Ok(Self { file: file.into(), mib })
    }

    /// One that is kept; nothing if it has another size.
    pub(super) fn kept(file: File, mib: u64) -> io::Result<Option<Self>> {
        Ok((file.metadata()?.len() == mib << 20).then_some(Self { file, mib }))
    }

    /// What of it is in use, in bytes.
    pub(super) fn size(&self) -> u64 {
        const BLOCK: u64 = 512;
        self.file.metadata().map_or(0, |found| found.blocks() * BLOCK)
    }

    /// For a machine that uses it.
    pub(crate) fn descriptor(&self) -> Result<OwnedFd, Error> {
        self.file.try_clone().map(OwnedFd::from).map_err(|source| Error::host("memory of a machine", source))
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Copies what is in use into an empty file; fails when `is_given_up` is set.
    pub(super) fn copy_to(&self, target: &File, is_given_up: &AtomicBool) -> io::Result<()> {
        ftruncate(target, self.mib << 20)?;
        let mut buffer = vec![0; CHUNK];
        for part in parts(&self.file) {
            let (mut at, end) = part?;
            while at < end {
                if is_given_up.load(Ordering::Relaxed) {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                let count = usize::try_from(end - at).unwrap_or(CHUNK).min(CHUNK);
                let part = &mut buffer[..count];
                self.file.read_exact_at(part, at)?;
                // What the guest has cleared is a hole in the copy.
                if part.iter().any(|&byte| byte != 0) {
                    target.write_all_at(part, at)?;
                }
                at += count as u64;
            }
        }
        Ok(())
    }
}

/// Where the parts of a file begin and end that hold data.
pub(super) fn parts(file: &File) -> impl Iterator<Item = io::Result<(u64, u64)>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let begin = match seek(file, SeekFrom::Data(at)) {
            Err(Errno::NXIO) => return None,
            begin => begin,
        };
        let part = begin.and_then(|begin| Ok((begin, seek(file, SeekFrom::Hole(begin))?)));
        if let Ok((_, end)) = part {
            at = end;
        }
        Some(part.map_err(io::Error::from))
    })
}
