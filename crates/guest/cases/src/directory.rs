//! Names of files: rename(2), link(2), unlink(2), mkdir(2), getdents(2), statx(2).

use std::collections::BTreeSet;
use std::mem::MaybeUninit;

use harness::check::{Checked, at_least, equal, fails, holds};
use harness::child::unprivileged;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RawDir, RenameFlags, SeekFrom, StatxFlags, fstat, link, linkat,
    lstat, mkdir, open, openat, readlink, rename, renameat_with, rmdir, seek, stat, statx, symlink, unlink,
};
use rustix::io::{Errno, pread, pwrite};

use crate::case::{Case, Need};

pub(super) const CASES: &[Case] = &[
    Case::new(
        "directory/rename",
        "rename(2) replaces files and empty directories and refuses the rest",
        rename_over,
    ),
    Case::new(
        "directory/rename-flags",
        "renameat2(2) RENAME_NOREPLACE gives EEXIST, RENAME_EXCHANGE swaps",
        rename_flags,
    ),
    Case::new("directory/links", "link(2) counts names; a file without names lives while it is open", links),
    Case::new("directory/symbolic-links", "symlink(2), readlink(2) and ELOOP for a circle", symbolic_links),
    Case::new("directory/unnamed", "open(2) O_TMPFILE has no name until linkat(2) gives it one", unnamed),
    Case::new(
        "directory/statx",
        "statx(2) gives the type of a file; EINVAL, ENOENT and AT_EMPTY_PATH",
        statx_fields,
    ),
    Case::new(
        "directory/entries",
        "getdents64(2) gives every entry once, also after lseek(2) to the start",
        entries,
    ),
    Case::new("directory/refusals", "mkdir(2), rmdir(2) and unlink(2) give their promised errors", refusals),
    Case::new(
        "directory/sticky",
        "unlink(2) and rename(2) of another's file in a sticky directory give EPERM",
        sticky,
    )
    .needs(&[Need::Config("MULTIUSER")]),
];

const ALL: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);

/// Creates `name`, which holds its own name.
fn create(name: &str) -> std::io::Result<()> {
    std::fs::write(name, name)
}

/// What the file called `name` holds.
fn content(name: &str) -> std::io::Result<String> {
    std::fs::read_to_string(name)
}

fn rename_over() -> Checked {
    create("old")?;
    create("new")?;
    let replaced = open("new", OFlags::RDONLY, Mode::empty())?;
    rename("old", "new")?;
    equal("content of the new name", content("new")?, "old")?;
    equal("names of the replaced file", fstat(&replaced)?.st_nlink, 0)?;
    fails("the old name", stat("old"), Errno::NOENT)?;
    for name in ["empty", "used", "used/below"] {
        mkdir(name, ALL)?;
    }
    fails("a directory over one in use", rename("empty", "used"), Errno::NOTEMPTY)?;
    fails("a directory over a file", rename("empty", "new"), Errno::NOTDIR)?;
    fails("a file over a directory", rename("new", "empty"), Errno::ISDIR)?;
    fails("a directory into itself", rename("used", "used/below/deeper"), Errno::INVAL)?;
    rename("used", "empty")?;
    holds("a directory over an empty one", stat("empty/below").is_ok())?;
    fails("the old name of the directory", stat("used"), Errno::NOENT)
}

fn rename_flags() -> Checked {
    let with = |old, new, flags| renameat_with(CWD, old, CWD, new, flags);
    create("file")?;
    create("other")?;
    mkdir("folder", ALL)?;
    create("folder/inside")?;
    fails("RENAME_NOREPLACE over a file", with("file", "other", RenameFlags::NOREPLACE), Errno::EXIST)?;
    equal("content after the refusal", content("other")?, "other")?;
    with("file", "free", RenameFlags::NOREPLACE)?;
    equal("content under a free name", content("free")?, "file")?;
    with("other", "folder", RenameFlags::EXCHANGE)?;
    equal(
        "content of both after RENAME_EXCHANGE",
        [content("folder")?, content("other/inside")?],
        ["other", "folder/inside"],
    )?;
    fails("RENAME_EXCHANGE with nothing", with("folder", "missing", RenameFlags::EXCHANGE), Errno::NOENT)?;
    let both = RenameFlags::NOREPLACE | RenameFlags::EXCHANGE;
    fails("both flags", with("free", "folder", both), Errno::INVAL)
}

