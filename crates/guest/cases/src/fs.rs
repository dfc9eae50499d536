//! File systems on disks: mount(2), statfs(2), open(2).

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};

use harness::check::{Checked, equal, fails, holds};
use harness::needs::DISK;
use harness::storage::{Loop, device_size, mount, own_mounts, sparse, tool};
use rustix::fs::{Mode, OFlags, open, statfs};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount_remount, unmount};

use crate::case::{Case, Need};

pub(super) const CASES: &[Case] = &[
    Case::new("fs/ext4-remembers", "ext4: files survive umount(2); read-only gives EROFS", ext4_remembers)
        .needs(&[Need::Filesystem("ext4"), Need::Module("loop"), Need::Tool("mkfs.ext4")])
        .setup(make_ext4),
    Case::new("fs/xfs-remembers", "xfs: files survive umount(2); read-only gives EROFS", xfs_remembers)
        .needs(&[Need::Filesystem("xfs"), Need::Module("loop"), Need::Tool("mkfs.xfs")])
        .limit(20)
        .setup(make_xfs),
    Case::new("fs/btrfs-remembers", "btrfs: files survive umount(2); read-only gives EROFS", btrfs_remembers)
        .needs(&[Need::Filesystem("btrfs"), Need::Module("loop"), Need::Tool("mkfs.btrfs")])
        .limit(20)
        .setup(make_btrfs),
    Case::new("fs/ext4-on-disk", "ext4 on a virtio disk: synchronised data is on the disk", ext4_on_disk)
        .needs(&[Need::Filesystem("ext4"), Need::Disk(64), Need::Tool("mkfs.ext4")])
        .setup(make_ext4_on_disk),
    Case::new("fs/direct", "O_DIRECT to a disk needs aligned memory, offset and size, else EINVAL", direct)
        .needs(&[Need::Disk(64)]),
    Case::new(
        "fs/wrong-type",
        "mount(2) gives EINVAL, ENODEV, ENOTBLK or ENOENT for a wrong source",
        wrong_type,
    )
    .needs(&[Need::Filesystem("ext4"), Need::Module("loop")])
    .setup(wrong_type_setup),
];

const IMAGE: &str = "image";
const MOUNTED: &str = "mounted";

/// Magic numbers of statfs(2).
const EXT4: i64 = 0xef53;
const XFS: i64 = 0x5846_5342;
const BTRFS: i64 = 0x9123_683e;

fn make(mib: u64, program: &str, options: &[&str]) -> Checked {
    own_mounts()?;
    sparse(IMAGE, mib)?;
    tool(program, &[options, &[IMAGE]].concat())
}

fn make_ext4() -> Checked {
    make(8, "mkfs.ext4", &["-q", "-E", "nodiscard"])
}

fn make_xfs() -> Checked {
    make(32, "mkfs.xfs", &["-q", "-K", "-d", "agcount=2"])
}

fn make_btrfs() -> Checked {
    make(112, "mkfs.btrfs", &["-q", "-K"])
}

fn make_ext4_on_disk() -> Checked {
    own_mounts()?;
    tool("mkfs.ext4", &["-q", "-F", "-O", "^has_journal", DISK, "8m"])
}

fn wrong_type_setup() -> Checked {
    own_mounts()?;
    sparse(IMAGE, 1)
}

fn ext4_remembers() -> Checked {
    remembers("ext4", EXT4)
}

fn xfs_remembers() -> Checked {
    remembers("xfs", XFS)
}

fn btrfs_remembers() -> Checked {
    remembers("btrfs", BTRFS)
}

/// Writes a tree of files, and finds it again after the file system was mounted anew.
fn remembers(kind: &str, magic: i64) -> Checked {
    let disk = Loop::attach(IMAGE, OFlags::RDWR)?;
    mount(&disk.path, MOUNTED, kind, MountFlags::empty(), "")?;
    equal("type of statfs", statfs(MOUNTED)?.f_type, magic)?;
    write_tree()?;
    mount_remount(MOUNTED, MountFlags::RDONLY, "")?;
    fails("create when read-only", fs::write("mounted/new", "no"), Errno::ROFS)?;
    fails("rename when read-only", fs::rename("mounted/a", "mounted/b"), Errno::ROFS)?;
    unmount(MOUNTED, UnmountFlags::empty())?;
    fails("the file when unmounted", fs::read("mounted/a/file"), Errno::NOENT)?;
    mount(&disk.path, MOUNTED, kind, MountFlags::empty(), "")?;
    check_tree()?;
    fs::remove_dir_all("mounted/a")?;
    unmount(MOUNTED, UnmountFlags::empty())?;
    Ok(())
}

