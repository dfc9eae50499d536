//! Content of files: open(2), read(2), write(2), lseek(2), fallocate(2) and the like.

use std::io::{IoSlice, IoSliceMut};

use harness::check::{Checked, at_least, equal, fails, holds};
use harness::child::{child, unprivileged};
use harness::sys::{default_action, ignore};
use rustix::fd::OwnedFd;
use rustix::fs::{
    Access, AtFlags, CWD, FallocateFlags, Mode, OFlags, SeekFrom, Timespec, Timestamps, UTIME_OMIT,
    XattrFlags, access, copy_file_range, fallocate, fcntl_getfl, fcntl_setfl, fdatasync, fstat, fsync,
    ftruncate, getxattr, listxattr, open, removexattr, seek, setxattr, stat, tell, utimensat,
};
use rustix::io::{Errno, dup, fcntl_dupfd_cloexec, pread, preadv, pwrite, pwritev, read, write};
use rustix::param::page_size;
use rustix::pipe::pipe;
use rustix::process::{Resource, Rlimit, setrlimit, umask};

use crate::case::{Case, Need};

pub(super) const CASES: &[Case] = &[
    Case::new(
        "file/open-flags",
        "open(2) gives EEXIST, ENOENT, EISDIR, ENOTDIR and ELOOP as promised",
        open_flags,
    ),
    Case::new("file/append", "write(2) with O_APPEND goes to the end wherever the offset is", append),
    Case::new(
        "file/positioned",
        "pread(2) and pwrite(2) leave the offset alone; ESPIPE in a pipe",
        positioned,
    ),
    Case::new("file/vectors", "preadv(2) and pwritev(2) use their buffers in order", vectors),
    Case::new(
        "file/shared-offset",
        "dup(2) shares offset and status flags; a second open(2) does not",
        shared_offset,
    ),
    Case::new("file/truncate", "ftruncate(2) cuts, and grows with zeroes", truncate),
    Case::new(
        "file/holes",
        "lseek(2) SEEK_HOLE and SEEK_DATA find the holes that fallocate(2) punches",
        holes,
    ),
    Case::new("file/copy-range", "copy_file_range(2) copies between offsets; EINVAL for overlap", copy_range),
    Case::new("file/permissions", "open(2) and access(2) give EACCES by mode bits and umask(2)", permissions)
        .needs(&[Need::Config("MULTIUSER")]),
    Case::new("file/times", "utimensat(2) sets times to the nanosecond and leaves UTIME_OMIT alone", times),
    Case::new(
        "file/attributes",
        "setxattr(2) and relatives keep values; EEXIST, ENODATA, ERANGE",
        attributes,
    )
    .needs(&[Need::Config("TMPFS_XATTR")]),
    Case::new("file/sync", "fsync(2) of a file succeeds, of a pipe it gives EINVAL", sync),
    Case::new(
        "file/size-limit",
        "write(2) beyond RLIMIT_FSIZE gives SIGXFSZ, or EFBIG when that is ignored",
        size_limit,
    ),
];

/// Creates `name` with `content`.
fn create(name: &str, content: &[u8]) -> Result<OwnedFd, Errno> {
    let file = open(name, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL, Mode::RUSR | Mode::WUSR)?;
    pwrite(&file, content, 0)?;
    Ok(file)
}

/// The content of the file called `name`.
fn content(name: &str) -> std::io::Result<String> {
    std::fs::read_to_string(name)
}

fn open_flags() -> Checked {
    create("file", b"text")?;
    std::fs::create_dir("folder")?;
    rustix::fs::symlink("file", "link")?;
    let attempt = |name, flags| open(name, flags, Mode::RUSR);
    fails("O_EXCL of a file", attempt("file", OFlags::CREATE | OFlags::EXCL), Errno::EXIST)?;
    fails("O_EXCL of a symbolic link", attempt("link", OFlags::CREATE | OFlags::EXCL), Errno::EXIST)?;
    fails("no such file", attempt("missing", OFlags::RDONLY), Errno::NOENT)?;
    fails("writing to a directory", attempt("folder", OFlags::WRONLY), Errno::ISDIR)?;
    fails("O_DIRECTORY of a file", attempt("file", OFlags::DIRECTORY), Errno::NOTDIR)?;
    fails("a file as a directory", attempt("file/below", OFlags::RDONLY), Errno::NOTDIR)?;
    fails("O_NOFOLLOW of a symbolic link", attempt("link", OFlags::NOFOLLOW), Errno::LOOP)?;
    let long = "x".repeat(256);
    fails("a name of 256 bytes", attempt(&long, OFlags::RDONLY), Errno::NAMETOOLONG)?;
    fails("reading with O_WRONLY", read(attempt("file", OFlags::WRONLY)?, &mut [0]), Errno::BADF)?;
    fails("reading with O_PATH", read(attempt("file", OFlags::PATH)?, &mut [0]), Errno::BADF)?;
    attempt("link", OFlags::WRONLY | OFlags::TRUNC)?;
    equal("content after O_TRUNC", content("file")?, "")
}

