//! `flock`, `lockf`, `locka`, `lockofd`, `lease`: locks of files.

use std::fs::File;
use std::os::fd::AsRawFd;

use harness::check::{Checked, equal, fails};
use harness::sys::{ignore, succeeded};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use crate::Worker;
use crate::kit::exclusion::exclude;
use crate::kit::file;
use crate::kit::helper::helper;
use crate::kit::support::supported_unless;
use crate::stressor::{Class, Need, Setting, Stressor, number};

const NEEDS: &[Need] = &[Need::Config("FILE_LOCKING")];
const PROCESSES: Setting = number("processes", "processes that want the lock", 2..=64, 3);
const RANGES: Setting = number("ranges", "ranges that are locked at a time", 8..=1024, 64);

const LOCK: Stressor = Stressor {
    classes: &[Class::Filesystem, Class::Os],
    operation: "a lock taken and released",
    verifies: "nobody else changes a counter while one holds the lock",
    options: &[PROCESSES],
    needs: NEEDS,
    ..Stressor::PLAIN
};

pub(super) const FLOCK: Stressor = Stressor {
    name: "flock",
    about: "processes that lock a whole file in turn: flock(2)",
    body: |worker| {
        exclusively(
            worker,
            |file| flock(file, FlockOperation::LockExclusive),
            |file| flock(file, FlockOperation::Unlock),
        )
    },
    ..LOCK
};

pub(super) const LOCKF: Stressor = Stressor {
    name: "lockf",
    about: "processes that lock part of a file in turn: lockf(3)",
    body: |worker| exclusively(worker, |file| lockf(file, libc::F_LOCK), |file| lockf(file, libc::F_ULOCK)),
    ..LOCK
};

pub(super) const LOCKA: Stressor = Stressor {
    name: "locka",
    about: "many advisory record locks at a time, and a child that asks for them: F_SETLK of fcntl(2)",
    operation: "a range locked, and the oldest released",
    verifies: "a child finds the ranges that are locked, and only those",
    options: &[RANGES],
    body: |worker| ranges(worker, libc::F_SETLK, libc::F_GETLK),
    ..LOCK
};

pub(super) const LOCKOFD: Stressor = Stressor {
    name: "lockofd",
    about: "many open-file-description locks at a time, and another open file that asks for them: F_OFD_SETLK of fcntl(2)",
    operation: "a range locked, and the oldest released",
    verifies: "another open file finds the ranges that are locked, and only those",
    options: &[RANGES],
    body: |worker| ranges(worker, libc::F_OFD_SETLK, libc::F_OFD_GETLK),
    ..LOCK
};

pub(super) const LEASE: Stressor = Stressor {
    name: "lease",
    about: "leases that are broken by whoever opens the file: F_SETLEASE of fcntl(2)",
    operation: "a lease taken, broken and given up",
    verifies: "opening for writing waits for the lease, and nothing else does",
    options: &[],
    body: lease,
    ..LOCK
};

fn lockf(file: &File, command: libc::c_int) -> Result<(), Errno> {
    // SAFETY: the descriptor is open; the lock is of its first byte.
    succeeded(unsafe { libc::lockf(file.as_raw_fd(), command, 1) })
}

type Call = fn(&File) -> Result<(), Errno>;

/// Several processes change a counter under the lock.
fn exclusively(worker: &Worker, lock: Call, unlock: Call) -> Checked {
    file::create("locked")?;
    // An open file of one's own: flock(2) tells those apart.
    let open = || Ok(File::options().read(true).write(true).open("locked")?);
    exclude(worker, (worker.value(&PROCESSES), "additions under the lock"), open, lock, unlock)
}

/// Bytes of a range.
const RANGE: i64 = 8;

fn record(file: &File, command: libc::c_int, kind: libc::c_int, number: usize) -> Result<libc::flock, Errno> {
    // SAFETY: all zeroes is a valid value.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    (lock.l_type, lock.l_whence) = (kind as libc::c_short, libc::SEEK_SET as libc::c_short);
    // A gap between ranges, so that the kernel does not join them.
    (lock.l_start, lock.l_len) = (i64::try_from(2 * number).unwrap_or(0) * RANGE, RANGE);
    // SAFETY: the lock is valid for reading and writing.
    succeeded(unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut lock) })?;
    Ok(lock)
}

fn ranges(worker: &Worker, set: libc::c_int, get: libc::c_int) -> Checked {
    file::create("locked")?;
    let open = || File::options().read(true).write(true).open("locked");
    let (file, count) = (open()?, worker.size(&RANGES));
    let mut next = 0;
    worker.repeat(|| {
        let (new, oldest) = (next % (2 * count), (next + count) % (2 * count));
        record(&file, set, libc::F_WRLCK, new)?;
        record(&file, set, libc::F_UNLCK, oldest)?;
        next += 1;
        if next % count != 1 {
            return Ok(());
        }
        let find = || {
            let other = open()?;
            let kind = |number| {
                Ok::<_, Errno>(libc::c_int::from(record(&other, get, libc::F_WRLCK, number)?.l_type))
            };
            equal("a range that is locked", kind(new)?, libc::F_WRLCK)?;
            equal("a range that was released", kind(oldest)?, libc::F_UNLCK)
        };
        // Closing any descriptor would drop the record locks of this process.
        if set == libc::F_SETLK { helper(find)?.succeeds() } else { find() }
    })
}

fn lease(worker: &Worker) -> Checked {
    // The holder is told by this signal that its lease is to be broken.
    ignore(libc::SIGIO)?;
    file::create("leased")?;
    let file = File::open("leased")?;
    let control = |command, argument: libc::c_int| {
        // SAFETY: these commands take a number.
        let value = unsafe { libc::fcntl(file.as_raw_fd(), command, argument) };
        succeeded(value).map(|()| value)
    };
    let writing = || file::open("leased", OFlags::NONBLOCK);
    worker.repeat(|| {
        let taken = control(libc::F_SETLEASE, libc::F_RDLCK);
        supported_unless("F_SETLEASE", taken, &[Errno::INVAL, Errno::AGAIN])?;
        equal("the lease", control(libc::F_GETLEASE, 0)?, libc::F_RDLCK)?;
        equal("opening for reading", File::open("leased").is_ok(), true)?;
        fails("opening for writing", writing(), Errno::AGAIN)?;
        equal("the lease that is being broken", control(libc::F_GETLEASE, 0)?, libc::F_UNLCK)?;
        control(libc::F_SETLEASE, libc::F_UNLCK)?;
        equal("opening without a lease", writing().map(drop), Ok(()))
    })
}
