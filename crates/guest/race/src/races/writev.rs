//! Writes of several parts: writev(2).

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use harness::check::Checked;
use harness::child::last_error;
use harness::memory::Area;
use rustix::fs::ftruncate;
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};

use super::Known;
use crate::race::{Judgement, Race};
use crate::runner::Runner;

pub(super) const RACES: &[Known] = &[Known::new(
    "fs/writev-absent",
    "read(2) sees what writev(2) has not yet copied from pages that are absent",
    &["d4690f1e1cda"],
    absent,
)];

const SIZE: usize = 4 * 4096;
const WRITTEN: u8 = b'w';

/// The kernel copies with page faults off: what it could not copy at once it must not show.
fn absent(runner: &Runner) -> Checked {
    let [source, target] = [create("source")?, create("target")?];
    source.write_all_at(&[WRITTEN; SIZE], 0)?;
    let absent = Area::of(&source, ProtFlags::READ, MapFlags::SHARED)?;
    let prepare = || {
        ftruncate(&target, 0)?;
        ftruncate(&target, SIZE as u64)?;
        absent.advise(Advice::LinuxDontNeed)?;
        Ok(())
    };
    let mut seen = vec![0; SIZE];
    let read = || {
        let count = target.read_at(&mut seen, 0).unwrap_or(0);
        seen[..count].iter().all(|&byte| byte == 0 || byte == WRITTEN)
    };
    let judge =
        |_: &Result<(), Errno>, is_fine: &bool| Ok(if *is_fine { Judgement::Miss } else { Judgement::Hit });
    runner.run(Race::between(|| write_after_nothing(&target, absent), read).setup_a(prepare).judge(judge))
}

fn create(name: &str) -> Checked<File> {
    Ok(File::options().read(true).write(true).create(true).truncate(true).open(name)?)
}

/// pwritev(2) of an empty part, and of `source`.
fn write_after_nothing(target: &File, source: Area) -> Result<(), Errno> {
    let parts = [
        libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 },
        libc::iovec { iov_base: source.start.cast(), iov_len: source.length },
    ];
    // SAFETY: both parts are valid for reading.
    match unsafe { libc::pwritev(target.as_raw_fd(), parts.as_ptr(), 2, 0) } {
        -1 => Err(last_error()),
        _ => Ok(()),
    }
}
