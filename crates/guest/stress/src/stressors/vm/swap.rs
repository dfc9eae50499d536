//! `swap`: swap areas that come and go.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;

use harness::check::{Checked, equal, holds};
use harness::storage::Loop;
use harness::sys::succeeded;
use rustix::io::Errno;
use rustix::mm::Advice;
use rustix::param::page_size;

use crate::Worker;
use crate::kit::memory::Memory;
use crate::kit::support::supported_unless;
use crate::kit::{content, disk, file};
use crate::leftovers::swaps;
use crate::stressor::{Class, Need, Setting, Stressor, number};

const PAGES: Setting = number("pages", "largest swap area in pages", 64..=16384, 1024);

pub(super) const STRESSOR: Stressor = Stressor {
    name: "swap",
    classes: &[Class::Vm, Class::Os],
    about: "swap areas of random size, in a file or on a loop device: swapon(2), pages pushed out, swapoff(2)",
    operation: "an area added, used and removed",
    verifies: "the area is listed while it is in use; pages come back with their content",
    options: &[PAGES],
    needs: &[Need::Config("SWAP"), Need::OptionalModule("loop"), Need::Capability(21)],
    body,
    ..Stressor::PLAIN
};

/// Makes a swap area as mkswap(8) does: version, last page and signature in the first page.
fn make(pages: usize) -> Checked<File> {
    let (file, page) = (file::create("swap")?, page_size());
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    for number in 0..pages {
        file.write_all_at(&vec![0; page], (number * page) as u64)?;
    }
    file.write_all_at(&1_u32.to_ne_bytes(), 1024)?;
    file.write_all_at(&u32::try_from(pages - 1).unwrap_or(u32::MAX).to_ne_bytes(), 1028)?;
    file.write_all_at(b"SWAPSPACE2", (page - 10) as u64)?;
    file.sync_all()?;
    Ok(file)
}

/// An area in use; it is removed when dropped.
struct Area {
    path: CString,
    /// What it is on, if not on a file.
    device: Option<Loop>,
}

impl Area {
    /// Uses the file, or a loop device where the file system has no files for swapping: EINVAL.
    fn add(file: &File) -> Checked<Self> {
        let path = std::env::current_dir()?.join("swap");
        let no_files = Self::at(&path, None);
        if no_files.as_ref().err() != Some(&Errno::INVAL) {
            return Self::supported(no_files);
        }
        let device = disk::attach(file)?;
        let path = device.path.clone();
        Self::supported(Self::at(&path, Some(device)))
    }

    /// EBUSY: there are as many areas as there can be.
    fn supported(area: Result<Self, Errno>) -> Checked<Self> {
        supported_unless("swapon(2)", area, &[Errno::INVAL, Errno::BUSY])
    }

    fn at(path: &Path, device: Option<Loop>) -> Result<Self, Errno> {
        let path = CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::INVAL)?;
        // SAFETY: the path ends in a null byte.
        succeeded(unsafe { libc::swapon(path.as_ptr(), 0) }).map(|()| Self { path, device })
    }

    fn is_listed(&self) -> bool {
        let own = OsStr::from_bytes(self.path.as_bytes());
        swaps().iter().any(|area| OsStr::new(area) == own)
    }

    fn remove(&mut self) -> Result<(), Errno> {
        // SAFETY: the path ends in a null byte.
        succeeded(unsafe { libc::swapoff(self.path.as_ptr()) })?;
        self.device.take().map_or(Ok(()), |device| device.detach().map(drop))
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // One that has been removed is there no more. Where it fails otherwise, the engine finds the area.
        let _ = self.remove();
    }
}

fn body(worker: &Worker) -> Checked {
    let mut random = worker.random();
    worker.repeat(|| {
        let pages = 64 + random.below(worker.size(&PAGES) - 63);
        let mut area = Area::add(&make(pages)?)?;
        holds("the area is listed", area.is_listed())?;
        let mut memory = Memory::private(pages / 2 * page_size())?;
        let seed = random.next_u64();
        content::fill(&mut memory, seed, 0);
        if memory.area().advise(Advice::LinuxPageOut) != Err(Errno::INVAL) {
            content::verify("pages that were pushed out", &memory, seed, 0)?;
        }
        area.remove()?;
        content::verify("pages after the area is gone", &memory, seed, 0)?;
        equal("listed after its removal", area.is_listed(), false)
    })
}
