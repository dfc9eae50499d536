//! Files and directories on ext4, whose disk is a loop device over memory.

use std::fs;
use std::path::Path;

use harness::check::{Checked, skip};
use protocol::Need;
use rustix::fs::{statfs, sync};
use rustix::process::chdir;

use super::{directory, file, io_uring};
use crate::{EXT4, Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    on_ext4("ext4/open-close", "open(2) of a file and close(2)", |meter| inside(meter, file::open_close)),
    on_ext4("ext4/stat", "stat(2) of a file", |meter| inside(meter, file::stat_file)),
    on_ext4("ext4/fstat", "fstat(2) of an open file", |meter| inside(meter, file::fstat_file)),
    on_ext4("ext4/pread-1", "pread(2) of one byte of the page cache", |meter| {
        inside(meter, |meter| file::pread_file(meter, 1))
    }),
    on_ext4("ext4/pread-4k", "pread(2) of 4 KiB of the page cache", |meter| {
        inside(meter, |meter| file::pread_file(meter, 4 << 10))
    }),
    on_ext4("ext4/pread-64k", "pread(2) of 64 KiB of the page cache", |meter| {
        inside(meter, |meter| file::pread_file(meter, 64 << 10))
    }),
    on_ext4("ext4/pwrite-1", "pwrite(2) of one byte over what is there", |meter| {
        inside(meter, |meter| file::pwrite_file(meter, 1))
    }),
    on_ext4("ext4/pwrite-4k", "pwrite(2) of 4 KiB over what is there", |meter| {
        inside(meter, |meter| file::pwrite_file(meter, 4 << 10))
    }),
    on_ext4("ext4/pwrite-64k", "pwrite(2) of 64 KiB over what is there", |meter| {
        inside(meter, |meter| file::pwrite_file(meter, 64 << 10))
    }),
    on_ext4("ext4/append-4k", "write(2) of the first 4 KiB of an empty file", |meter| {
        inside(meter, file::append)
    }),
    on_ext4("ext4/truncate-64k", "ftruncate(2) of a file of 64 KiB to nothing", |meter| {
        inside(meter, file::truncate)
    }),
    on_ext4("ext4/fallocate-64k", "fallocate(2) of 64 KiB in an empty file", |meter| {
        inside(meter, file::allocate)
    }),
    on_ext4("ext4/fsync", "fsync(2) of 4 KiB that were written over what was there", |meter| {
        inside(meter, file::sync_written)
    }),
    on_ext4("ext4/copy-range-64k", "copy_file_range(2) of 64 KiB over another file", |meter| {
        inside(meter, file::copy_range)
    }),
    on_ext4("ext4/setxattr", "setxattr(2) of 8 bytes over a value of that size", |meter| {
        inside(meter, file::set_attribute)
    }),
    on_ext4("ext4/getxattr", "getxattr(2) of 8 bytes", |meter| inside(meter, file::get_attribute)),
    on_ext4("ext4/io-uring-read-4k", "IORING_OP_READ of 4 KiB of the page cache", |meter| {
        inside(meter, io_uring::read_file)
    })
    .needs(&[DISK[0], DISK[1], DISK[2], Need::Config("IO_URING")]),
    on_ext4("ext4/create", "open(2) O_CREAT of a new file and close(2), among 10 names", |meter| {
        inside(meter, |meter| directory::create(meter, directory::SMALL))
    }),
    on_ext4("ext4/unlink", "unlink(2) of an empty file among 10 names", |meter| {
        inside(meter, |meter| directory::unlink_file(meter, directory::SMALL))
    }),
    on_ext4("ext4/rename", "rename(2) of a file among 10 names", |meter| {
        inside(meter, |meter| directory::rename_file(meter, directory::SMALL))
    }),
    on_ext4("ext4/link", "link(2): a second name of a file", |meter| inside(meter, directory::link_file)),
    on_ext4("ext4/symlink", "symlink(2) of a short target", |meter| inside(meter, directory::make_symlink)),
    on_ext4("ext4/mkdir", "mkdir(2) of a new name", |meter| inside(meter, directory::make_directory)),
    on_ext4("ext4/rmdir", "rmdir(2) of an empty directory", |meter| {
        inside(meter, directory::remove_directory)
    }),
    on_ext4("ext4/readdir", "getdents64(2) of all of 10 names", |meter| {
        inside(meter, |meter| directory::list(meter, directory::SMALL))
    }),
];

const fn on_ext4(name: &'static str, about: &'static str, body: fn(&mut Meter) -> Checked) -> Operation {
    Operation::new(name, about, body).needs(&DISK)
}

/// What makes and carries the file system.
const DISK: [Need; 3] = [Need::Filesystem("ext4"), Need::Module("loop"), Need::Tool("mkfs.ext4")];

/// Magic number of ext4: statfs(2).
const MAGIC: i64 = 0xef53;

/// Runs `body` in a directory of its own on the file system, which is as it was afterwards.
fn inside(meter: &mut Meter, body: fn(&mut Meter) -> Checked) -> Checked {
    if !statfs(EXT4).is_ok_and(|found| found.f_type == MAGIC) {
        return skip("there is no ext4 file system");
    }
    let directory = Path::new(EXT4).join("operation");
    fs::create_dir(&directory)?;
    sync();
    chdir(&directory)?;
    let result = body(meter);
    chdir("/")?;
    fs::remove_dir_all(&directory)?;
    sync();
    result
}
