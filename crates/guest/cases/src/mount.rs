//! The tree of mounts: mount(2), umount(2), fsopen(2), pivot_root(2).

use std::fs;

use harness::check::{Checked, equal, fails, holds};
use harness::child::unprivileged;
use harness::storage::{mount, own_mounts};
use rustix::fs::{CWD, statfs};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags, UnmountFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen, mount_bind,
    mount_change, mount_move, mount_remount, move_mount, open_tree, unmount,
};
use rustix::process::{chdir, chroot, pivot_root};

use crate::case::Case;

pub(super) const CASES: &[Case] = &[
    Case::new("mount/new-api", "fsopen(2), fsconfig(2), fsmount(2), move_mount(2) make a mount", new_api)
        .setup(own_mounts),
    Case::new("mount/bind", "MS_BIND shows one file at two places; a bind mount can be read-only", bind)
        .setup(own_mounts),
    Case::new(
        "mount/open-tree",
        "open_tree(2) with OPEN_TREE_CLONE copies a mount that has no place yet",
        tree,
    )
    .setup(own_mounts),
    Case::new(
        "mount/propagation",
        "mounts travel between shared peers, into slaves, not into private",
        propagation,
    )
    .setup(own_mounts),
    Case::new("mount/busy", "umount(2) of a mount in use gives EBUSY; MNT_DETACH hides it at once", busy)
        .setup(own_mounts),
    Case::new("mount/flags", "MS_NODEV, MS_NOEXEC and MS_NOSUID do what they say", flags).setup(own_mounts),
    Case::new("mount/move", "MS_MOVE takes a mount to another place, not below itself", moving)
        .setup(own_mounts),
    Case::new(
        "mount/pivot-root",
        "pivot_root(2) exchanges the root; EINVAL if it is not a mount point",
        pivot,
    )
    .setup(own_mounts),
    Case::new("mount/refusals", "mount(2) and umount(2) give EPERM, ENOENT, ENOTDIR and EINVAL", refusals)
        .setup(own_mounts),
];

const TMPFS: i64 = 0x0102_1994;

fn tmpfs(target: &str) -> Result<(), Errno> {
    mount("none", target, "tmpfs", MountFlags::empty(), "")
}

fn new_api() -> Checked {
    fails("an unknown type", fsopen("no-such-type", FsOpenFlags::FSOPEN_CLOEXEC), Errno::NODEV)?;
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fails("an unknown option", fsconfig_set_string(&context, "no-such-option", "1"), Errno::INVAL)?;
    fsconfig_set_string(&context, "size", "1m")?;
    let nothing = MountAttrFlags::empty();
    fails("mount before it is made", fsmount(&context, FsMountFlags::empty(), nothing), Errno::INVAL)?;
    fsconfig_create(&context)?;
    let made = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::MOUNT_ATTR_NODEV)?;
    fs::create_dir("mounted")?;
    let empty_path = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    move_mount(&made, "", CWD, "mounted", empty_path)?;
    let state = statfs("mounted")?;
    equal("type and size", (state.f_type, state.f_blocks * 4096), (TMPFS, 1 << 20))?;
    fs::write("mounted/file", "by name")?;
    let file = rustix::fs::openat(&made, "file", rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty())?;
    equal("bytes read by descriptor", rustix::io::read(&file, &mut [0; 16])?, 7)?;
    fails("use of the spent context", fsmount(&context, FsMountFlags::empty(), nothing), Errno::BUSY)
}

fn bind() -> Checked {
    fs::create_dir_all("one")?;
    fs::create_dir_all("two")?;
    fs::write("one/file", "same")?;
    mount_bind("one", "two")?;
    equal("contents at the second place", fs::read_to_string("two/file")?, "same")?;
    let inode = |path| rustix::fs::stat(path).map(|state| (state.st_dev, state.st_ino));
    equal("device and inode", inode("two/file")?, inode("one/file")?)?;
    mount_remount("two", MountFlags::BIND | MountFlags::RDONLY, "")?;
    fails("write at the read-only place", fs::write("two/file", "new"), Errno::ROFS)?;
    fails("delete there", fs::remove_file("two/file"), Errno::ROFS)?;
    fs::write("one/file", "new")?;
    equal("change seen at the read-only place", fs::read_to_string("two/file")?, "new")?;
    unmount("two", UnmountFlags::empty())?;
    fails("the second place when unmounted", fs::read("two/file"), Errno::NOENT)
}

