//! `open`, `close`, `dup`, `fcntl`: descriptors of files.

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use harness::check::{Checked, equal, fails, holds};
use harness::child::last_error;
use harness::sys::{call, succeeded};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, SeekFrom, fcntl_getfl, fcntl_setfl, openat2, seek};
use rustix::io::{Errno, FdFlags, dup, fcntl_dupfd_cloexec, fcntl_getfd, fcntl_setfd};

use crate::Worker;
use crate::kit::file;
use crate::stressor::{Class, Setting, Stressor, number};

const DESCRIPTORS: Setting = number("descriptors", "descriptors at a time", 4..=512, 64);

const CALLS: Stressor = Stressor { classes: &[Class::Filesystem, Class::Os], ..Stressor::PLAIN };

pub(super) const OPEN: Stressor = Stressor {
    name: "open",
    about: "open(2) and openat2(2) with their flags",
    operation: "a file opened in ten ways that work or must not",
    verifies: "each way gives a descriptor or its error",
    body: opens,
    ..CALLS
};

pub(super) const CLOSE: Stressor = Stressor {
    name: "close",
    about: "close(2) and close_range(2) of many descriptors",
    operation: "many descriptors opened and closed",
    verifies: "closed descriptors give EBADF, the others work",
    options: &[DESCRIPTORS],
    body: closes,
    ..CALLS
};

pub(super) const DUP: Stressor = Stressor {
    name: "dup",
    about: "dup(2), dup3(2) and F_DUPFD_CLOEXEC",
    operation: "many copies of a descriptor made and closed",
    verifies: "copies share the offset and not the close-on-exec flag",
    options: &[DESCRIPTORS],
    body: dups,
    ..CALLS
};

pub(super) const FCNTL: Stressor = Stressor {
    name: "fcntl",
    about: "fcntl(2): flags, owner, signal, and hints on how long written data will live",
    operation: "each command once",
    verifies: "what was set is what is read",
    body: commands,
    ..CALLS
};

fn opens(worker: &Worker) -> Checked {
    std::fs::write("file", "content")?;
    std::fs::create_dir("directory")?;
    rustix::fs::symlink("file", "link")?;
    let try_open = |name: &str, flags| file::open(name, flags);
    let beneath =
        |name: &str, resolve| openat2(CWD, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty(), resolve);
    worker.repeat(|| {
        fails("creating what is there", try_open("file", OFlags::CREATE | OFlags::EXCL), Errno::EXIST)?;
        fails("a file as a directory", try_open("file", OFlags::DIRECTORY), Errno::NOTDIR)?;
        fails("a directory for writing", try_open("directory", OFlags::empty()), Errno::ISDIR)?;
        fails("a link that is not followed", try_open("link", OFlags::NOFOLLOW), Errno::LOOP)?;
        fails("what is not there", try_open("none", OFlags::empty()), Errno::NOENT)?;
        let followed = File::from(try_open("link", OFlags::empty())?);
        equal("a link that is followed", followed.metadata()?.len(), 7)?;
        let path = try_open("file", OFlags::PATH)?;
        fails("reading a path", rustix::io::read(&path, &mut [0]), Errno::BADF)?;
        match beneath("../file", ResolveFlags::BENEATH) {
            Err(Errno::NOSYS) => {}
            outside => fails("a path that leads out", outside, Errno::XDEV)?,
        }
        match beneath("link", ResolveFlags::NO_SYMLINKS) {
            Err(Errno::NOSYS) => {}
            link => fails("a path with a link", link, Errno::LOOP)?,
        }
        match file::open(".", OFlags::TMPFILE) {
            // Not every file system has these.
            Err(Errno::OPNOTSUPP | Errno::ISDIR) => Ok(()),
            unnamed => equal("links of a file without a name", rustix::fs::fstat(unnamed?)?.st_nlink, 0),
        }
    })
}

/// Whether a number is an open descriptor.
fn is_open(number: i32) -> bool {
    // SAFETY: only asks.
    unsafe { libc::fcntl(number, libc::F_GETFD) != -1 }
}

fn close_one(number: i32) {
    // SAFETY: opened by `closes`, and closed once.
    drop(unsafe { OwnedFd::from_raw_fd(number) });
}