fn links() -> Checked {
    create("file")?;
    let open_file = open("file", OFlags::RDWR, Mode::empty())?;
    link("file", "second")?;
    equal("names", stat("file")?.st_nlink, 2)?;
    equal("inode of the second name", stat("second")?.st_ino, fstat(&open_file)?.st_ino)?;
    fails("link(2) over a name", link("file", "second"), Errno::EXIST)?;
    mkdir("folder", ALL)?;
    fails("link(2) of a directory", link("folder", "alias"), Errno::PERM)?;
    unlink("file")?;
    unlink("second")?;
    equal("names of the open file", fstat(&open_file)?.st_nlink, 0)?;
    pwrite(&open_file, b"still here", 0)?;
    let mut buffer = [0; 32];
    equal("bytes read without a name", pread(&open_file, &mut buffer, 0)?, 10)?;
    fails("opening a removed name", open("file", OFlags::RDONLY, Mode::empty()), Errno::NOENT)
}

fn symbolic_links() -> Checked {
    create("file")?;
    symlink("file", "link")?;
    equal("content through the link", content("link")?, "file")?;
    equal("what readlink(2) gives", readlink("link", Vec::new())?, c"file".to_owned())?;
    equal("type by lstat(2)", FileType::from_raw_mode(lstat("link")?.st_mode), FileType::Symlink)?;
    equal("type by stat(2)", FileType::from_raw_mode(stat("link")?.st_mode), FileType::RegularFile)?;
    fails("readlink(2) of a file", readlink("file", Vec::new()), Errno::INVAL)?;
    symlink("there", "back")?;
    symlink("back", "there")?;
    fails("a circle of links", stat("there"), Errno::LOOP)?;
    symlink("missing", "dangling")?;
    fails("a link to nothing", stat("dangling"), Errno::NOENT)?;
    unlink("link")?;
    equal("content after unlink(2) of the link", content("file")?, "file")
}

fn unnamed() -> Checked {
    let create = |flags| open(".", OFlags::TMPFILE | OFlags::WRONLY | flags, ALL);
    let name = |file: &OwnedFd, name| {
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        linkat(CWD, path, CWD, name, AtFlags::SYMLINK_FOLLOW)
    };
    let file = create(OFlags::empty())?;
    rustix::io::write(&file, b"text")?;
    equal("names at first", fstat(&file)?.st_nlink, 0)?;
    equal("entries of the directory", std::fs::read_dir(".")?.count(), 0)?;
    name(&file, "named")?;
    equal("names after linkat(2)", fstat(&file)?.st_nlink, 1)?;
    equal("content", content("named")?, "text")?;
    fails("linkat(2) over a name", name(&create(OFlags::empty())?, "named"), Errno::EXIST)?;
    fails("linkat(2) after O_EXCL", name(&create(OFlags::EXCL)?, "second"), Errno::NOENT)?;
    fails("O_TMPFILE for reading", open(".", OFlags::TMPFILE | OFlags::RDONLY, ALL), Errno::INVAL)
}

