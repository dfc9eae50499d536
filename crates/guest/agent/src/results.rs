//! The results page of the running case.

use harness::page;
use protocol::results::{PAGE_SIZE, Page};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};

/// Where the results page of the running case is.
pub(crate) const PATH: &str = "/run/kiln/results";

/// A new page, and its file.
pub(crate) fn create() -> std::io::Result<(OwnedFd, &'static Page)> {
    // There is none on the first run.
    let _ = std::fs::remove_file(PATH);
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::open(PATH, flags, Mode::from_raw_mode(0o666))?;
    rustix::fs::fchmod(&file, Mode::from_raw_mode(0o666))?;
    rustix::fs::ftruncate(&file, PAGE_SIZE as u64)?;
    let page = page::map(&file)?;
    page.prepare();
    Ok((file, page))
}
