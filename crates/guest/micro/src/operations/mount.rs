//! Mounts: mount(2), umount(2).

use harness::check::{Checked, equal};
use rustix::fs::{mkdir, statfs};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, unmount};

use super::parts::{PRIVATE, nothing};
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("mount/tmpfs", "mount(2) of a new tmpfs and umount(2)", new),
    Operation::new("mount/bind", "mount(2) MS_BIND of a directory and umount(2)", bind),
];

fn new(meter: &mut Meter) -> Checked {
    let mounted = || mount(c"none", c"there", c"tmpfs", MountFlags::empty(), c"nr_inodes=4711");
    both(meter, mounted)?;
    mounted()?;
    let files = statfs(c"there")?.f_files;
    unmount(c"there", UnmountFlags::empty())?;
    equal("files that it may have", files, 4711)
}

fn bind(meter: &mut Meter) -> Checked {
    mkdir(c"here", PRIVATE)?;
    let mounted = || mount_bind(c"here", c"there");
    both(meter, mounted)?;
    mounted()?;
    let inodes = [c"here", c"there"].map(|path| rustix::fs::stat(path).map(|found| found.st_ino));
    unmount(c"there", UnmountFlags::empty())?;
    equal("the inode", inodes[1], inodes[0])
}

/// Measures `mounted` and the end of that mount.
fn both(meter: &mut Meter, mounted: impl Fn() -> Result<(), Errno>) -> Checked {
    mkdir(c"there", PRIVATE)?;
    let operation = |(): &mut ()| {
        mounted()?;
        unmount(c"there", UnmountFlags::empty())
    };
    meter.around(nothing, operation, |(), ()| Ok(()))
}