fn tree() -> Checked {
    tmpfs("mounted")?;
    fs::write("mounted/file", "copied")?;
    fs::create_dir("second")?;
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let copy = open_tree(CWD, "mounted", flags)?;
    unmount("mounted", UnmountFlags::empty())?;
    fails("the first place when unmounted", fs::read("mounted/file"), Errno::NOENT)?;
    move_mount(&copy, "", CWD, "second", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    equal("contents at the second place", fs::read_to_string("second/file")?, "copied")?;
    fails("copy of nothing", open_tree(CWD, "missing", flags), Errno::NOENT)
}

fn propagation() -> Checked {
    tmpfs("first")?;
    for directory in ["first/a", "first/b", "first/c", "peer", "slave"] {
        fs::create_dir(directory)?;
    }
    mount_change("first", MountPropagationFlags::SHARED)?;
    mount_bind("first", "peer")?;
    mount_bind("first", "slave")?;
    mount_change("slave", MountPropagationFlags::DOWNSTREAM)?;
    let arrives = |made: &str, seen: &str| -> Checked<bool> {
        tmpfs(made)?;
        fs::write(format!("{made}/file"), "")?;
        Ok(fs::exists(format!("{seen}/file"))?)
    };
    holds("from a peer to its peer", arrives("first/a", "peer/a")?)?;
    holds("and to the slave", fs::exists("slave/a/file")?)?;
    holds("not from the slave to its master", !arrives("slave/b", "first/b")?)?;
    mount_change("peer", MountPropagationFlags::PRIVATE)?;
    holds("not into a private mount", !arrives("first/c", "peer/c")?)?;
    unmount("first/a", UnmountFlags::empty())?;
    holds("umount reaches the slave", !fs::exists("slave/a/file")?)?;
    holds("umount does not reach the private mount", fs::exists("peer/a/file")?)
}

fn busy() -> Checked {
    tmpfs("mounted")?;
    fs::write("mounted/file", "still here")?;
    let file = fs::File::open("mounted/file")?;
    fails("umount with an open file", unmount("mounted", UnmountFlags::empty()), Errno::BUSY)?;
    unmount("mounted", UnmountFlags::DETACH)?;
    fails("the file by its path", fs::read("mounted/file"), Errno::NOENT)?;
    equal("the file by its descriptor", std::io::read_to_string(&file)?, "still here")?;
    fails("umount again", unmount("mounted", UnmountFlags::empty()), Errno::INVAL)?;
    tmpfs("mounted")?;
    fails("first MNT_EXPIRE", unmount("mounted", UnmountFlags::EXPIRE), Errno::AGAIN)?;
    unmount("mounted", UnmountFlags::EXPIRE)?;
    fails("umount after the second", unmount("mounted", UnmountFlags::empty()), Errno::INVAL)
}

fn flags() -> Checked {
    let all = MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::NOSUID;
    mount("none", "mounted", "tmpfs", all, "")?;
    let everybody = rustix::fs::Mode::from_bits_truncate(0o777);
    let null = rustix::fs::makedev(1, 3);
    rustix::fs::mknodat(CWD, "mounted/null", rustix::fs::FileType::CharacterDevice, everybody, null)?;
    fails("open a device", fs::File::open("mounted/null"), Errno::ACCESS)?;
    fs::write("mounted/program", "#!/nothing")?;
    rustix::fs::chmod("mounted/program", everybody)?;
    fails("execute a program", harness::child::exec(c"mounted/program", &[], &[]), Errno::ACCESS)?;
    let mounts = fs::read_to_string("/proc/self/mounts")?;
    let line = mounts.lines().find(|line| line.contains(" /tmp/mounted ")).unwrap_or_default();
    for option in ["nosuid", "nodev", "noexec"] {
        holds(&format!("'{line}' says {option}"), line.contains(option))?;
    }
    Ok(())
}

fn moving() -> Checked {
    tmpfs("from")?;
    fs::write("from/file", "moved")?;
    fs::create_dir("from/below")?;
    fs::create_dir("to")?;
    fails("move below itself", mount_move("from", "from/below"), Errno::LOOP)?;
    mount_move("from", "to")?;
    equal("contents at the new place", fs::read_to_string("to/file")?, "moved")?;
    fails("the old place", fs::read("from/file"), Errno::NOENT)?;
    fails("move what is no mount", mount_move("to/below", "from"), Errno::INVAL)
}

fn pivot() -> Checked {
    // The first root, rootfs, can never be exchanged.
    tmpfs("old")?;
    chdir("old")?;
    chroot(".")?;
    fs::create_dir("/plain")?;
    tmpfs("/new")?;
    fs::create_dir("/new/before")?;
    tmpfs("/other")?;
    fails("the root itself as new root", pivot_root("/plain", "/plain"), Errno::BUSY)?;
    fails("a new root that is no mount", pivot_root("/new/before", "/new/before"), Errno::INVAL)?;
    fails("a place for the old root outside the new one", pivot_root("/new", "/other"), Errno::INVAL)?;
    pivot_root("/new", "/new/before")?;
    chdir("/")?;
    holds("the old root is below the new one", fs::exists("/before/plain")?)?;
    holds("the new root is the root", fs::exists("/before")? && !fs::exists("/new")?)?;
    unmount("/before", UnmountFlags::DETACH)?;
    equal("names in the old root's place", fs::read_dir("/before")?.count(), 0)
}

fn refusals() -> Checked {
    tmpfs("mounted")?;
    fs::write("file", "")?;
    let onto = |target: &str| rustix::mount::mount("none", target, "tmpfs", MountFlags::empty(), None);
    fails("a place that is missing", onto("missing"), Errno::NOENT)?;
    fails("a file as place", onto("file"), Errno::NOTDIR)?;
    fails("a directory bound to a file", mount_bind("mounted", "file"), Errno::NOTDIR)?;
    fails("umount of no mount", unmount("file", UnmountFlags::empty()), Errno::INVAL)?;
    fails("umount of nothing", unmount("missing", UnmountFlags::empty()), Errno::NOENT)?;
    fails(
        "unknown flags of umount",
        unmount("mounted", UnmountFlags::from_bits_retain(1 << 20)),
        Errno::INVAL,
    )?;
    unprivileged(|| {
        fails("mount without CAP_SYS_ADMIN", onto("mounted"), Errno::PERM)?;
        fails("umount without it", unmount("mounted", UnmountFlags::empty()), Errno::PERM)
    })?
    .succeeds()
}