fn append() -> Checked {
    create("file", b"one ")?;
    let file = open("file", OFlags::RDWR | OFlags::APPEND, Mode::empty())?;
    seek(&file, SeekFrom::Start(0))?;
    write(&file, b"two ")?;
    equal("offset after write(2)", tell(&file)?, 8)?;
    let other = open("file", OFlags::WRONLY | OFlags::APPEND, Mode::empty())?;
    write(&other, b"three ")?;
    write(&file, b"four")?;
    equal("content", content("file")?, "one two three four")
}

fn positioned() -> Checked {
    let file = create("file", b"0123456789")?;
    let mut buffer = [0; 4];
    equal("bytes of pread(2)", pread(&file, &mut buffer, 4)?, 4)?;
    equal("content", &buffer, b"4567")?;
    equal("bytes that are left", pread(&file, &mut buffer, 8)?, 2)?;
    equal("bytes beyond the end", pread(&file, &mut buffer, 10)?, 0)?;
    pwrite(&file, b"ab", 12)?;
    equal("offset", tell(&file)?, 0)?;
    equal("content", content("file")?, "0123456789\0\0ab")?;
    fails("a negative offset", pread(&file, &mut buffer, u64::MAX), Errno::INVAL)?;
    let (reader, writer) = pipe()?;
    fails("pread(2) of a pipe", pread(&reader, &mut buffer, 0), Errno::SPIPE)?;
    fails("pwrite(2) to a pipe", pwrite(&writer, b"x", 0), Errno::SPIPE)
}

fn vectors() -> Checked {
    let file = create("file", b"")?;
    let parts = [b"one ".as_slice(), b"", b"two ", b"three"].map(IoSlice::new);
    equal("bytes of pwritev(2)", pwritev(&file, &parts, 2)?, 13)?;
    let (mut first, mut second) = ([0; 6], [0; 20]);
    let mut parts = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
    equal("bytes of preadv(2)", preadv(&file, &mut parts, 0)?, 15)?;
    equal("first buffer", &first, b"\0\0one ")?;
    equal("second buffer", &second[..9], b"two three")
}

fn shared_offset() -> Checked {
    let file = create("file", b"0123456789")?;
    let copy = dup(&file)?;
    let other = open("file", OFlags::RDWR, Mode::empty())?;
    read(&file, &mut [0; 3])?;
    equal("offset of the copy", tell(&copy)?, 3)?;
    equal("offset of the other", tell(&other)?, 0)?;
    child(|| Ok(seek(&copy, SeekFrom::Current(2)).map(drop)?))?.succeeds()?;
    equal("offset after a child's lseek(2)", tell(&file)?, 5)?;
    fcntl_setfl(&copy, OFlags::APPEND)?;
    holds("the flag is shared", fcntl_getfl(&file)?.contains(OFlags::APPEND))?;
    holds("with the copy only", !fcntl_getfl(&other)?.contains(OFlags::APPEND))?;
    let high = fcntl_dupfd_cloexec(&file, 100)?;
    at_least("number from F_DUPFD_CLOEXEC", std::os::fd::AsRawFd::as_raw_fd(&high), 100)?;
    fails("lseek(2) before the start", seek(&file, SeekFrom::Current(-6)), Errno::INVAL)
}

