//! `shm-sysv`: System V shared memory.

use harness::check::{Checked, equal, fails};
use harness::memory::Area;
use harness::sys::call;
use rustix::io::Errno;

use crate::Worker;
use crate::kit::content;
use crate::kit::helper::helper;
use crate::stressor::{Class, Need, Setting, Stressor, size};

const BYTES: Setting = size("bytes", "size of a segment", 4096..=64 << 20, 1 << 20);

pub(super) const SHM_SYSV: Stressor = Stressor {
    name: "shm-sysv",
    classes: &[Class::Ipc, Class::Vm, Class::Os],
    about: "segments attached by several processes: shmget(2), shmat(2), shmctl(2), shmdt(2)",
    operation: "a segment made, filled by a child, verified and removed",
    verifies: "what the child wrote; how many are attached; a removed segment cannot be attached",
    options: &[BYTES],
    needs: &[Need::Config("SYSVIPC")],
    body,
    ..Stressor::PLAIN
};

/// A segment; it is removed when dropped.
struct Segment {
    id: usize,
    size: usize,
}

impl Segment {
    fn new(size: usize) -> Result<Self, Errno> {
        // SAFETY: takes numbers only.
        let id = unsafe { call(libc::SYS_shmget, [libc::IPC_PRIVATE as usize, size, 0o600])? };
        Ok(Self { id, size })
    }

    fn attach(&self) -> Result<Attached, Errno> {
        // SAFETY: at an address that the kernel chooses.
        let address = unsafe { call(libc::SYS_shmat, [self.id, 0, 0])? };
        Ok(Attached(Area { start: std::ptr::with_exposed_provenance_mut(address), length: self.size }))
    }

    fn attached(&self) -> Result<u64, Errno> {
        // SAFETY: all zeroes is a valid value.
        let mut status: libc::shmid_ds = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel fills it.
        unsafe { call(libc::SYS_shmctl, [self.id, libc::IPC_STAT as usize, (&raw mut status).addr()])? };
        Ok(status.shm_nattch)
    }

    fn remove(&self) -> Result<usize, Errno> {
        // SAFETY: removing takes no memory.
        unsafe { call(libc::SYS_shmctl, [self.id, libc::IPC_RMID as usize, 0]) }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // It may have gone already.
        let _ = self.remove();
    }
}

/// Attached memory, until it is detached or the process ends.
#[derive(Debug)]
struct Attached(Area);

impl Attached {
    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: attached, and used by one process at a time.
        unsafe { std::slice::from_raw_parts_mut(self.0.start, self.0.length) }
    }

    fn detach(self) -> Result<usize, Errno> {
        // SAFETY: attached, and not used any more.
        unsafe { call(libc::SYS_shmdt, [self.0.start.addr()]) }
    }
}

fn body(worker: &Worker) -> Checked {
    let (size, mut random) = (worker.size(&BYTES), worker.random());
    worker.repeat(|| {
        let (segment, seed) = (Segment::new(size)?, random.next_u64());
        let mut memory = segment.attach()?;
        equal("bytes of a new segment that are not 0", content::nonzero(memory.bytes()), 0)?;
        helper(|| {
            // This one is inherited, and there is another of its own.
            let mut own = segment.attach()?;
            equal("attached by both", segment.attached()?, 3)?;
            content::fill(own.bytes(), seed, 0);
            Ok(())
        })?
        .succeeds()?;
        equal("attached after the child's end", segment.attached()?, 1)?;
        content::verify("what the child wrote", memory.bytes(), seed, 0)?;
        // Removed while it is attached: it stays until it is detached, or its user ends.
        segment.remove()?;
        content::verify("a removed segment", &memory.bytes()[..4096], seed, 0)?;
        memory.detach()?;
        fails("attaching what was removed", segment.attach(), Errno::INVAL)
    })
}
