//! What `/proc` says of a process.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use procfs::process::{Process, Status};
use rustix::time::{ClockId, clock_gettime};

use crate::ending::Ending;
use crate::error::Error;

/// Most bytes of a command line that are kept: a person reads it.
const COMMAND_MAX: u64 = 4096;

/// Nanoseconds of `CLOCK_MONOTONIC`.
#[must_use]
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    u64::try_from(
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0)).as_nanos(),
    )
    .unwrap_or(u64::MAX)
}

/// What is known of a process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Description {
    /// The process that made it, or that which took its place.
    pub parent: i32,
    /// Its name, at most 15 bytes.
    pub comm: String,
    /// Its program and arguments, with a blank between them; empty for kernel threads.
    pub command: String,
    /// Its real user.
    pub user: u32,
    /// When it was made: nanoseconds of `CLOCK_MONOTONIC`, to the hundredth of a second.
    pub started: u64,
}

/// Describes a process; nothing if it is gone.
#[must_use]
pub fn describe(number: i32) -> Option<Description> {
    let process = Process::new(number).ok()?;
    let (stat, status) = (process.stat().ok()?, process.status().ok()?);
    Some(Description {
        parent: stat.ppid,
        command: command(number),
        user: status.ruid,
        started: stat
            .starttime
            .saturating_mul(1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)),
        comm: stat.comm,
    })
}

/// The program and the arguments of a process; empty for kernel threads and those that are gone.
#[must_use]
pub fn command(number: i32) -> String {
    let Ok(file) = File::open(format!("/proc/{number}/cmdline")) else { return String::new() };
    let mut bytes = Vec::new();
    // What was read before an error is right, too.
    let _ = file.take(COMMAND_MAX).read_to_end(&mut bytes);
    while bytes.last() == Some(&0) {
        bytes.pop();
    }
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

/// All processes.
#[must_use]
pub fn all() -> Vec<i32> {
    let processes = procfs::process::all_processes().into_iter().flatten();
    processes.filter_map(|process| Some(process.ok()?.pid)).collect()
}

/// The threads of a process.
///
/// # Errors
///
/// When there is no such process, or it may not be looked at.
pub fn threads(number: i32) -> Result<Vec<i32>, Error> {
    let process = Process::new(number).map_err(|_| Error::NoProcess(number))?;
    let tasks = process.tasks().map_err(|error| Error::Process(number, io::Error::other(error)))?;
    Ok(tasks.flatten().map(|task| task.tid).collect())
}

/// The process of a thread: itself if it is gone.
pub(crate) fn of_thread(thread: i32) -> i32 {
    status(thread).map_or(thread, |status| status.tgid)
}

/// How a process ended of which nobody reports that; `known` is asked if its parent has taken note already.
pub(crate) fn ending(number: i32, known: impl FnOnce() -> Option<Ending>) -> Option<Ending> {
    match Process::new(number).and_then(|process| process.stat()) {
        Ok(stat) if stat.state == 'Z' => Some(stat.exit_code.map_or(Ending::Unseen, Ending::of_status)),
        Ok(_) => None,
        Err(_) => Some(known().unwrap_or(Ending::Unseen)),
    }
}

/// Whether a process has this thread.
pub(crate) fn has_thread(process: i32, thread: i32) -> bool {
    Path::new(&format!("/proc/{process}/task/{thread}")).exists()
}

/// Whether a process neither handles nor ignores a signal.
pub(crate) fn has_default_action(thread: i32, signal: i32) -> bool {
    let bit = 1_u64.checked_shl(signal.unsigned_abs().wrapping_sub(1)).unwrap_or_default();
    status(thread).is_some_and(|status| (status.sigcgt | status.sigign) & bit == 0)
}

/// How often a thread has blocked: as long as that is the same, it has not run. Nothing if it is gone.
pub(crate) fn switches(thread: i32) -> Option<u64> {
    status(thread)?.voluntary_ctxt_switches
}

pub(crate) fn status(thread: i32) -> Option<Status> {
    Process::new(thread).ok()?.status().ok()
}
