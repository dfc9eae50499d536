//! `inotify`, `fanotify`: who is told about changes.

use std::fs::{self, File};
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd};

use harness::check::{Checked, equal, holds};
use harness::sys::{call, call_for_descriptor};
use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init, remove_watch};
use rustix::io::read;

use crate::Worker;
use crate::kit::file;
use crate::kit::support::{supported, supported_unless};
use crate::stressor::{Class, Need, Stressor};

pub(super) const INOTIFY: Stressor = Stressor {
    name: "inotify",
    classes: &[Class::Filesystem, Class::Os],
    about: "changes of files in a directory that is watched: inotify(7)",
    operation: "a file made, written, renamed and removed",
    verifies: "all events in their order, with names and cookie; FIONREAD gives their size",
    needs: &[Need::Config("INOTIFY_USER")],
    body: inotify,
    ..Stressor::PLAIN
};

pub(super) const FANOTIFY: Stressor = Stressor {
    name: "fanotify",
    classes: &[Class::Filesystem, Class::Os],
    about: "opens, writes and closes of a file that is watched: fanotify(7)",
    operation: "a file opened, written and closed",
    verifies: "all events, from this process, with a descriptor of this file",
    needs: &[Need::Config("FANOTIFY")],
    body: fanotify,
    ..Stressor::PLAIN
};

fn inotify(worker: &Worker) -> Checked {
    fs::create_dir("watched")?;
    worker.repeat(|| {
        let watch = supported_unless("inotify", init(CreateFlags::NONBLOCK), &[rustix::io::Errno::MFILE])?;
        let number = add_watch(&watch, "watched", WatchFlags::ALL_EVENTS)?;
        let mut written = File::create("watched/a")?;
        std::io::Write::write_all(&mut written, b"x")?;
        drop(written);
        fs::rename("watched/a", "watched/b")?;
        fs::remove_file("watched/b")?;
        let size = rustix::io::ioctl_fionread(&watch)?;
        let (events, read_size) = events(&watch)?;
        equal("size of the events", read_size, size)?;
        let expected = [
            (ReadFlags::CREATE, "a"),
            (ReadFlags::OPEN, "a"),
            (ReadFlags::MODIFY, "a"),
            (ReadFlags::CLOSE_WRITE, "a"),
            (ReadFlags::MOVED_FROM, "a"),
            (ReadFlags::MOVED_TO, "b"),
            (ReadFlags::DELETE, "b"),
        ];
        let expected: Vec<_> = expected.map(|(event, name)| (event, name.to_string())).to_vec();
        equal("events", events, expected)?;
        Ok(remove_watch(&watch, number)?)
    })
}

/// What was reported, and its size in bytes.
fn events(watch: &OwnedFd) -> Checked<(Vec<(ReadFlags, String)>, u64)> {
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut reader = Reader::new(watch, &mut buffer);
    let (mut events, mut cookies, mut size) = (Vec::new(), Vec::new(), 0);
    loop {
        let event = match reader.next() {
            Err(rustix::io::Errno::AGAIN) => break,
            event => event?,
        };
        // A header of 16 bytes, and the name with zeroes up to a multiple of that.
        size +=
            16 + event.file_name().map_or(0, |name| (name.to_bytes().len() as u64 + 1).next_multiple_of(16));
        cookies.extend(Some(event.cookie()).filter(|&cookie| cookie != 0));
        let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
        events.push((event.events(), name.unwrap_or_default()));
    }
    holds("both names of the move have its cookie", cookies.len() == 2 && cookies[0] == cookies[1])?;
    Ok((events, size))
}

/// `struct fanotify_event_metadata` without what is not read.
#[derive(Debug, PartialEq, Eq)]
struct Event {
    mask: u64,
    pid: u32,
    inode: u64,
}

fn fanotify(worker: &Worker) -> Checked {
    file::create("watched")?;
    let flags = libc::FAN_CLASS_NOTIF | libc::FAN_CLOEXEC | libc::FAN_NONBLOCK;
    // SAFETY: takes flags, and gives a new descriptor.
    let group =
        unsafe { call_for_descriptor(libc::SYS_fanotify_init, [flags as usize, libc::O_RDONLY as usize]) };
    let group = supported("fanotify_init(2)", group)?;
    let mask = libc::FAN_OPEN | libc::FAN_MODIFY | libc::FAN_CLOSE_WRITE;
    let number = usize::try_from(std::os::fd::AsRawFd::as_raw_fd(&group)).unwrap_or(usize::MAX);
    let (add, here, path) =
        (libc::FAN_MARK_ADD as usize, libc::AT_FDCWD as usize, c"watched".as_ptr().addr());
    // SAFETY: a path that ends in a null byte.
    let marked = unsafe { call(libc::SYS_fanotify_mark, [number, add, mask as usize, here, path]) };
    supported_unless("fanotify_mark(2)", marked, &[rustix::io::Errno::INVAL])?;
    worker.repeat(|| {
        let mut file = File::options().write(true).open("watched")?;
        let inode = rustix::fs::fstat(&file)?.st_ino;
        std::io::Write::write_all(&mut file, b"x")?;
        drop(file);
        let seen = group_events(&group)?;
        let masks = seen.iter().fold(0, |all, event| all | event.mask);
        equal("events", masks, mask)?;
        let pid = std::process::id();
        holds(
            "all are of this process and file",
            seen.iter().all(|event| (event.pid, event.inode) == (pid, inode)),
        )
    })
}

fn group_events(group: &OwnedFd) -> Checked<Vec<Event>> {
    /// Bytes of an event without more information.
    const SIZE: usize = 24;
    let mut buffer = [0_u8; 64 * SIZE];
    let size = read(group, &mut buffer)?;
    let mut events = Vec::new();
    for event in buffer[..size].chunks(SIZE) {
        let word = |at: usize| u32::from_ne_bytes(std::array::from_fn(|byte| event[at + byte]));
        let mask = u64::from_ne_bytes(std::array::from_fn(|byte| event[8 + byte]));
        // SAFETY: the kernel opened it for this event, and nobody else knows it.
        let file = unsafe { OwnedFd::from_raw_fd(word(16).cast_signed()) };
        events.push(Event { mask, pid: word(20), inode: rustix::fs::fstat(&file)?.st_ino });
    }
    Ok(events)
}
