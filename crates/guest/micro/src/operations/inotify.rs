//! Watching files: inotify(7).

use harness::check::{Checked, at_least, equal};
use protocol::Need;
use rustix::fd::OwnedFd;
use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init, remove_watch};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{pwrite, read};

use super::parts::{PRIVATE, gives, long_rest, nothing};
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    on_watches("inotify/add-remove", "inotify_add_watch(2) and inotify_rm_watch(2)", add_remove),
    on_watches("inotify/modify-read", "pwrite(2) to a watched file and read(2) of the event", modify),
    on_watches(
        "inotify/open-read",
        "open(2) of a watched file, close(2), and read(2) of both events",
        open_close,
    ),
];

const fn on_watches(name: &'static str, about: &'static str, body: fn(&mut Meter) -> Checked) -> Operation {
    Operation::new(name, about, body).needs(&[Need::Config("INOTIFY_USER")])
}

/// Bytes of an event without a name.
const EVENT: usize = size_of::<libc::inotify_event>();

fn file() -> Result<OwnedFd, rustix::io::Errno> {
    open(c"file", OFlags::RDWR | OFlags::CREATE, PRIVATE)
}

fn watching(flags: WatchFlags) -> Checked<OwnedFd> {
    let watcher = init(CreateFlags::NONBLOCK)?;
    add_watch(&watcher, c"file", flags)?;
    Ok(watcher)
}

fn add_remove(meter: &mut Meter) -> Checked {
    file()?;
    let watcher = init(CreateFlags::NONBLOCK)?;
    let operation = |(): &mut ()| {
        let watch = add_watch(&watcher, c"file", WatchFlags::MODIFY)?;
        remove_watch(&watcher, watch)?;
        Ok::<_, rustix::io::Errno>(watch)
    };
    meter.around(nothing, operation, |(), watch| {
        at_least("its number", watch, 1)?;
        equal("bytes of IN_IGNORED", read(&watcher, &mut [0; 64])?, EVENT)?;
        // The kernel frees the watch later.
        long_rest();
        Ok(())
    })
}

fn modify(meter: &mut Meter) -> Checked {
    let (file, mut event) = (file()?, [0; 64]);
    let watcher = watching(WatchFlags::MODIFY)?;
    gives(meter, "bytes", (1, EVENT), || Ok((pwrite(&file, b"k", 0)?, read(&watcher, &mut event)?)))
}

fn open_close(meter: &mut Meter) -> Checked {
    file()?;
    let (watcher, mut events) = (watching(WatchFlags::OPEN | WatchFlags::CLOSE)?, [0; 64]);
    gives(meter, "bytes of two events", 2 * EVENT, || {
        drop(open(c"file", OFlags::RDONLY, Mode::empty())?);
        read(&watcher, &mut events)
    })
}
