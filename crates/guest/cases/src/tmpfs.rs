//! Files in memory: tmpfs(5).

use std::fs;

use harness::check::{Checked, equal, fails};
use harness::storage::{mount, own_mounts};
use rustix::fs::statfs;
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount_remount};

use crate::case::Case;

pub(super) const CASES: &[Case] = &[
    Case::new("fs/tmpfs-size", "tmpfs: size= gives ENOSPC when full; a remount makes room", size)
        .setup(own_mounts),
    Case::new("fs/tmpfs-inodes", "tmpfs: nr_inodes= limits the number of files with ENOSPC", inodes)
        .setup(own_mounts),
    Case::new("fs/tmpfs-options", "tmpfs: mode= is obeyed; wrong options and sizes give EINVAL", options)
        .setup(own_mounts),
];

const MOUNTED: &str = "mounted";
const TMPFS: i64 = 0x0102_1994;

fn tmpfs(options: &str) -> Result<(), Errno> {
    mount("none", MOUNTED, "tmpfs", MountFlags::empty(), options)
}

fn remount(flags: MountFlags, options: &std::ffi::CStr) -> Result<(), Errno> {
    mount_remount(MOUNTED, flags, options)
}

fn size() -> Checked {
    tmpfs("size=1m")?;
    equal("type and blocks of statfs", (statfs(MOUNTED)?.f_type, statfs(MOUNTED)?.f_blocks), (TMPFS, 256))?;
    fs::write("mounted/first", vec![1; 1 << 20])?;
    fails("one byte more", fs::write("mounted/second", "!"), Errno::NOSPC)?;
    fails("a size below what is used", remount(MountFlags::empty(), c"size=512k"), Errno::INVAL)?;
    remount(MountFlags::empty(), c"size=2m")?;
    fs::write("mounted/second", "!")?;
    equal("size of the old file", fs::metadata("mounted/first")?.len(), 1 << 20)?;
    remount(MountFlags::RDONLY, c"")?;
    fails("write when read-only", fs::write("mounted/first", ""), Errno::ROFS)?;
    equal("read when read-only", fs::read_to_string("mounted/second")?, "!")
}

fn inodes() -> Checked {
    tmpfs("nr_inodes=4")?;
    for name in ["mounted/a", "mounted/b", "mounted/c"] {
        fs::write(name, "")?;
    }
    equal("free inodes", statfs(MOUNTED)?.f_ffree, 0)?;
    fails("a file too many", fs::write("mounted/d", ""), Errno::NOSPC)?;
    fails("a directory too many", fs::create_dir("mounted/d"), Errno::NOSPC)?;
    fs::remove_file("mounted/a")?;
    fs::write("mounted/d", "")?;
    equal("files", fs::read_dir(MOUNTED)?.count(), 3)
}

fn options() -> Checked {
    for wrong in ["no-such-option", "size=much", "mode=9", "mpol=unknown"] {
        fails(wrong, tmpfs(wrong), Errno::INVAL)?;
    }
    tmpfs("mode=1750,uid=12,gid=34")?;
    let root = rustix::fs::stat(MOUNTED)?;
    equal("mode", root.st_mode & 0o7777, 0o1750)?;
    equal("owner", (root.st_uid, root.st_gid), (12, 34))
}
