//! Names of files: creating, removing, renaming, finding and listing them. Directories are below the current one: on
//! tmpfs here, on ext4 in [`super::ext4`].

use std::ffi::CStr;
use std::fs;

use harness::check::{Checked, at_least, equal, fails};
use harness::sys::call;
use rustix::fd::OwnedFd;
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, SeekFrom, link, mkdir, open, readlink, rename, rmdir, seek, stat, statat,
    symlink, unlink,
};
use rustix::io::Errno;
use rustix::process::{chdir, getcwd};

use super::parts::{PRIVATE, gives, nothing, succeeds};
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new(
        "directory/create-small",
        "open(2) O_CREAT of a new file and close(2), among 10 names",
        |meter| create(meter, SMALL),
    ),
    Operation::new(
        "directory/create-large",
        "open(2) O_CREAT of a new file and close(2), among 2000 names",
        |meter| create(meter, LARGE),
    ),
    Operation::new("directory/unlink-small", "unlink(2) of an empty file among 10 names", |meter| {
        unlink_file(meter, SMALL)
    }),
    Operation::new("directory/unlink-large", "unlink(2) of an empty file among 2000 names", |meter| {
        unlink_file(meter, LARGE)
    }),
    Operation::new("directory/rename-small", "rename(2) of a file among 10 names", |meter| {
        rename_file(meter, SMALL)
    }),
    Operation::new("directory/rename-large", "rename(2) of a file among 2000 names", |meter| {
        rename_file(meter, LARGE)
    }),
    Operation::new("directory/rename-over", "rename(2) of an empty file over another one", rename_over),
    Operation::new("directory/link", "link(2): a second name of a file", link_file),
    Operation::new("directory/symlink", "symlink(2) of a short target", make_symlink),
    Operation::new("directory/readlink", "readlink(2) of a short target", read_symlink),
    Operation::new("directory/mkdir", "mkdir(2) of a new name", make_directory),
    Operation::new("directory/rmdir", "rmdir(2) of an empty directory", remove_directory),
    Operation::new("directory/readdir-small", "getdents64(2) of all of 10 names", |meter| list(meter, SMALL)),
    Operation::new("directory/readdir-large", "getdents64(2) of all of 2000 names", |meter| {
        list(meter, LARGE)
    }),
    Operation::new("directory/lookup-1", "stat(2) of a name in the current directory", |meter| {
        lookup(meter, 1)
    }),
    Operation::new("directory/lookup-16", "stat(2) of a path of 16 names", |meter| lookup(meter, 16)),
    Operation::new("directory/lookup-symlink", "stat(2) of a file through a symbolic link", follow_symlink),
    Operation::new("directory/lookup-missing", "stat(2) of a name that is not there: ENOENT", lookup_missing),
    Operation::new("directory/lookup-at", "fstatat(2) of a name in an open directory", lookup_at),
    Operation::new("directory/getcwd", "getcwd(2) eight directories deep", current),
    Operation::new("directory/chdir", "chdir(2) to an absolute path", change),
];

/// Files in a small and in a large directory.
pub(super) const SMALL: usize = 10;
const LARGE: usize = 2000;

/// Makes a directory with `count` names, all of one empty file: to make as many files takes four times as long.
fn fill(count: usize) -> Checked {
    mkdir(c"names", PRIVATE)?;
    fs::write("names/file-0", "")?;
    for number in 1..count {
        fs::hard_link("names/file-0", format!("names/file-{number}"))?;
    }
    Ok(())
}

const NEW: &CStr = c"names/new";

fn create_new(name: &CStr) -> Result<OwnedFd, Errno> {
    open(name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, PRIVATE)
}

/// It must not be there.
fn is_gone(name: &CStr) -> Checked {
    fails("stat of what is gone", stat(name), Errno::NOENT)
}

pub(super) fn create(meter: &mut Meter, others: usize) -> Checked {
    fill(others)?;
    meter.around(nothing, |()| create_new(NEW).map(drop), |(), ()| Ok(unlink(NEW)?))?;
    is_gone(NEW)
}

pub(super) fn unlink_file(meter: &mut Meter, others: usize) -> Checked {
    fill(others)?;
    meter.around(|| Ok(create_new(NEW).map(drop)?), |()| unlink(NEW), |(), ()| is_gone(NEW))
}

pub(super) fn rename_file(meter: &mut Meter, others: usize) -> Checked {
    fill(others)?;
    let (mut from, mut to) = (NEW, c"names/newer");
    drop(create_new(from)?);
    meter.each(|| {
        std::mem::swap(&mut from, &mut to);
        rename(to, from)
    })?;
    is_gone(to)?;
    equal("its size", stat(from)?.st_size, 0)
}

fn rename_over(meter: &mut Meter) -> Checked {
    meter.around(
        || Ok([c"old", c"new"].map(create_new).into_iter().try_for_each(|made| made.map(drop))?),
        |()| rename(c"old", c"new"),
        |(), ()| {
            is_gone(c"old")?;
            Ok(unlink(c"new")?)
        },
    )
}

