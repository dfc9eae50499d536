//! `chmod`, `chown`, `utime`, `xattr`, `fstat`, `inode-flags`: what an inode says about itself.

use std::fs::File;

use harness::check::{Checked, equal, fails, holds};
use rustix::fs::{
    Access, AtFlags, CWD, Gid, IFlags, Mode, OFlags, Stat, StatxFlags, Timespec, Timestamps, Uid, XattrFlags,
    accessat, chownat, fchmod, fchown, fgetxattr, flistxattr, fremovexattr, fsetxattr, fstat, futimens,
    ioctl_getflags, ioctl_setflags, lstat, stat, statx,
};
use rustix::io::Errno;

use crate::Worker;
use crate::kit::file;
use crate::kit::helper::without_rights;
use crate::kit::support::supported_unless;
use crate::stressor::{Class, Need, Setting, Stressor, number};

const FILES: Setting = number("files", "files that are looked at", 1..=4096, 64);

const ATTRIBUTES: Stressor = Stressor { classes: &[Class::Filesystem, Class::Os], ..Stressor::PLAIN };

pub(super) const CHMOD: Stressor = Stressor {
    name: "chmod",
    about: "all permissions of a file in turn: fchmod(2)",
    operation: "one mode set and read",
    verifies: "the mode, and what access(2) says to an ordinary user",
    body: chmod,
    ..ATTRIBUTES
};

pub(super) const CHOWN: Stressor = Stressor {
    name: "chown",
    about: "owner and group of a file: chown(2)",
    operation: "one owner and one group set",
    verifies: "owner and group; the set-user-ID bit is gone after a change",
    needs: &[Need::Capability(0)],
    body: chown,
    ..ATTRIBUTES
};

pub(super) const UTIME: Stressor = Stressor {
    name: "utime",
    about: "times of a file, UTIME_NOW and UTIME_OMIT: utimensat(2)",
    operation: "both times set, one left, one set to now",
    verifies: "the times are what was set; time does not go back",
    body: utime,
    ..ATTRIBUTES
};

pub(super) const XATTR: Stressor = Stressor {
    name: "xattr",
    about: "extended attributes of a file: xattr(7)",
    operation: "an attribute set, replaced, listed, read and removed",
    verifies: "names and values; XATTR_CREATE and XATTR_REPLACE refuse what they must",
    body: xattr,
    ..ATTRIBUTES
};

pub(super) const FSTAT: Stressor = Stressor {
    name: "fstat",
    about: "stat(2), lstat(2), fstat(2) and statx(2) of many files",
    operation: "all four calls of one file",
    verifies: "all of them tell the same",
    options: &[FILES],
    body: stats,
    ..ATTRIBUTES
};

pub(super) const INODE_FLAGS: Stressor = Stressor {
    name: "inode-flags",
    about: "flags of a file and of a directory: FS_IOC_GETFLAGS and FS_IOC_SETFLAGS of ioctl_iflags(2)",
    operation: "all flags set one by one and taken away",
    verifies: "flags that were taken are read back; immutable and append-only files refuse what they must",
    body: flags,
    ..ATTRIBUTES
};

fn chmod(worker: &Worker) -> Checked {
    let file = file::create("file")?;
    let mut bits = 0_u32;
    worker.repeat(|| {
        bits = (bits + 1) & 0o777;
        fchmod(&file, Mode::from_raw_mode(bits))?;
        equal("permissions", fstat(&file)?.st_mode & 0o777, bits)?;
        if rustix::process::geteuid().is_root() || !bits.is_multiple_of(64) {
            return Ok(());
        }
        let readable = accessat(CWD, "file", Access::READ_OK, AtFlags::empty());
        equal("access(2) of its owner", readable.is_ok(), bits & 0o400 != 0)
    })
}

fn chown(worker: &Worker) -> Checked {
    let (file, mut random) = (file::create("file")?, worker.random());
    worker.repeat(|| {
        fchmod(&file, Mode::from_raw_mode(0o4755))?;
        let [owner, group] = [0, 1].map(|_| random.below(60_000) as u32 + 1);
        let set =
            chownat(CWD, "file", Some(Uid::from_raw(owner)), Some(Gid::from_raw(group)), AtFlags::empty());
        // EINVAL: a user namespace has no such user.
        supported_unless("chown(2)", set, &[Errno::INVAL])?;
        let now = fstat(&file)?;
        equal("owner and group", (now.st_uid, now.st_gid), (owner, group))?;
        equal("the set-user-ID bit", now.st_mode & 0o4000, 0)?;
        // Somebody else must not take it.
        without_rights(|| {
            let own = Some(Uid::from_raw(harness::child::NOBODY));
            fails("chown(2) by somebody else", fchown(&file, own, None), Errno::PERM)
        })?
        .succeeds()
    })
}

fn utime(worker: &Worker) -> Checked {
    let (file, mut random) = (file::create("file")?, worker.random());
    let at = |seconds: u64| Timespec { tv_sec: i64::try_from(seconds).unwrap_or(0), tv_nsec: 0 };
    let special = |tv_nsec: i64| Timespec { tv_sec: 0, tv_nsec };
    worker.repeat(|| {
        let [access, change] = [0, 1].map(|_| random.below(1 << 30) as u64);
        futimens(&file, &Timestamps { last_access: at(access), last_modification: at(change) })?;
        let set = fstat(&file)?;
        equal("times", (set.st_atime, set.st_mtime), (at(access).tv_sec, at(change).tv_sec))?;
        futimens(
            &file,
            &Timestamps {
                last_access: special(libc::UTIME_OMIT),
                last_modification: special(libc::UTIME_NOW),
            },
        )?;
        let now = fstat(&file)?;
        equal("the time that is left", now.st_atime, set.st_atime)?;
        holds("the time that is now", (now.st_mtime, now.st_mtime_nsec) >= (set.st_ctime, 0))?;
        fails(
            "a wrong time",
            futimens(&file, &Timestamps { last_access: special(-5), last_modification: at(0) }),
            Errno::INVAL,
        )
    })
}

