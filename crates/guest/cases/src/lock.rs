//! Locks on files: fcntl(2) and flock(2).

use std::fs::File;
use std::os::fd::AsRawFd;

use harness::check::{Checked, equal, fails, holds};
use harness::checkpoint;
use harness::child::{child, pause_forever};
use harness::sys::succeeded;
use harness::waiting::until_asleep_in;
use rustix::fs::{FlockOperation, flock};
use rustix::io::{Errno, dup};
use rustix::process::{Signal, getpid, kill_process};

use crate::case::{Case, Need};

const NEEDS: &[Need] = &[Need::Config("FILE_LOCKING")];

pub(super) const CASES: &[Case] = &[
    Case::new(
        "lock/record",
        "fcntl(2) F_SETLK locks ranges between processes, F_GETLK names the holder",
        record,
    )
    .needs(NEEDS),
    Case::new("lock/wait", "fcntl(2) F_SETLKW waits until the holder has ended", wait).needs(NEEDS),
    Case::new(
        "lock/deadlock",
        "fcntl(2) F_SETLKW gives EDEADLK to the lock that would close a circle",
        deadlock,
    )
    .needs(NEEDS),
    Case::new("lock/close", "close(2) of any descriptor drops a process's record locks", close).needs(NEEDS),
    Case::new(
        "lock/open-file",
        "fcntl(2) F_OFD_SETLK belongs to the open file, also within a process",
        open_file,
    )
    .needs(NEEDS),
    Case::new("lock/flock", "flock(2) is shared or exclusive, kept by dup(2) and fork(2)", whole_file)
        .needs(NEEDS),
];

fn open() -> std::io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(false).open("file")
}

/// A range of bytes and what to do with it; `l_pid` must be 0 for F_OFD_SETLK.
fn range(kind: libc::c_int, start: i64, length: i64) -> libc::flock {
    // SAFETY: all zeroes is a valid value.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    (lock.l_start, lock.l_len) = (start, length);
    lock
}

/// fcntl(2) with one of the lock commands; gives back what the kernel made of `lock`.
fn lock(file: &File, command: libc::c_int, mut lock: libc::flock) -> Result<libc::flock, Errno> {
    // SAFETY: the lock is valid for reading and writing.
    succeeded(unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut lock) })?;
    Ok(lock)
}

fn record() -> Checked {
    let file = open()?;
    let holder = getpid();
    lock(&file, libc::F_SETLK, range(libc::F_WRLCK, 10, 10))?;
    lock(&file, libc::F_SETLK, range(libc::F_RDLCK, 30, 10))?;
    lock(&file, libc::F_SETLK, range(libc::F_UNLCK, 15, 5))?;
    child(|| {
        let attempt = |kind, start| lock(&file, libc::F_SETLK, range(kind, start, 1));
        fails("writing where one writes", attempt(libc::F_WRLCK, 14), Errno::AGAIN)?;
        fails("reading where one writes", attempt(libc::F_RDLCK, 14), Errno::AGAIN)?;
        fails("writing where one reads", attempt(libc::F_WRLCK, 30), Errno::AGAIN)?;
        holds("reading where one reads", attempt(libc::F_RDLCK, 30).is_ok())?;
        holds("where the lock was taken away", attempt(libc::F_WRLCK, 15).is_ok())?;
        let found = lock(&file, libc::F_GETLK, range(libc::F_WRLCK, 0, 0))?;
        let (pid, start, length) = (found.l_pid, found.l_start, found.l_len);
        equal("holder, start and length", (pid, start, length), (holder.as_raw_pid(), 10, 5))?;
        let free = lock(&file, libc::F_GETLK, range(libc::F_WRLCK, 0, 10))?;
        equal("type where nobody has a lock", libc::c_int::from(free.l_type), libc::F_UNLCK)
    })?
    .succeeds()
}