fn statx_fields() -> Checked {
    create("file")?;
    link("file", "second")?;
    symlink("file", "link")?;
    let about = |name, flags| statx(CWD, name, flags, StatxFlags::BASIC_STATS);
    let file = about("file", AtFlags::empty())?;
    let mask = StatxFlags::from_bits_retain(file.stx_mask);
    holds("all basic fields are filled", mask.contains(StatxFlags::BASIC_STATS))?;
    equal("size and names", (file.stx_size, file.stx_nlink), (4, 2))?;
    equal("inode", file.stx_ino, stat("file")?.st_ino)?;
    equal("type", FileType::from_raw_mode(file.stx_mode.into()), FileType::RegularFile)?;
    let link = about("link", AtFlags::SYMLINK_NOFOLLOW)?;
    equal("type of the link", FileType::from_raw_mode(link.stx_mode.into()), FileType::Symlink)?;
    let descriptor = open("file", OFlags::PATH, Mode::empty())?;
    let by_descriptor = statx(&descriptor, "", AtFlags::EMPTY_PATH, StatxFlags::INO)?;
    equal("inode with AT_EMPTY_PATH", by_descriptor.stx_ino, file.stx_ino)?;
    fails("no such file", about("missing", AtFlags::empty()), Errno::NOENT)?;
    fails("an empty name", about("", AtFlags::empty()), Errno::NOENT)?;
    fails(
        "both kinds of sync",
        about("file", AtFlags::STATX_FORCE_SYNC | AtFlags::STATX_DONT_SYNC),
        Errno::INVAL,
    )
}

fn entries() -> Checked {
    const COUNT: usize = 300;
    mkdir("folder", ALL)?;
    let mut expected: BTreeSet<String> = [".", ".."].map(str::to_string).into();
    for number in 0..COUNT {
        create(&format!("folder/entry-{number}"))?;
        expected.insert(format!("entry-{number}"));
    }
    let folder = open("folder", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
    for _ in 0..2 {
        let names = names(&folder)?;
        equal("entries", names.len(), COUNT + 2)?;
        holds("each of them once", names.into_iter().collect::<BTreeSet<_>>() == expected)?;
        seek(&folder, SeekFrom::Start(0))?;
    }
    rustix::fs::unlinkat(&folder, "entry-7", AtFlags::empty())?;
    equal("entries after unlinkat(2)", names(&folder)?.len(), COUNT + 1)
}

/// The names that getdents64(2) gives, with a buffer that is filled many times.
fn names(folder: &OwnedFd) -> Result<Vec<String>, Errno> {
    let mut buffer = [MaybeUninit::uninit(); 1024];
    let mut entries = RawDir::new(folder, &mut buffer);
    let mut names = Vec::new();
    while let Some(entry) = entries.next() {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}

fn refusals() -> Checked {
    create("file")?;
    mkdir("folder", ALL)?;
    let folder = open("folder", OFlags::DIRECTORY, Mode::empty())?;
    at_least("names of a directory", fstat(&folder)?.st_nlink, 1)?;
    fails("mkdir(2) over a file", mkdir("file", ALL), Errno::EXIST)?;
    fails("mkdir(2) below nothing", mkdir("missing/below", ALL), Errno::NOENT)?;
    fails("rmdir(2) of a file", rmdir("file"), Errno::NOTDIR)?;
    fails("rmdir(2) of .", rmdir("folder/."), Errno::INVAL)?;
    fails("unlink(2) of a directory", unlink("folder"), Errno::ISDIR)?;
    create("folder/inside")?;
    fails("rmdir(2) of a directory in use", rmdir("folder"), Errno::NOTEMPTY)?;
    unlink("folder/inside")?;
    rmdir("folder")?;
    let attempt = openat(&folder, "inside", OFlags::CREATE | OFlags::WRONLY, ALL);
    fails("a file in a removed directory", attempt, Errno::NOENT)
}

fn sticky() -> Checked {
    mkdir("sticky", ALL)?;
    rustix::fs::chmod("sticky", ALL | Mode::SVTX)?;
    create("sticky/of-root")?;
    unprivileged(|| {
        create("sticky/own")?;
        fails("unlink(2) of another's file", unlink("sticky/of-root"), Errno::PERM)?;
        fails("rename(2) of another's file", rename("sticky/of-root", "sticky/mine"), Errno::PERM)?;
        fails("rename(2) over another's file", rename("sticky/own", "sticky/of-root"), Errno::PERM)?;
        equal("unlink(2) of its own file", unlink("sticky/own"), Ok(()))
    })?
    .succeeds()
}
