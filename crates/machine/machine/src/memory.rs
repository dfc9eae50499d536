//! The memory of a machine: files, one for each NUMA node or one for all.

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

/// Files that a machine uses as its memory, one behind the other.
#[derive(Debug)]
pub(crate) struct Memory(Vec<File>);

impl Memory {
    /// An empty one of parts with these sizes in MiB; it takes room as it is used.
    pub(crate) fn new(sizes: &[u64]) -> Result<Self, Error> {
        sizes.iter().map(|&mib| empty(mib)).collect::<Result<_, _>>().map(Self).map_err(failed)
    }

    /// One that is in these files.
    pub(crate) fn of(files: Vec<File>) -> Self {
        Self(files)
    }

    /// Whether its parts have these sizes in MiB.
    pub(crate) fn is_of(&self, sizes: &[u64]) -> bool {
        self.0.iter().map(length).eq(sizes.iter().map(|mib| mib << 20))
    }

    /// What of it is in use, in bytes.
    pub(crate) fn size(&self) -> u64 {
        const BLOCK: u64 = 512;
        self.0.iter().map(|file| file.metadata().map_or(0, |found| found.blocks() * BLOCK)).sum()
    }

    /// For a machine that uses it.
    pub(crate) fn descriptors(&self) -> Result<Vec<OwnedFd>, Error> {
        self.0.iter().map(|file| file.try_clone().map(OwnedFd::from).map_err(failed)).collect()
    }

    /// Its parts, in their order.
    pub(crate) fn files(&self) -> &[File] {
        &self.0
    }

    /// All bytes of it.
    pub(crate) fn length(&self) -> u64 {
        self.0.iter().map(length).sum()
    }

    /// Reads within one of its parts, which stand one behind the other.
    pub(crate) fn read_exact_at(&self, bytes: &mut [u8], mut at: u64) -> io::Result<()> {
        for file in &self.0 {
            let length = length(file);
            if at < length {
                return file.read_exact_at(bytes, at);
            }
            at -= length;
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

fn empty(mib: u64) -> io::Result<File> {
    let file = memfd_create("memory", MemfdFlags::CLOEXEC)?;
    ftruncate(&file, mib << 20)?;
    Ok(file.into())
}

fn length(file: &File) -> u64 {
    file.metadata().map_or(0, |found| found.len())
}

fn failed(source: io::Error) -> Error {
    Error::host("memory of a machine", source)
}

/// Copies what is in use of one part into an empty file; fails when `is_given_up` is set.
pub(crate) fn copy(source: &File, target: &File, is_given_up: &AtomicBool) -> io::Result<()> {
    ftruncate(target, length(source))?;
    let mut buffer = vec![0; CHUNK];
    for part in parts(source) {
        let (mut at, end) = part?;
        while at < end {
            if is_given_up.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let count = usize::try_from(end - at).unwrap_or(CHUNK).min(CHUNK);
            let part = &mut buffer[..count];
            source.read_exact_at(part, at)?;
            // What the guest has cleared is a hole in the copy.
            if part.iter().any(|&byte| byte != 0) {
                target.write_all_at(part, at)?;
            }
            at += count as u64;
        }
    }
    Ok(())
}

/// Where the parts of a file begin and end that hold data.
pub(crate) fn parts(file: &File) -> impl Iterator<Item = io::Result<(u64, u64)>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_one_behind_the_other() {
        let memory = Memory::new(&[1, 2]).unwrap();
        assert!(memory.is_of(&[1, 2]) && !memory.is_of(&[1]) && !memory.is_of(&[2, 1]));
        assert_eq!((memory.length(), memory.size()), (3 << 20, 0));
        memory.files()[1].write_all_at(b"second", 4096).unwrap();
        let mut bytes = [0; 6];
        memory.read_exact_at(&mut bytes, (1 << 20) + 4096).unwrap();
        assert_eq!(&bytes, b"second");
        for at in [(1 << 20) - 1, 3 << 20, u64::MAX] {
            assert!(memory.read_exact_at(&mut bytes, at).is_err(), "{at}");
        }
    }

    #[test]
    fn what_is_not_in_use_is_not_copied() {
        let memory = Memory::new(&[64]).unwrap();
        memory.files()[0].write_all_at(b"used", 33 << 20).unwrap();
        let target = tempfile::tempfile().unwrap();
        copy(&memory.files()[0], &target, &AtomicBool::new(false)).unwrap();
        let copied = Memory::of(vec![target]);
        assert!(copied.is_of(&[64]) && copied.size() <= 1 << 20);
        let mut bytes = [0; 4];
        copied.read_exact_at(&mut bytes, 33 << 20).unwrap();
        assert_eq!(&bytes, b"used");
        assert!(copy(&memory.files()[0], &tempfile::tempfile().unwrap(), &AtomicBool::new(true)).is_err());
    }
}