fn truncate() -> Checked {
    let file = create("file", b"0123456789")?;
    ftruncate(&file, 4)?;
    equal("content after cutting", content("file")?, "0123")?;
    ftruncate(&file, 6)?;
    equal("content after growing", content("file")?, "0123\0\0")?;
    equal("size", fstat(&file)?.st_size, 6)?;
    equal("offset", tell(&file)?, 0)?;
    let reader = open("file", OFlags::RDONLY, Mode::empty())?;
    fails("ftruncate(2) of a file open for reading", ftruncate(&reader, 0), Errno::INVAL)?;
    fails("a negative length", ftruncate(&file, u64::MAX), Errno::INVAL)
}

fn holes() -> Checked {
    const SIZE: u64 = 8;
    let page = page_size() as u64;
    let file = create("file", &vec![b'x'; (SIZE * page).try_into().unwrap_or_default()])?;
    let before = fstat(&file)?.st_blocks;
    fallocate(&file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, 2 * page, 3 * page)?;
    equal("size after punching", fstat(&file)?.st_size.unsigned_abs(), SIZE * page)?;
    equal("blocks given back", before - fstat(&file)?.st_blocks, (3 * page / 512).cast_signed())?;
    let mut around = [0; 2];
    pread(&file, &mut around, 2 * page - 1)?;
    equal("last byte of data and first of the hole", around, *b"x\0")?;
    equal("SEEK_HOLE from the start", seek(&file, SeekFrom::Hole(0))?, 2 * page)?;
    equal("SEEK_DATA from inside the hole", seek(&file, SeekFrom::Data(2 * page + 1))?, 5 * page)?;
    equal("SEEK_HOLE at the end", seek(&file, SeekFrom::Hole(5 * page))?, SIZE * page)?;
    fails("SEEK_DATA beyond the end", seek(&file, SeekFrom::Data(SIZE * page)), Errno::NXIO)?;
    fails(
        "punching without KEEP_SIZE",
        fallocate(&file, FallocateFlags::PUNCH_HOLE, 0, page),
        Errno::OPNOTSUPP,
    )?;
    fallocate(&file, FallocateFlags::empty(), SIZE * page, page)?;
    equal("size after fallocate(2)", fstat(&file)?.st_size.unsigned_abs(), (SIZE + 1) * page)
}

fn copy_range() -> Checked {
    let (source, target) = (create("source", b"0123456789")?, create("target", b"abcdefghij")?);
    let (mut from, mut to) = (2, 5);
    equal("bytes copied", copy_file_range(&source, Some(&mut from), &target, Some(&mut to), 3)?, 3)?;
    equal("offsets after it", (from, to, tell(&source)?, tell(&target)?), (5, 8, 0, 0))?;
    equal("content", content("target")?, "abcde234ij")?;
    equal("more than there is", copy_file_range(&source, None, &target, None, 100)?, 10)?;
    equal("at the end", copy_file_range(&source, None, &target, None, 100)?, 0)?;
    equal("content", content("target")?, "0123456789")?;
    let overlap = copy_file_range(&source, Some(&mut 0), &source, Some(&mut 2), 4);
    fails("overlapping ranges of one file", overlap, Errno::INVAL)?;
    let append = open("target", OFlags::WRONLY | OFlags::APPEND, Mode::empty())?;
    fails("a target with O_APPEND", copy_file_range(&source, None, append, None, 1), Errno::BADF)
}

fn permissions() -> Checked {
    umask(Mode::from_raw_mode(0o027));
    open("masked", OFlags::CREATE | OFlags::WRONLY, Mode::from_raw_mode(0o666))?;
    equal("mode of a new file", stat("masked")?.st_mode & 0o7777, 0o640)?;
    umask(Mode::empty());
    open("read-only", OFlags::CREATE | OFlags::WRONLY, Mode::from_raw_mode(0o444))?;
    equal("root may write", access("read-only", Access::WRITE_OK), Ok(()))?;
    unprivileged(|| {
        let attempt = |name, flags| open(name, flags, Mode::empty());
        holds("reading what all may read", attempt("read-only", OFlags::RDONLY).is_ok())?;
        fails("writing to it", attempt("read-only", OFlags::WRONLY), Errno::ACCESS)?;
        fails("reading what others may not", attempt("masked", OFlags::RDONLY), Errno::ACCESS)?;
        fails("access(2) W_OK", access("read-only", Access::WRITE_OK), Errno::ACCESS)?;
        fails("access(2) X_OK", access("read-only", Access::EXEC_OK), Errno::ACCESS)?;
        let mode = rustix::fs::chmod("read-only", Mode::from_raw_mode(0o666));
        fails("chmod(2) of another's file", mode, Errno::PERM)
    })?
    .succeeds()
}

