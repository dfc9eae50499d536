//! Watches of files: inotify(7).

use std::sync::atomic::{AtomicI32, Ordering::*};

use harness::check::Checked;
use protocol::Need;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::fs::{Mode, OFlags, SeekFrom, open, seek};
use rustix::io::{read, write};

use super::Known;
use crate::race::Race;
use crate::runner::Runner;

pub(super) const RACES: &[Known] = &[Known::new(
    "fs/inotify-rm-watch",
    "inotify_rm_watch(2) removes the mark that write(2) is about to notify",
    &["d90a10e2444b"],
    rm_watch,
)
.needs(&[Need::Config("INOTIFY_USER")])];

fn rm_watch(runner: &Runner) -> Checked {
    let file = open("file", OFlags::RDWR | OFlags::CREATE, Mode::RUSR | Mode::WUSR)?;
    let inotify = inotify::init(CreateFlags::NONBLOCK)?;
    let watch = AtomicI32::new(0);
    let add = || {
        // Events of the last round; there may be none.
        let _ = read(&inotify, &mut [0; 4096]);
        watch.store(inotify::add_watch(&inotify, "file", WatchFlags::MODIFY)?, Relaxed);
        Ok(())
    };
    let remove = || inotify::remove_watch(&inotify, watch.load(Relaxed));
    let modify = || {
        let _ = write(&file, &[0; 64]);
        let _ = seek(&file, SeekFrom::Start(0));
    };
    runner.run(Race::between(remove, modify).setup_a(add))
}
