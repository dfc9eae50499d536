//! Which thread waits for which, found without stopping any.
//!
//! * [`syscall`]: the system call in which a thread is blocked
//! * [`futex`]: mutexes and threads that are joined; [`rwlock`]; [`pipe`]; [`lock`]: locks of files; [`child`]
//! * [`graph`]: threads that wait for each other

mod child;
mod futex;
pub mod graph;
mod lock;
mod pipe;
mod rwlock;
mod snapshot;
mod syscall;

use std::fmt;

use crate::error::Error;
use crate::process;
pub use graph::Deadlock;
pub use lock::FileLock;
use snapshot::Snapshot;

/// A thread that is blocked until one of some others does something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// Its process.
    pub process: i32,
    /// The thread.
    pub thread: i32,
    /// What it is called.
    pub comm: String,
    /// What it waits for.
    pub reason: Reason,
    /// The threads any of which may end that.
    pub targets: Vec<i32>,
    /// How often it had blocked: as long as that is the same, it has not run.
    pub switches: u64,
}

/// What a thread waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// A mutex of the C library, which is at this address.
    Mutex(u64),
    /// A reader-writer lock of the C library that somebody has for writing, which is at this address.
    Rwlock(u64),
    /// That a thread of its process ends.
    Thread(i32),
    /// That this child ends, or any.
    Child(Option<i32>),
    /// Somebody who writes into a pipe or FIFO, which is this inode.
    Writer(u64),
    /// Somebody who reads from it.
    Reader(u64),
    /// A lock of a file.
    FileLock(FileLock),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mutex(address) => write!(f, "mutex {address:#x}"),
            Self::Rwlock(address) => write!(f, "rwlock {address:#x}"),
            Self::Thread(thread) => write!(f, "the end of thread {thread}"),
            Self::Child(Some(child)) => write!(f, "the end of process {child}"),
            Self::Child(None) => f.write_str("the end of a child"),
            Self::Writer(inode) => write!(f, "data in pipe {inode}"),
            Self::Reader(inode) => write!(f, "room in pipe {inode}"),
            Self::FileLock(lock) => write!(f, "{lock}"),
        }
    }
}

/// What the threads of some processes wait for, as far as the kernel and their memory say it.
///
/// # Errors
///
/// When one of the processes is gone or may not be looked at.
pub fn waits(processes: &[i32]) -> Result<Vec<Wait>, Error> {
    let snapshot = Snapshot::take();
    let mut waits = Vec::new();
    for &process in processes {
        for thread in process::threads(process)? {
            waits.extend(snapshot.wait(process, thread));
        }
    }
    Ok(waits)
}

/// Threads that wait for each other and for nobody else. Only what any of them waits for throughout is a deadlock.
#[must_use]
pub fn deadlocks() -> Vec<Deadlock> {
    let snapshot = Snapshot::take();
    let threads = snapshot.threads();
    let waits = threads.filter_map(|(process, thread)| snapshot.wait(process, thread)).collect();
    let has_not_run = |wait: &Wait| process::switches(wait.thread) == Some(wait.switches);
    graph::deadlocks(waits).into_iter().filter(|found| found.circle.iter().all(has_not_run)).collect()
}

/// The locks of files that a process holds.
#[must_use]
pub fn file_locks(process: i32) -> Vec<FileLock> {
    lock::all()
        .into_iter()
        .filter(|entry| !entry.is_waiting && entry.process == process)
        .map(|entry| entry.lock)
        .collect()
}
