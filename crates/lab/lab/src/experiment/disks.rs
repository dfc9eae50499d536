//! The empty disks of a machine, which outlive a boot: a machine that restarts has those that it had.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use machine::connections::Place;
use rustix::fs::{MemfdFlags, SeekFrom, memfd_create, seek};
use rustix::io::Errno;

/// Bytes that are copied at once.
const PIECE: u64 = 1 << 20;

/// Disks by their places.
#[derive(Debug, Default)]
pub(super) struct Disks(Mutex<BTreeMap<Place, File>>);

impl Disks {
    /// The disk at this place, which is made when it is asked for first.
    pub(super) fn open(&self, place: Place, bytes: u64) -> io::Result<OwnedFd> {
        let mut disks = self.lock();
        if let Some(disk) = disks.get(&place) {
            return reopen(disk);
        }
        let disk = empty(bytes)?;
        let opened = reopen(&disk)?;
        disks.insert(place, disk);
        Ok(opened)
    }

    /// A copy of all that is on them, while nobody writes.
    pub(super) fn copy(&self) -> io::Result<Self> {
        let copy = |(place, disk): (&Place, &File)| {
            let copy = empty(0)?;
            copy_data(disk, &copy)?;
            Ok((*place, copy))
        };
        let copies: io::Result<BTreeMap<Place, File>> = self.lock().iter().map(copy).collect();
        Ok(Self(Mutex::new(copies?)))
    }

    /// Puts back what was on them when this copy was made, while nobody reads or writes.
    pub(super) fn put_back(&self, copies: &Self) -> io::Result<()> {
        let disks = self.lock();
        let copies = copies.lock();
        copies
            .iter()
            .filter_map(|(place, copy)| Some((copy, disks.get(place)?)))
            .try_for_each(|(copy, disk)| copy_data(copy, disk))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Place, File>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn empty(bytes: u64) -> io::Result<File> {
    let disk = File::from(memfd_create("disk", MemfdFlags::CLOEXEC)?);
    disk.set_len(bytes)?;
    Ok(disk)
}

/// A machine that ends must not move the place of another one in the file.
fn reopen(disk: &File) -> io::Result<OwnedFd> {
    let path = format!("/proc/self/fd/{}", disk.as_raw_fd());
    Ok(File::options().read(true).write(true).open(path)?.into())
}

/// Makes `to` the same as `from`; holes stay holes.
fn copy_data(from: &File, to: &File) -> io::Result<()> {
    let length = from.metadata()?.len();
    to.set_len(0)?;
    to.set_len(length)?;
    let mut buffer = vec![0; PIECE as usize];
    let mut at = 0;
    while let Some(begin) = next(from, SeekFrom::Data(at))? {
        let end = next(from, SeekFrom::Hole(begin))?.unwrap_or(length);
        at = begin;
        while at < end {
            let piece = &mut buffer[..(end - at).min(PIECE) as usize];
            from.read_exact_at(piece, at)?;
            to.write_all_at(piece, at)?;
            at += piece.len() as u64;
        }
    }
    Ok(())
}

/// Where the next data or hole begins, if there is one: lseek(2).
fn next(file: &File, what: SeekFrom) -> io::Result<Option<u64>> {
    match seek(file, what) {
        Ok(at) => Ok(Some(at)),
        Err(Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_disk_is_put_back_with_its_holes() {
        let (from, to) = (empty(1 << 30).unwrap(), empty(0).unwrap());
        from.write_all_at(b"begin", 0).unwrap();
        from.write_all_at(&[7; 3 << 20], 5 << 20).unwrap();
        to.write_all_at(&[1; 8192], 1 << 20).unwrap();
        copy_data(&from, &to).unwrap();
        let mut found = [0; 6];
        to.read_exact_at(&mut found, 0).unwrap();
        assert_eq!(&found, b"begin\0");
        to.read_exact_at(&mut found, (8 << 20) - 3).unwrap();
        assert_eq!(found, [7, 7, 7, 0, 0, 0]);
        to.read_exact_at(&mut found, 1 << 20).unwrap();
        assert_eq!(found, [0; 6]);
        let [was, is] = [from, to].map(|file| file.metadata().unwrap());
        assert_eq!((is.len(), is.blocks()), (was.len(), was.blocks()));
    }
}
