//! The file system XFS: xfs(5).

use harness::check::{Checked, equal};
use harness::storage::{Loop, mount, private_mounts, sparse, tool};
use protocol::Need;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, ioctl_ficlone};
use rustix::io::{Errno, pread, pwrite};
use rustix::mount::{MountFlags, UnmountFlags, unmount};
use rustix::thread::UnshareFlags;

use super::Known;
use super::parts::own;
use crate::race::{Judgement, Race};
use crate::runner::Runner;

pub(super) const RACES: &[Known] = &[Known::new(
    "fs/xfs-reflink-dio",
    "two direct writes to a cloned block: one of them goes to the block of the original",
    &["2f4acd0fcd86"],
    reflink_dio,
)
.cve("2026-64600")
.needs(&[Need::Filesystem("xfs"), Need::Module("loop"), Need::Tool("mkfs.xfs")])];

const BLOCK: usize = 4096;

/// A block of the file system, as direct I/O wants it.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(align(4096))]
struct Block([u8; BLOCK]);

impl Block {
    /// All of it; a closure that named its field would keep the bytes without their alignment.
    fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// What is in the original.
const ORIGINAL: Block = Block([b'o'; BLOCK]);

fn reflink_dio(runner: &Runner) -> Checked {
    own("a mount namespace", UnshareFlags::NEWNS)?;
    private_mounts()?;
    sparse("image", 64)?;
    tool("mkfs.xfs", &["-q", "-K", "-m", "reflink=1", "-d", "agcount=2", "image"])?;
    let disk = Loop::attach("image", OFlags::RDWR)?;
    mount(&disk.path, "mounted", "xfs", MountFlags::empty(), "")?;
    let raced = race(runner);
    let unmounted = unmount("mounted", UnmountFlags::empty());
    raced?;
    Ok(unmounted?)
}

fn race(runner: &Runner) -> Checked {
    let [original, clone, of_a, of_b] = [open("original")?, open("clone")?, open("clone")?, open("clone")?];
    pwrite(&original, ORIGINAL.bytes(), 0)?;
    let write = |file: OwnedFd, letter: u8| {
        let block = Block([letter; BLOCK]);
        move || pwrite(&file, block.bytes(), 0)
    };
    let judge = |of_a: &Result<usize, Errno>, of_b: &Result<usize, Errno>| {
        equal("bytes written", ((*of_a)?, (*of_b)?), (BLOCK, BLOCK))?;
        let mut block = Block([0; BLOCK]);
        equal("bytes read", pread(&original, &mut block.0, 0)?, BLOCK)?;
        if block == ORIGINAL {
            return Ok(Judgement::Miss);
        }
        pwrite(&original, ORIGINAL.bytes(), 0)?;
        Ok(Judgement::Hit)
    };
    let share = || Ok(ioctl_ficlone(&clone, &original)?);
    runner.run(Race::between(write(of_a, b'a'), write(of_b, b'b')).setup_a(share).judge(judge))
}

/// A file in the file system, for direct I/O.
fn open(name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::DIRECT | OFlags::CLOEXEC;
    rustix::fs::open(format!("mounted/{name}"), flags, Mode::RUSR | Mode::WUSR)
}