pub(super) fn link_file(meter: &mut Meter) -> Checked {
    drop(create_new(c"file")?);
    meter.around(
        nothing,
        |()| link(c"file", c"second"),
        |(), ()| {
            equal("names", stat(c"file")?.st_nlink, 2)?;
            Ok(unlink(c"second")?)
        },
    )
}

pub(super) fn make_symlink(meter: &mut Meter) -> Checked {
    meter.around(
        nothing,
        |()| symlink(c"target", c"symbolic"),
        |(), ()| {
            equal("its target", readlink(c"symbolic", [])?.as_c_str(), c"target")?;
            Ok(unlink(c"symbolic")?)
        },
    )
}

fn read_symlink(meter: &mut Meter) -> Checked {
    symlink(c"target", c"symbolic")?;
    let mut target = [0_u8; 16];
    let arguments = [c"symbolic".as_ptr().addr(), target.as_mut_ptr().addr(), target.len()];
    // SAFETY: a path, and room for the target with its size.
    gives(meter, "its length", 6, || unsafe { call(libc::SYS_readlink, arguments) })?;
    equal("its target", readlink(c"symbolic", [])?.as_c_str(), c"target")
}

pub(super) fn make_directory(meter: &mut Meter) -> Checked {
    meter.around(nothing, |()| mkdir(c"made", PRIVATE), |(), ()| Ok(rmdir(c"made")?))
}

pub(super) fn remove_directory(meter: &mut Meter) -> Checked {
    meter.around(|| Ok(mkdir(c"made", PRIVATE)?), |()| rmdir(c"made"), |(), ()| is_gone(c"made"))
}

pub(super) fn list(meter: &mut Meter, count: usize) -> Checked {
    /// Bytes of the shortest entry: getdents(2).
    const ENTRY: usize = 24;
    fill(count)?;
    let directory = open(c"names", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
    let (mut buffer, mut bytes) = (vec![0_u64; 4096], 0);
    let number = std::os::fd::AsRawFd::as_raw_fd(&directory).unsigned_abs() as usize;
    let arguments = [number, buffer.as_mut_ptr().addr(), size_of_val(&*buffer)];
    meter.each(|| {
        seek(&directory, SeekFrom::Start(0))?;
        bytes = 0;
        loop {
            // SAFETY: a directory, and room for entries with its size.
            match unsafe { call(libc::SYS_getdents64, arguments)? } {
                0 => return Ok::<_, Errno>(()),
                more => bytes += more,
            }
        }
    })?;
    at_least("bytes of the list", bytes, count * ENTRY)?;
    equal("names by another way", fs::read_dir("names")?.count(), count)
}

/// Makes as many directories, one in the other, and gives the path of the last.
fn deep(depth: usize) -> Checked<std::ffi::CString> {
    let path = vec!["directory"; depth].join("/");
    fs::create_dir_all(&path)?;
    std::ffi::CString::new(path).map_err(|_| Errno::INVAL.into())
}

fn lookup(meter: &mut Meter, depth: usize) -> Checked {
    let path = deep(depth)?;
    let inode = stat(&path)?.st_ino;
    gives(meter, "its inode", inode, || stat(&path).map(|found| found.st_ino))
}

fn follow_symlink(meter: &mut Meter) -> Checked {
    drop(create_new(c"file")?);
    symlink(c"file", c"symbolic")?;
    let inode = stat(c"file")?.st_ino;
    gives(meter, "its inode", inode, || stat(c"symbolic").map(|found| found.st_ino))
}

fn lookup_missing(meter: &mut Meter) -> Checked {
    let ask = || Ok(stat(c"missing").map(|found| found.st_ino));
    gives(meter, "the answer", Err(Errno::NOENT), ask)
}

fn lookup_at(meter: &mut Meter) -> Checked {
    fill(SMALL)?;
    let directory = open(c"names", OFlags::PATH, Mode::empty())?;
    let inode = statat(CWD, c"names/file-3", AtFlags::empty())?.st_ino;
    gives(meter, "its inode", inode, || {
        statat(&directory, c"file-3", AtFlags::empty()).map(|found| found.st_ino)
    })
}

fn current(meter: &mut Meter) -> Checked {
    chdir(&*deep(8)?)?;
    let mut path = [0_u8; 128];
    let arguments = [path.as_mut_ptr().addr(), path.len()];
    // The length counts the null byte at the end.
    let expected = getcwd([])?.as_bytes().len() + 1;
    // SAFETY: room for the path with its size.
    gives(meter, "length of the path", expected, || unsafe { call(libc::SYS_getcwd, arguments) })
}

fn change(meter: &mut Meter) -> Checked {
    let here = getcwd([])?;
    succeeds(meter, || chdir(&*here))?;
    equal("where it is", getcwd([])?, here)
}
