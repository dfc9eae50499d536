//! `readahead`, `sync-file`, `ioprio`: what the page cache and the queue are told.

use std::os::fd::AsRawFd;

use harness::check::{Checked, equal, fails};
use harness::sys::{call, succeeded};
use rustix::fs::{Advice, fadvise, fdatasync};
use rustix::io::Errno;

use crate::Worker;
use crate::kit::file;
use crate::stressor::{Class, Setting, Stressor, size};

const BYTES: Setting = size("bytes", "size of the file", 65536..=128 << 20, 4 << 20);

pub(super) const READAHEAD: Stressor = Stressor {
    name: "readahead",
    classes: &[Class::Io, Class::Os],
    about: "a file that is dropped from the page cache, and read ahead at random places: readahead(2)",
    operation: "a place read ahead and read",
    verifies: "the content, and that the offset of the file stays",
    options: &[BYTES],
    body: readahead,
    ..Stressor::PLAIN
};

pub(super) const SYNC_FILE: Stressor = Stressor {
    name: "sync-file",
    classes: &[Class::Io, Class::Filesystem, Class::Os],
    about: "ranges of a file written back: sync_file_range(2)",
    operation: "a range written, and written back with each combination of flags",
    verifies: "the content survives; wrong flags give EINVAL",
    options: &[BYTES],
    body: sync_file,
    ..Stressor::PLAIN
};

pub(super) const IOPRIO: Stressor = Stressor {
    name: "ioprio",
    classes: &[Class::Io, Class::Filesystem, Class::Os],
    about: "all classes and priorities of input and output: ioprio_set(2), ioprio_get(2)",
    operation: "one class and priority set, and a block written with it",
    verifies: "the priority is what was set; priorities that do not exist give EINVAL",
    body: ioprio,
    ..Stressor::PLAIN
};

/// What is written or read at a time.
const SIZE: usize = 16384;

fn readahead(worker: &Worker) -> Checked {
    let (size, mut random) = (worker.size(&BYTES), worker.random());
    let (file, seed) = (file::create("file")?, random.next_u64());
    file::fill(&file, seed, 0, size)?;
    fdatasync(&file)?;
    worker.repeat(|| {
        let at = random.below(size - SIZE) / 8 * 8;
        fadvise(&file, 0, None, Advice::DontNeed)?;
        let offset = i64::try_from(at).unwrap_or(0);
        // SAFETY: the descriptor is open.
        let done = unsafe { libc::readahead(file.as_raw_fd(), offset, 4 * SIZE) };
        succeeded(libc::c_int::try_from(done).unwrap_or(-1))?;
        equal("the offset of the file", rustix::fs::tell(&file)?, 0)?;
        file::verify("what was read ahead", &file, seed, at as u64, SIZE)
    })
}

/// `SYNC_FILE_RANGE_WAIT_BEFORE`, `_WRITE` and `_WAIT_AFTER`.
const FLAGS: std::ops::RangeInclusive<libc::c_uint> = 0..=7;

fn sync_file(worker: &Worker) -> Checked {
    let (size, mut random) = (worker.size(&BYTES), worker.random());
    let file = file::create("file")?;
    let sync = |at: u64, flags| {
        let (at, length) = (i64::try_from(at).unwrap_or(0), SIZE as i64);
        // SAFETY: the descriptor is open.
        succeeded(unsafe { libc::sync_file_range(file.as_raw_fd(), at, length, flags) })
    };
    worker.repeat(|| {
        let (at, seed) = ((random.below(size - SIZE) / 8 * 8) as u64, random.next_u64());
        file::fill(&file, seed, at, SIZE)?;
        FLAGS.into_iter().try_for_each(|flags| sync(at, flags))?;
        fails("a flag that does not exist", sync(at, 8), Errno::INVAL)?;
        file::verify("what was written back", &file, seed, at, SIZE)
    })
}

/// `IOPRIO_WHO_PROCESS`.
const PROCESS: usize = 1;

fn set(class: usize, level: usize) -> Result<usize, Errno> {
    // SAFETY: takes numbers only; 0 is this process.
    unsafe { call(libc::SYS_ioprio_set, [PROCESS, 0, class << 13 | level]) }
}

fn ioprio(worker: &Worker) -> Checked {
    let file = file::create("file")?;
    // Best effort, idle, and real time for those who may have it, each with its levels.
    let real_time = if set(1, 0) == Err(Errno::PERM) { 0 } else { 8 };
    let classes = [(2, 8), (3, 1), (1, real_time)].into_iter();
    let mut next = classes.flat_map(|(class, levels)| (0..levels).map(move |level| (class, level))).cycle();
    worker.repeat(|| {
        let Some((class, level)) = next.next() else { return Ok(()) };
        set(class, level)?;
        // SAFETY: takes numbers only; 0 is this process.
        let now = unsafe { call(libc::SYS_ioprio_get, [PROCESS, 0])? };
        equal("the priority", ((now >> 13) & 7, now & 7), (class, level))?;
        file::fill(&file, 1, 0, 4096)?;
        fdatasync(&file)?;
        fails("a class that does not exist", set(5, 0), Errno::INVAL)
    })
}
