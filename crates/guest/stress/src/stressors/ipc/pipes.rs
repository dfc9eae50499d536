//! `pipe`, `fifo`, `eventfd`: bytes and counts from one process to another.

use harness::check::{Checked, at_least, equal, fails};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use rustix::io::{Errno, read, write};
use rustix::pipe::{PipeFlags, fcntl_getpipe_size, fcntl_setpipe_size, pipe, pipe_with};

use crate::Worker;
use crate::kit::helper::helper;
use crate::kit::{content, file};
use crate::stressor::{Class, Need, Setting, Stressor, number, size};

const BYTES: Setting = size("bytes", "bytes of a write", 8..=65536, 4096);
const CAPACITY: Setting = size("capacity", "capacity of the pipe", 4096..=1 << 20, 65536);
const READERS: Setting = number("readers", "processes that read", 1..=64, 4);

pub(super) const PIPE: Stressor = Stressor {
    name: "pipe",
    classes: &[Class::Ipc, Class::Os],
    about: "a pipe of a given capacity from one process to another: pipe(7)",
    operation: "one write, which another process reads",
    verifies: "the other process reads what was written, in its order",
    options: &[BYTES, CAPACITY],
    body: stream,
    ..Stressor::PLAIN
};

pub(super) const FIFO: Stressor = Stressor {
    name: "fifo",
    classes: &[Class::Ipc, Class::Filesystem, Class::Os],
    about: "a pipe with a name and several readers: fifo(7)",
    operation: "a record written",
    verifies: "each record comes to one reader, whole",
    options: &[READERS],
    body: named,
    ..Stressor::PLAIN
};

pub(super) const EVENTFD: Stressor = Stressor {
    name: "eventfd",
    classes: &[Class::Ipc, Class::Scheduler, Class::Os],
    about: "counters that processes wait for: eventfd(2)",
    operation: "a count to the other process and one back",
    verifies: "the counts; a semaphore gives one at a time; an overflow gives EAGAIN",
    needs: &[Need::Config("EVENTFD")],
    body: counts,
    ..Stressor::PLAIN
};

/// Reads as much, or less at the end.
fn read_all(from: impl AsFd, bytes: &mut [u8]) -> Checked<usize> {
    let mut length = 0;
    while length < bytes.len() {
        match read(&from, &mut bytes[length..])? {
            0 => break,
            more => length += more,
        }
    }
    Ok(length)
}

fn write_all(to: impl AsFd, bytes: &[u8]) -> Checked {
    let mut written = 0;
    while written < bytes.len() {
        written += write(&to, &bytes[written..])?;
    }
    Ok(())
}

fn stream(worker: &Worker) -> Checked {
    let ((reader, writer), size) = (pipe_with(PipeFlags::CLOEXEC)?, worker.size(&BYTES));
    // More than a user may have is refused.
    match fcntl_setpipe_size(&writer, worker.size(&CAPACITY)) {
        Err(Errno::PERM) => {}
        set => at_least("the capacity", fcntl_getpipe_size(&writer)?, set?)?,
    }
    // Who reads has found something wrong, and has reported it, when nobody reads any more.
    harness::sys::ignore(libc::SIGPIPE)?;
    let seed = worker.random().next_u64();
    let other = helper(|| read_to_end(&reader, size, seed))?;
    drop(reader);
    let mut number = 0;
    worker.repeat(|| {
        write_all(&writer, &content::of(size, seed ^ number, 0))?;
        number += 1;
        Ok(())
    })?;
    write_all(&writer, &vec![0; size])?;
    other.succeeds()
}

/// Takes out what is written and verifies it, up to a piece of zeroes.
fn read_to_end(from: &OwnedFd, size: usize, seed: u64) -> Checked {
    let mut bytes = vec![0; size];
    for number in 0.. {
        equal("bytes read", read_all(from, &mut bytes)?, size)?;
        if content::nonzero(&bytes) == 0 {
            break;
        }
        content::verify("what is read", &bytes, seed ^ number, 0)?;
    }
    Ok(())
}

fn named(worker: &Worker) -> Checked {
    mknodat(CWD, "fifo", FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    let (results, result) = pipe()?;
    // For reading as well, so that opening does not wait.
    let writer = file::open("fifo", OFlags::empty())?;
    let readers = worker.size(&READERS);
    let helpers = (0..readers).map(|_| helper(|| take(&writer, &result))).collect::<Checked<Vec<_>>>()?;
    let mut number = 0_u64;
    let outcome = worker.repeat(|| {
        number += 1;
        write_all(&writer, &number.to_ne_bytes().repeat(8))?;
        let mut taken = [0; 8];
        equal("bytes of a result", read_all(&results, &mut taken)?, 8)?;
        equal("the record that was taken", u64::from_ne_bytes(taken), number)
    });
    // A record of zeroes ends one reader.
    helpers.iter().try_for_each(|_| write_all(&writer, &[0; 64]))?;
    outcome.and_then(|()| helpers.into_iter().try_for_each(harness::child::Child::succeeds))
}

/// Takes records out of a FIFO until there is one of zeroes. Writes and reads of as many bytes are not divided: pipe(7).
fn take(fifo: &OwnedFd, result: &OwnedFd) -> Checked {
    loop {
        let mut record = [0; 64];
        equal("bytes of a record", read(fifo, &mut record)?, 64)?;
        let first: [u8; 8] = std::array::from_fn(|at| record[at]);
        equal("the rest of the record", record.as_chunks::<8>().0, [first; 8].as_slice())?;
        if first == [0; 8] {
            return Ok(());
        }
        write_all(result, &first)?;
    }
}

/// Ends the other process.
const END: u64 = 1 << 32;

fn counts(worker: &Worker) -> Checked {
    let new = |value, flags| eventfd(value, flags | EventfdFlags::CLOEXEC);
    let (there, back) = (new(0, EventfdFlags::empty())?, new(0, EventfdFlags::empty())?);
    let count = |from: &OwnedFd| {
        let mut bytes = [0; 8];
        read(from, &mut bytes).map(|_| u64::from_ne_bytes(bytes))
    };
    let add = |to: &OwnedFd, number: u64| write(to, &number.to_ne_bytes());
    let other = helper(|| {
        loop {
            match count(&there)? {
                END => return Ok(()),
                number => drop(add(&back, number + 1)?),
            }
        }
    })?;
    let mut number = 0;
    worker.repeat(|| {
        number = number % 1000 + 1;
        add(&there, number)?;
        equal("the count that comes back", count(&back)?, number + 1)?;
        let semaphore = new(2, EventfdFlags::SEMAPHORE | EventfdFlags::NONBLOCK)?;
        equal("a semaphore", (count(&semaphore)?, count(&semaphore)?), (1, 1))?;
        fails("an empty semaphore", count(&semaphore), Errno::AGAIN)?;
        add(&semaphore, u64::MAX - 1)?;
        fails("more than fits", add(&semaphore, 1), Errno::AGAIN)?;
        fails("the one number that is none", add(&semaphore, u64::MAX), Errno::INVAL)
    })?;
    add(&there, END)?;
    other.succeeds()
}
