//! `swap`: swap areas that come and go.

use std::ffi::CStr;
use std::fs::File;
use std::os::unix::fs::{FileExt, PermissionsExt};

use harness::check::{Checked, equal, holds};
use harness::sys::succeeded;
use rustix::io::Errno;
use rustix::mm::Advice;
use rustix::param::page_size;

use crate::Worker;
use crate::kit::content;
use crate::kit::memory::Memory;
use crate::kit::support::supported_unless;
use crate::leftovers::swaps;
use crate::stressor::{Class, Need, Setting, Stressor, number};

const PAGES: Setting = number("pages", "largest swap area in pages", 64..=16384, 1024);

pub(super) const STRESSOR: Stressor = Stressor {
    name: "swap",
    classes: &[Class::Vm, Class::Os],
    about: "swap areas of random size in a file: swapon(2), pages pushed out, swapoff(2)",
    operation: "an area added, used and removed",
    verifies: "the area is listed while it is in use; pages come back with their content",
    options: &[PAGES],
    needs: &[Need::Config("SWAP"), Need::Capability(21)],
    body,
    ..Stressor::PLAIN
};

const FILE: &CStr = c"swap";

/// Makes a swap area as mkswap(8) does: version, last page and signature in the first page.
fn make(pages: usize) -> Checked {
    let (file, page) = (File::create("swap")?, page_size());
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    for number in 0..pages {
        file.write_all_at(&vec![0; page], (number * page) as u64)?;
    }
    file.write_all_at(&1_u32.to_ne_bytes(), 1024)?;
    file.write_all_at(&u32::try_from(pages - 1).unwrap_or(u32::MAX).to_ne_bytes(), 1028)?;
    file.write_all_at(b"SWAPSPACE2", (page - 10) as u64)?;
    Ok(file.sync_all()?)
}

/// An area in use; it is removed when dropped.
struct Area;

impl Area {
    fn add() -> Result<Self, Errno> {
        // SAFETY: the name ends in a null byte.
        succeeded(unsafe { libc::swapon(FILE.as_ptr(), 0) }).map(|()| Self)
    }

    fn remove(self) -> Result<(), Errno> {
        std::mem::forget(self);
        // SAFETY: as above.
        succeeded(unsafe { libc::swapoff(FILE.as_ptr()) })
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // SAFETY: as above. Where it fails, the engine finds the area.
        unsafe { libc::swapoff(FILE.as_ptr()) };
    }
}

fn body(worker: &Worker) -> Checked {
    let mut random = worker.random();
    let own = std::env::current_dir()?.join("swap").display().to_string();
    worker.repeat(|| {
        let pages = 64 + random.below(worker.size(&PAGES) - 63);
        make(pages)?;
        // EINVAL: this file system has no files for swapping. EBUSY: there are as many areas as there can be.
        let area = supported_unless("swapon(2) of a file here", Area::add(), &[Errno::INVAL, Errno::BUSY])?;
        holds("the area is listed", swaps().contains(&own))?;
        let mut memory = Memory::private(pages / 2 * page_size())?;
        let seed = random.next_u64();
        content::fill(&mut memory, seed, 0);
        if memory.area().advise(Advice::LinuxPageOut) != Err(Errno::INVAL) {
            content::verify("pages that were pushed out", &memory, seed, 0)?;
        }
        area.remove()?;
        content::verify("pages after the area is gone", &memory, seed, 0)?;
        equal("listed after its removal", swaps().contains(&own), false)
    })
}