fn pattern() -> Vec<u8> {
    (0..20_000_u32).flat_map(u32::to_le_bytes).collect()
}

fn write_tree() -> Checked {
    fs::create_dir_all("mounted/a/directory")?;
    fs::write("mounted/a/file", pattern())?;
    fs::hard_link("mounted/a/file", "mounted/a/directory/same")?;
    rustix::fs::symlink("../file", "mounted/a/directory/link")?;
    fs::write("mounted/a/gone", "deleted before the end")?;
    fs::remove_file("mounted/a/gone")?;
    fs::File::create("mounted/a/hole")?.write_all_at(b"end", 1 << 20)?;
    rustix::fs::chmod("mounted/a/hole", Mode::from_bits_truncate(0o640))?;
    Ok(())
}

fn check_tree() -> Checked {
    holds("contents are what was written", fs::read("mounted/a/file")? == pattern())?;
    holds("the link leads to them", fs::read("mounted/a/directory/link")? == pattern())?;
    equal("links of the file", fs::metadata("mounted/a/directory/same")?.nlink(), 2)?;
    fails("the deleted file", fs::read("mounted/a/gone"), Errno::NOENT)?;
    let hole = fs::metadata("mounted/a/hole")?;
    equal(
        "size and mode of the file with a hole",
        (hole.len(), hole.mode() & 0o7777),
        ((1 << 20) + 3, 0o640),
    )?;
    holds("the hole takes no space", hole.blocks() * 512 < 1 << 20)
}

fn ext4_on_disk() -> Checked {
    mount(DISK, MOUNTED, "ext4", MountFlags::empty(), "")?;
    let marker = b"kiln: this text must reach the disk";
    let file = fs::File::create("mounted/file")?;
    file.write_all_at(&marker.repeat(64), 0)?;
    file.sync_all()?;
    let busy = open(DISK, OFlags::RDWR | OFlags::EXCL, Mode::empty());
    fails("exclusive open of a mounted disk", busy, Errno::BUSY)?;
    let mut disk = vec![0; 8 << 20];
    fs::File::open(DISK)?.read_exact_at(&mut disk, 0)?;
    holds(
        "a block of the disk begins with the text",
        disk.chunks(1024).any(|block| block.starts_with(marker)),
    )
}

/// A page of memory for O_DIRECT.
#[repr(align(4096))]
struct Aligned([u8; 8192]);

fn direct() -> Checked {
    let disk = open(DISK, OFlags::RDWR | OFlags::DIRECT, Mode::empty())?;
    let size = device_size(&disk)?;
    equal("size of the disk", size, 64 << 20)?;
    let mut memory = Aligned([0x5a; 8192]);
    let write = |bytes: &[u8], offset| rustix::io::pwrite(&disk, bytes, offset);
    equal("aligned write", write(&memory.0[..4096], 4096)?, 4096)?;
    fails("odd offset", write(&memory.0[..4096], 1), Errno::INVAL)?;
    fails("odd size", write(&memory.0[..100], 0), Errno::INVAL)?;
    fails("odd memory", write(&memory.0[1..4097], 0), Errno::INVAL)?;
    fails("write at the end", write(&memory.0[..4096], size), Errno::NOSPC)?;
    memory.0.fill(0);
    equal("aligned read", rustix::io::pread(&disk, &mut memory.0[..4096], 4096)?, 4096)?;
    holds("bytes read are those written", memory.0[..4096].iter().all(|&byte| byte == 0x5a))?;
    equal("read at the end", rustix::io::pread(&disk, &mut memory.0[..4096], size)?, 0)
}

fn wrong_type() -> Checked {
    let disk = Loop::attach(IMAGE, OFlags::RDWR)?;
    let try_mount = |source: &str, kind: &str| mount(source, MOUNTED, kind, MountFlags::empty(), "");
    fails("a disk of zeroes", mount(&disk.path, MOUNTED, "ext4", MountFlags::empty(), ""), Errno::INVAL)?;
    fails("an unknown type", try_mount("none", "no-such-type"), Errno::NODEV)?;
    fails("a file as disk", try_mount(IMAGE, "ext4"), Errno::NOTBLK)?;
    fails("no source", try_mount("missing", "ext4"), Errno::NOENT)
}