fn xattr(worker: &Worker) -> Checked {
    let (file, mut random) = (file::create("file")?, worker.random());
    // tmpfs(5) has had attributes of users since Linux 6.6, and those of the administrator for longer.
    let has_users = fsetxattr(&file, "user.kiln", b"", XattrFlags::empty()) != Err(Errno::OPNOTSUPP);
    let space = if has_users { "user" } else { "trusted" };
    worker.repeat(|| {
        let name = format!("{space}.kiln{}", random.below(8));
        let mut value = vec![0; 1 + random.below(200)];
        random.fill(&mut value);
        supported_unless(
            "extended attributes here",
            fsetxattr(&file, &name, b"first", XattrFlags::CREATE),
            &[],
        )?;
        fails("creating it again", fsetxattr(&file, &name, b"x", XattrFlags::CREATE), Errno::EXIST)?;
        fsetxattr(&file, &name, &value, XattrFlags::REPLACE)?;
        let (mut read, mut list) = (vec![0; 256], vec![0; 4096]);
        let size = fgetxattr(&file, &name, &mut *read)?;
        holds("its value", read[..size] == value)?;
        let size = flistxattr(&file, &mut *list)?;
        let is_listed = list[..size].split(|&byte| byte == 0).any(|listed| listed == name.as_bytes());
        holds("it is listed", is_listed)?;
        fremovexattr(&file, &name)?;
        fails("reading what was removed", fgetxattr(&file, &name, &mut *read), Errno::NODATA)?;
        fails("replacing what was removed", fsetxattr(&file, &name, b"x", XattrFlags::REPLACE), Errno::NODATA)
    })
}

/// What all calls must agree on.
fn identity(found: &Stat) -> (u64, u32, u64, i64) {
    (found.st_ino, found.st_mode, found.st_nlink, found.st_size)
}

fn stats(worker: &Worker) -> Checked {
    let (count, mut random) = (worker.size(&FILES), worker.random());
    for at in 0..count {
        std::fs::write(at.to_string(), vec![b'x'; at])?;
    }
    worker.repeat(|| {
        let at = random.below(count);
        let name = at.to_string();
        let by_name = identity(&stat(name.as_str())?);
        equal("size", by_name.3, i64::try_from(at).unwrap_or(-1))?;
        equal("lstat(2)", identity(&lstat(name.as_str())?), by_name)?;
        equal("fstat(2)", identity(&fstat(File::open(&name)?)?), by_name)?;
        match statx(CWD, name.as_str(), AtFlags::empty(), StatxFlags::BASIC_STATS) {
            Err(Errno::NOSYS) => Ok(()),
            found => {
                let found = found?;
                let links = u64::from(found.stx_nlink);
                let size = i64::try_from(found.stx_size).unwrap_or(-1);
                equal("statx(2)", (found.stx_ino, u32::from(found.stx_mode), links, size), by_name)
            }
        }
    })
}

/// Flags that a user can set, on file systems that have them.
const FLAGS: [IFlags; 7] = [
    IFlags::NODUMP,
    IFlags::NOATIME,
    IFlags::SYNC,
    IFlags::DIRSYNC,
    IFlags::APPEND,
    IFlags::IMMUTABLE,
    IFlags::TOPDIR,
];

fn flags(worker: &Worker) -> Checked {
    let file = file::create("file")?;
    std::fs::create_dir("directory")?;
    let directory = File::open("directory")?;
    let start = supported_unless("flags of files here", ioctl_getflags(&file), &[Errno::NOTTY])?;
    let mut taken = 0;
    worker.repeat(|| {
        for (target, flag) in
            [&file, &directory].into_iter().flat_map(|target| FLAGS.map(|flag| (target, flag)))
        {
            let before = ioctl_getflags(target)?;
            match ioctl_setflags(target, before | flag) {
                // The file system lacks this one, or the user may not set it.
                Err(Errno::OPNOTSUPP | Errno::PERM | Errno::INVAL | Errno::NOTTY) => continue,
                done => done?,
            }
            let is_set = ioctl_getflags(target)?.contains(flag);
            let forbids = if is_set { forbidden(flag) } else { Ok(()) };
            ioctl_setflags(target, before)?;
            forbids?;
            taken += u64::from(is_set);
        }
        holds("the file is as before", ioctl_getflags(&file)? == start)?;
        holds("some flags were taken", taken > 0)
    })
}

/// What a flag of the file or of the directory forbids.
fn forbidden(flag: IFlags) -> Checked {
    let is_on = |name: &str| {
        let target = File::open(name)?;
        Ok::<_, std::io::Error>(ioctl_getflags(&target).is_ok_and(|flags| flags.contains(flag)))
    };
    if flag == IFlags::IMMUTABLE {
        if is_on("file")? {
            fails("writing to an immutable file", file::open("file", OFlags::empty()), Errno::PERM)?;
        }
        if is_on("directory")? {
            fails("a new name in an immutable directory", File::create("directory/new"), Errno::PERM)?;
        }
    }
    if flag == IFlags::APPEND && is_on("file")? {
        fails("overwriting an append-only file", file::open("file", OFlags::empty()), Errno::PERM)?;
        file::open("file", OFlags::APPEND)?;
    }
    Ok(())
}
