//! `hdd`: files written and read with the options of open(2) and advice of posix_fadvise(2).

use std::fs::File;
use std::os::fd::AsFd;

use harness::check::{Checked, equal};
use rustix::fs::{Advice, OFlags, Timespec, Timestamps, fadvise, fdatasync, fsync, futimens, syncfs};
use rustix::io::{Errno, IoSlice, IoSliceMut, pread, preadv, pwrite, pwritev};

use crate::Worker;
use crate::kit::memory::Memory;
use crate::kit::{content, file};
use crate::stressor::{Class, Setting, Stressor, choice, size};
use harness::random::Random;

const BYTES: Setting = size("bytes", "size of the file", 65536..=1 << 30, 16 << 20);
const WRITE: Setting = size("write-size", "bytes of a write or read", 4096..=4 << 20, 64 << 10);
const METHOD: Setting = choice(
    "method",
    "how the file is opened, advised, written and synchronised",
    &[
        "all",
        "direct",
        "dsync",
        "sync",
        "noatime",
        "fsync",
        "fdatasync",
        "syncfs",
        "utimes",
        "iovec",
        "fadv-dontneed",
        "fadv-noreuse",
        "fadv-normal",
        "fadv-rnd",
        "fadv-seq",
        "fadv-willneed",
        "wr-rnd",
        "rd-rnd",
    ],
);

pub(super) const STRESSOR: Stressor = Stressor {
    name: "hdd",
    classes: &[Class::Io, Class::Os],
    about: "a file written and read in sequence or at random, direct or cached, with advice and synchronisation",
    operation: "one write or one read",
    verifies: "all that is read is what was written",
    options: &[BYTES, WRITE, METHOD],
    body,
    ..Stressor::PLAIN
};

/// What follows each write.
type After = fn(&File) -> Result<(), Errno>;

/// How a file is used; the default is plain.
#[derive(Clone, Copy)]
struct Plan {
    flags: OFlags,
    advice: Option<Advice>,
    after: Option<After>,
    is_vectored: bool,
    writes_at_random: bool,
    reads_at_random: bool,
}

const PLAIN: Plan = Plan {
    flags: OFlags::empty(),
    advice: None,
    after: None,
    is_vectored: false,
    writes_at_random: false,
    reads_at_random: false,
};

const fn opened(flags: OFlags) -> Plan {
    Plan { flags, ..PLAIN }
}

const fn advised(advice: Advice) -> Plan {
    Plan { advice: Some(advice), ..PLAIN }
}

const fn followed(after: After) -> Plan {
    Plan { after: Some(after), ..PLAIN }
}

const METHODS: &[(&str, Plan)] = &[
    ("direct", opened(OFlags::DIRECT)),
    ("dsync", opened(OFlags::DSYNC)),
    ("sync", opened(OFlags::SYNC)),
    ("noatime", opened(OFlags::NOATIME)),
    ("fsync", followed(|file| fsync(file))),
    ("fdatasync", followed(|file| fdatasync(file))),
    ("syncfs", followed(|file| syncfs(file))),
    ("utimes", followed(touch)),
    ("iovec", Plan { is_vectored: true, ..PLAIN }),
    ("fadv-dontneed", advised(Advice::DontNeed)),
    ("fadv-noreuse", advised(Advice::NoReuse)),
    ("fadv-normal", advised(Advice::Normal)),
    ("fadv-rnd", advised(Advice::Random)),
    ("fadv-seq", advised(Advice::Sequential)),
    ("fadv-willneed", advised(Advice::WillNeed)),
    ("wr-rnd", Plan { writes_at_random: true, ..PLAIN }),
    ("rd-rnd", Plan { reads_at_random: true, ..PLAIN }),
];

fn touch(file: &File) -> Result<(), Errno> {
    let now = Timespec { tv_sec: 0, tv_nsec: libc::UTIME_NOW };
    futimens(file, &Timestamps { last_access: now, last_modification: now })
}

fn body(worker: &Worker) -> Checked {
    let methods = worker.methods(&METHOD, METHODS);
    let mut random = worker.random();
    for (_, plan) in methods.iter().cycle() {
        if !worker.goes_on() {
            break;
        }
        one_file(worker, plan, &mut random)?;
    }
    Ok(())
}

/// Writes blocks and reads each once, in sequence or in random order.
fn one_file(worker: &Worker, plan: &Plan, random: &mut Random) -> Checked {
    let block = worker.size(&WRITE) / 4096 * 4096;
    let count = (worker.size(&BYTES) / block).max(1);
    let file = match file::open("file", OFlags::CREATE | OFlags::TRUNC | plan.flags) {
        // tmpfs and others have no direct access.
        Err(Errno::INVAL) if plan.flags == OFlags::DIRECT => {
            file::open("file", OFlags::CREATE | OFlags::TRUNC)
        }
        opened => opened,
    };
    let (file, seed) = (File::from(file?), random.next_u64());
    // Direct access needs memory that is aligned.
    let mut buffer = Memory::private(block)?;
    let mut writes: Vec<usize> = (0..count).collect();
    let mut reads = writes.clone();
    if plan.writes_at_random {
        random.shuffle(&mut writes);
    }
    if plan.reads_at_random {
        random.shuffle(&mut reads);
    }
    if let Some(advice) = plan.advice {
        fadvise(&file, 0, None, advice)?;
    }
    for number in writes {
        let at = (number * block) as u64;
        content::fill(&mut buffer, seed, at);
        equal("bytes written", write(plan, &file, &buffer, at)?, block)?;
        plan.after.map_or(Ok(()), |after| after(&file))?;
        worker.count();
        if worker.is_over() {
            return Ok(());
        }
    }
    for number in reads {
        let at = (number * block) as u64;
        equal("bytes read", read(plan, &file, &mut buffer, at)?, block)?;
        content::verify("a block", &buffer, seed, at)?;
        worker.count();
        if !worker.goes_on() {
            break;
        }
    }
    Ok(())
}

/// Parts of a vectored write or read.
const PARTS: usize = 16;

fn write(plan: &Plan, file: impl AsFd, bytes: &[u8], at: u64) -> Result<usize, Errno> {
    if !plan.is_vectored {
        return pwrite(file, bytes, at);
    }
    let parts: Vec<IoSlice<'_>> = bytes.chunks(bytes.len().div_ceil(PARTS)).map(IoSlice::new).collect();
    pwritev(file, &parts, at)
}

fn read(plan: &Plan, file: impl AsFd, bytes: &mut [u8], at: u64) -> Result<usize, Errno> {
    if !plan.is_vectored {
        return pread(file, bytes, at);
    }
    let part = bytes.len().div_ceil(PARTS);
    preadv(file, &mut bytes.chunks_mut(part).map(IoSliceMut::new).collect::<Vec<_>>(), at)
}