fn times() -> Checked {
    let file = create("file", b"text")?;
    let keep = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    let set = |access, change| {
        utimensat(
            CWD,
            "file",
            &Timestamps { last_access: access, last_modification: change },
            AtFlags::empty(),
        )
    };
    let (early, late) = ((1, 1), (4_000_000_000, 999_999_999));
    let [early_time, late_time] = [early, late].map(|(tv_sec, tv_nsec)| Timespec { tv_sec, tv_nsec });
    set(early_time, late_time)?;
    equal("access and modification", file_times(&file)?, [early, late])?;
    set(late_time, keep)?;
    equal("with UTIME_OMIT", file_times(&file)?, [late, late])?;
    pwrite(&file, b"x", 0)?;
    holds("write(2) sets the modification time", file_times(&file)?[1] != late)?;
    fails("2000000000 nanoseconds", set(Timespec { tv_sec: 0, tv_nsec: 2_000_000_000 }, keep), Errno::INVAL)
}

/// Seconds and nanoseconds of last access and last modification.
fn file_times(file: &OwnedFd) -> Result<[(i64, i64); 2], Errno> {
    let stat = fstat(file)?;
    Ok([(stat.st_atime, stat.st_atime_nsec), (stat.st_mtime, stat.st_mtime_nsec)]
        .map(|(seconds, nanoseconds)| (seconds, nanoseconds.cast_signed())))
}

fn attributes() -> Checked {
    const NAME: &str = "trusted.kiln";
    create("file", b"")?;
    let mut buffer = [0; 64];
    fails("no such attribute", getxattr("file", NAME, &mut buffer), Errno::NODATA)?;
    fails("XATTR_REPLACE of none", setxattr("file", NAME, b"x", XattrFlags::REPLACE), Errno::NODATA)?;
    setxattr("file", NAME, b"value", XattrFlags::CREATE)?;
    fails("XATTR_CREATE of one", setxattr("file", NAME, b"x", XattrFlags::CREATE), Errno::EXIST)?;
    let length = getxattr("file", NAME, &mut buffer)?;
    equal("value", &buffer[..length], b"value")?;
    fails("a small buffer", getxattr("file", NAME, &mut buffer[..3]), Errno::RANGE)?;
    let length = listxattr("file", &mut buffer)?;
    equal("names", &buffer[..length], b"trusted.kiln\0")?;
    fails(
        "a name without a known prefix",
        setxattr("file", "kiln", b"x", XattrFlags::empty()),
        Errno::OPNOTSUPP,
    )?;
    removexattr("file", NAME)?;
    fails("removing it again", removexattr("file", NAME), Errno::NODATA)
}

fn sync() -> Checked {
    let file = create("file", b"text")?;
    equal("fsync(2)", fsync(&file), Ok(()))?;
    equal("fdatasync(2)", fdatasync(&file), Ok(()))?;
    equal("fsync(2) of a directory", fsync(open(".", OFlags::DIRECTORY, Mode::empty())?), Ok(()))?;
    fails("fsync(2) of a pipe", fsync(pipe()?.0), Errno::INVAL)?;
    fails("fdatasync(2) of a pipe", fdatasync(pipe()?.0), Errno::INVAL)
}

fn size_limit() -> Checked {
    let file = create("file", b"")?;
    ignore(libc::SIGXFSZ)?;
    setrlimit(Resource::Fsize, Rlimit { current: Some(10), maximum: None })?;
    equal("bytes up to the limit", write(&file, b"0123456789abcdef")?, 10)?;
    fails("a byte above it", write(&file, b"x"), Errno::FBIG)?;
    fails("ftruncate(2) above it", ftruncate(&file, 11), Errno::FBIG)?;
    let killed = child(|| {
        default_action(libc::SIGXFSZ)?;
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
        write(&file, b"x")?;
        Ok(())
    })?;
    equal("signal that ended the writer", killed.wait()?.terminating_signal(), Some(libc::SIGXFSZ))
}
