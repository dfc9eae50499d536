//! `sem`, `sem-sysv`: semaphores.

use std::cell::UnsafeCell;

use harness::check::{Checked, equal, fails};
use harness::sys::{call, succeeded};
use rustix::io::Errno;

use crate::Worker;
use crate::kit::exclusion::exclude;
use crate::kit::helper::helper;
use crate::kit::memory::Memory;
use crate::stressor::{Class, Need, Setting, Stressor, number};

const PROCESSES: Setting = number("processes", "processes that wait for the semaphore", 2..=64, 4);

const SEMAPHORE: Stressor = Stressor {
    classes: &[Class::Ipc, Class::Scheduler, Class::Os],
    operation: "a semaphore taken and given back",
    options: &[PROCESSES],
    ..Stressor::PLAIN
};

pub(super) const SEM: Stressor = Stressor {
    name: "sem",
    about: "a POSIX semaphore in shared memory: sem_wait(3), sem_post(3)",
    verifies: "only one process at a time changes a counter",
    body: posix,
    ..SEMAPHORE
};

pub(super) const SEM_SYSV: Stressor = Stressor {
    name: "sem-sysv",
    about: "a System V semaphore, undone when its process ends: semop(2), semctl(2)",
    verifies: "only one process at a time changes a counter; a killed process gives its semaphore back",
    needs: &[Need::Config("SYSVIPC")],
    body: sysv,
    ..SEMAPHORE
};

/// Several processes change a counter while they have the semaphore.
fn exclusively(
    worker: &Worker,
    take: impl Fn() -> Result<(), Errno>,
    give: impl Fn() -> Result<(), Errno>,
) -> Checked {
    let additions = (worker.value(&PROCESSES), "additions with the semaphore");
    exclude(worker, additions, || Ok(()), |()| take(), |()| give())
}

fn posix(worker: &Worker) -> Checked {
    let memory = Memory::shared(4096)?;
    let semaphore: *mut libc::sem_t = memory.area().start.cast::<UnsafeCell<libc::sem_t>>().cast();
    // SAFETY: mapped, aligned to a page, and large enough.
    succeeded(unsafe { libc::sem_init(semaphore, 1, 1) })?;
    // SAFETY: made above, in memory that outlives all who use it.
    let take = || succeeded(unsafe { libc::sem_wait(semaphore) });
    // SAFETY: as above.
    let give = || succeeded(unsafe { libc::sem_post(semaphore) });
    exclusively(worker, take, give)?;
    let mut value = 0;
    // SAFETY: as above.
    succeeded(unsafe { libc::sem_getvalue(semaphore, &raw mut value) })?;
    equal("its value in the end", value, 1)
}

/// A set with one semaphore; it is removed when dropped.
struct Set(usize);

impl Set {
    fn new() -> Result<Self, Errno> {
        // SAFETY: takes numbers only.
        unsafe { call(libc::SYS_semget, [libc::IPC_PRIVATE as usize, 1, 0o600]) }.map(Self)
    }

    /// Adds `by` to the semaphore, or waits until it can.
    fn change(&self, by: i16, flags: libc::c_int) -> Result<(), Errno> {
        let change = libc::sembuf { sem_num: 0, sem_op: by, sem_flg: flags as libc::c_short };
        // SAFETY: one operation.
        unsafe { call(libc::SYS_semop, [self.0, (&raw const change).addr(), 1]) }.map(drop)
    }

    fn control(&self, command: libc::c_int) -> Result<usize, Errno> {
        // SAFETY: these commands take no memory.
        unsafe { call(libc::SYS_semctl, [self.0, 0, command as usize]) }
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        // It may have gone already.
        let _ = self.control(libc::IPC_RMID);
    }
}

fn sysv(worker: &Worker) -> Checked {
    let set = Set::new()?;
    set.change(1, 0)?;
    exclusively(worker, || set.change(-1, libc::SEM_UNDO), || set.change(1, libc::SEM_UNDO))?;
    helper(|| {
        set.change(-1, libc::SEM_UNDO)?;
        fails("taking what is taken", set.change(-1, libc::IPC_NOWAIT), Errno::AGAIN)?;
        // SAFETY: ends this process.
        succeeded(unsafe { libc::kill(libc::getpid(), libc::SIGKILL) })?;
        Ok(())
    })?
    .wait()?;
    equal("its value after the process that had it was killed", set.control(libc::GETVAL)?, 1)
}