fn wait() -> Checked {
    let file = open()?;
    let holder = child(|| {
        lock(&file, libc::F_SETLK, range(libc::F_WRLCK, 0, 0))?;
        checkpoint::reach("locked")?;
        pause_forever()
    })?;
    checkpoint::wait("locked", 1)?;
    fails("F_SETLK while it is held", lock(&file, libc::F_SETLK, range(libc::F_WRLCK, 0, 0)), Errno::AGAIN)?;
    let (pid, waiter) = (holder.pid(), getpid());
    let killer = child(|| {
        until_asleep_in(waiter, libc::SYS_fcntl)?;
        Ok(kill_process(pid, Signal::KILL)?)
    })?;
    holds("F_SETLKW gets the lock", lock(&file, libc::F_SETLKW, range(libc::F_WRLCK, 0, 0)).is_ok())?;
    equal("what ended the holder", holder.wait()?.terminating_signal(), Some(libc::SIGKILL))?;
    killer.succeeds()
}

fn deadlock() -> Checked {
    let file = open()?;
    lock(&file, libc::F_SETLK, range(libc::F_WRLCK, 0, 1))?;
    let other = child(|| {
        lock(&file, libc::F_SETLK, range(libc::F_WRLCK, 1, 1))?;
        lock(&file, libc::F_SETLKW, range(libc::F_WRLCK, 0, 1))?;
        Ok(())
    })?;
    until_asleep_in(other.pid(), libc::SYS_fcntl)?;
    fails("closing the circle", lock(&file, libc::F_SETLKW, range(libc::F_WRLCK, 1, 1)), Errno::DEADLK)?;
    lock(&file, libc::F_SETLK, range(libc::F_UNLCK, 0, 1))?;
    other.succeeds()
}

fn close() -> Checked {
    let (first, second) = (open()?, open()?);
    let attempt = || lock(&first, libc::F_SETLK, range(libc::F_WRLCK, 0, 1));
    attempt()?;
    child(|| fails("while it is held", attempt(), Errno::AGAIN))?.succeeds()?;
    drop(second);
    child(|| holds("after close(2) of another descriptor", attempt().is_ok()))?.succeeds()
}

fn open_file() -> Checked {
    let (first, second) = (open()?, open()?);
    let write_lock = range(libc::F_WRLCK, 0, 1);
    lock(&first, libc::F_OFD_SETLK, write_lock)?;
    fails("through another open file", lock(&second, libc::F_OFD_SETLK, write_lock), Errno::AGAIN)?;
    fails("as a record lock", lock(&first, libc::F_SETLK, write_lock), Errno::AGAIN)?;
    let copy = dup(&first)?;
    drop(open()?);
    child(|| {
        holds("a child has the same open file", lock(&first, libc::F_OFD_SETLK, write_lock).is_ok())?;
        fails(
            "through another open file in a child",
            lock(&second, libc::F_OFD_SETLK, write_lock),
            Errno::AGAIN,
        )
    })?
    .succeeds()?;
    drop(first);
    fails("while a copy is open", lock(&second, libc::F_OFD_SETLK, write_lock), Errno::AGAIN)?;
    drop(copy);
    holds("after the last close(2)", lock(&second, libc::F_OFD_SETLK, write_lock).is_ok())
}

fn whole_file() -> Checked {
    use FlockOperation::{NonBlockingLockExclusive, NonBlockingLockShared, Unlock};
    let (first, second) = (open()?, open()?);
    flock(&first, NonBlockingLockShared)?;
    equal("shared with shared", flock(&second, NonBlockingLockShared), Ok(()))?;
    fails("exclusive with shared", flock(&second, NonBlockingLockExclusive), Errno::AGAIN)?;
    flock(&second, Unlock)?;
    equal("shared to exclusive", flock(&first, NonBlockingLockExclusive), Ok(()))?;
    fails("shared with exclusive", flock(&second, NonBlockingLockShared), Errno::AGAIN)?;
    let copy = dup(&first)?;
    drop(first);
    fails("while a copy is open", flock(&second, NonBlockingLockShared), Errno::AGAIN)?;
    child(|| Ok(flock(&copy, Unlock)?))?.succeeds()?;
    equal("after a child has unlocked it", flock(&second, NonBlockingLockExclusive), Ok(()))
}