fn closes(worker: &Worker) -> Checked {
    let count = worker.size(&DESCRIPTORS);
    worker.repeat(|| {
        let all: Vec<i32> = (0..count)
            .map(|_| File::open("/dev/null").map(std::os::fd::IntoRawFd::into_raw_fd))
            .collect::<Result<_, _>>()?;
        let (first, rest) = all.split_at(count / 2);
        for &number in first {
            holds("it is open", is_open(number))?;
            close_one(number);
            holds("it is closed", !is_open(number))?;
        }
        holds("the others are open", rest.iter().all(|&number| is_open(number)))?;
        // Numbers are given from below without a gap, so that they are one range.
        let number = |at: usize| usize::try_from(rest[at]).unwrap_or(usize::MAX);
        // SAFETY: exactly those that were opened above.
        match unsafe { call(libc::SYS_close_range, [number(0), number(rest.len() - 1), 0]) } {
            Err(Errno::NOSYS) => rest.iter().for_each(|&number| close_one(number)),
            closed => drop(closed?),
        }
        holds("all are closed", rest.iter().all(|&number| !is_open(number)))
    })
}

fn dups(worker: &Worker) -> Checked {
    let (file, count, mut random) = (file::create("file")?, worker.size(&DESCRIPTORS), worker.random());
    file.set_len(1 << 20)?;
    worker.repeat(|| {
        let copies = (0..count).map(|_| dup(&file)).collect::<Result<Vec<_>, _>>()?;
        let place = random.below(1 << 20) as u64;
        seek(random.one_of(&copies), SeekFrom::Start(place))?;
        equal("the offset of the first", seek(&file, SeekFrom::Current(0))?, place)?;
        let closed = fcntl_dupfd_cloexec(&file, 100)?;
        holds("its number", closed.as_raw_fd() >= 100)?;
        fcntl_setfd(&copies[0], FdFlags::empty())?;
        let flags = (fcntl_getfd(&closed)?, fcntl_getfd(&copies[0])?);
        equal("close-on-exec", flags, (FdFlags::CLOEXEC, FdFlags::empty()))?;
        let (from, to) = (file.as_raw_fd(), copies[1].as_raw_fd());
        // SAFETY: replaces what a copy refers to.
        equal("dup3(2)", unsafe { libc::dup3(from, to, libc::O_CLOEXEC) }, to)?;
        // SAFETY: refused because both are the same.
        let same = unsafe { libc::dup3(from, from, 0) };
        equal("dup3(2) onto itself", (same, last_error()), (-1, Errno::INVAL))
    })
}

// F_SETSIG and F_GETSIG of <asm-generic/fcntl.h>.
const SET_SIGNAL: libc::c_int = 10;
const GET_SIGNAL: libc::c_int = 11;

// Commands of <linux/fcntl.h> with a pointer to a hint.
const GET_HINT: libc::c_int = 1035;
const SET_HINT: libc::c_int = 1036;
/// `RWH_WRITE_LIFE_NONE` to `RWH_WRITE_LIFE_EXTREME`.
const HINTS: std::ops::RangeInclusive<u64> = 1..=5;

fn commands(worker: &Worker) -> Checked {
    let file = file::create("file")?;
    let number = file.as_raw_fd();
    let with_number = |command, argument: libc::c_int| {
        // SAFETY: these commands take a number.
        let value = unsafe { libc::fcntl(number, command, argument) };
        succeeded(value).map(|()| value)
    };
    let with_hint = |command, hint: &mut u64| {
        // SAFETY: these commands take a pointer to a hint.
        succeeded(unsafe { libc::fcntl(number, command, &raw mut *hint) })
    };
    worker.repeat(|| {
        for flag in [OFlags::APPEND, OFlags::NONBLOCK, OFlags::NOATIME, OFlags::empty()] {
            fcntl_setfl(&file, flag)?;
            let changeable = OFlags::APPEND | OFlags::NONBLOCK | OFlags::NOATIME;
            equal("status flags", fcntl_getfl(&file)? & changeable, flag)?;
        }
        let own = rustix::process::getpid().as_raw_pid();
        with_number(libc::F_SETOWN, own)?;
        equal("the owner", with_number(libc::F_GETOWN, 0)?, own)?;
        with_number(SET_SIGNAL, libc::SIGUSR1)?;
        equal("the signal", with_number(GET_SIGNAL, 0)?, libc::SIGUSR1)?;
        for mut hint in HINTS {
            let (set, mut read) = (hint, 0);
            match with_hint(SET_HINT, &mut hint) {
                // A kernel before 4.13.
                Err(Errno::INVAL) => break,
                done => done?,
            }
            with_hint(GET_HINT, &mut read)?;
            equal("the hint", read, set)?;
        }
        fails("an unknown command", with_number(9999, 0), Errno::INVAL)
    })
}
