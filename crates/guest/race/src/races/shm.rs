//! Shared memory of System V: shmop(2).

use std::sync::atomic::{AtomicUsize, Ordering::*};

use harness::check::Checked;
use harness::sys::call;
use protocol::Need;
use rustix::io::Errno;
use rustix::thread::UnshareFlags;

use super::Known;
use super::parts::own;
use crate::race::Race;
use crate::runner::Runner;

pub(super) const RACES: &[Known] = &[Known::new(
    "ipc/shm-remap",
    "remap_file_pages(2) maps shared memory that IPC_RMID removes",
    &["3f05317d9889"],
    remap,
)
.needs(&[Need::Config("SYSVIPC")])];

const PAGE: usize = 4096;

/// For its owner only.
const MODE: usize = 0o600;

/// A segment, and where it is attached; 0 for nowhere.
#[derive(Default)]
struct Segment {
    id: AtomicUsize,
    address: AtomicUsize,
}

fn remap(runner: &Runner) -> Checked {
    own("a namespace for System V IPC", UnshareFlags::NEWIPC)?;
    let segment = Segment::default();
    let create = || {
        segment.detach()?;
        segment.create()?;
        Ok(())
    };
    runner.run(Race::between(|| segment.remove(), || segment.remap()).setup_a(create))?;
    Ok(segment.detach()?)
}

impl Segment {
    fn create(&self) -> Result<(), Errno> {
        // SAFETY: takes no memory.
        let id = unsafe { call(libc::SYS_shmget, [libc::IPC_PRIVATE as usize, PAGE, MODE])? };
        self.id.store(id, Relaxed);
        // SAFETY: a new mapping at an address that the kernel chooses.
        self.address.store(unsafe { call(libc::SYS_shmat, [id, 0, 0])? }, Relaxed);
        Ok(())
    }

    /// IPC_RMID: it goes with its last mapping.
    fn remove(&self) -> Result<usize, Errno> {
        // SAFETY: takes no memory.
        unsafe { call(libc::SYS_shmctl, [self.id.load(Relaxed), libc::IPC_RMID as usize, 0]) }
    }

    /// Maps its page where it is already.
    fn remap(&self) -> Result<usize, Errno> {
        // SAFETY: nothing points into the mapping.
        unsafe { call(libc::SYS_remap_file_pages, [self.address.load(Relaxed), PAGE, 0, 0, 0]) }
    }

    /// Takes its mapping away; a remap that failed may have done so before.
    fn detach(&self) -> Result<(), Errno> {
        let address = self.address.swap(0, Relaxed);
        // SAFETY: nothing points into the mapping.
        match unsafe { call(libc::SYS_shmdt, [address]) } {
            Err(Errno::INVAL) => Ok(()),
            result => result.map(drop),
        }
    }
}
