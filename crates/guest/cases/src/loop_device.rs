//! Files as block devices: loop(4).

use std::fs;

use harness::check::{Checked, equal, fails, holds};
use harness::storage::{AUTOCLEAR, Loop, LoopStatus, READ_ONLY, device_size, sparse};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, pread, pwrite};
use rustix::pipe::pipe;

use crate::case::{Case, Need};

const NEEDS: &[Need] = &[Need::Module("loop")];

pub(super) const CASES: &[Case] = &[
    Case::new("loop/contents", "data written to a loop device is in its file, and the reverse", contents)
        .needs(NEEDS)
        .setup(one_mib),
    Case::new("loop/window", "LOOP_SET_STATUS64: offset and size limit choose a part of the file", window)
        .needs(NEEDS)
        .setup(one_mib),
    Case::new("loop/autoclear", "LO_FLAGS_AUTOCLEAR detaches the file at the last close", autoclear)
        .needs(NEEDS)
        .setup(one_mib),
    Case::new("loop/read-only", "a file opened read-only makes a device that cannot be written", read_only)
        .needs(NEEDS)
        .setup(one_mib),
    Case::new("loop/refusals", "LOOP_SET_FD and LOOP_GET_STATUS64 give EBUSY, EINVAL and ENXIO", refusals)
        .needs(NEEDS)
        .setup(one_mib),
];

const FILE: &str = "disk";

fn one_mib() -> Checked {
    sparse(FILE, 1)
}

fn contents() -> Checked {
    let disk = Loop::attach(FILE, OFlags::RDWR)?;
    equal("size", device_size(disk.device())?, 1 << 20)?;
    pwrite(disk.device(), b"by the device", 4096)?;
    rustix::fs::fsync(disk.device())?;
    let file = open(FILE, OFlags::RDWR, Mode::empty())?;
    let mut buffer = [0; 13];
    pread(&file, &mut buffer, 4096)?;
    equal("contents of the file", &buffer, b"by the device")?;
    pwrite(&file, b"through the file", 65536)?;
    let mut buffer = [0; 16];
    pread(disk.device(), &mut buffer, 65536)?;
    equal("contents of the device", &buffer, b"through the file")?;
    equal("read at the end", pread(disk.device(), &mut buffer, 1 << 20)?, 0)?;
    fails("write at the end", pwrite(disk.device(), b"!", 1 << 20), Errno::NOSPC)
}

fn window() -> Checked {
    let disk = Loop::attach(FILE, OFlags::RDWR)?;
    let (offset, size_limit) = (4096, 8192);
    disk.set_status(&LoopStatus { offset, size_limit, flags: AUTOCLEAR, ..LoopStatus::default() })?;
    equal("size", device_size(disk.device())?, size_limit)?;
    pwrite(disk.device(), b"first", 0)?;
    rustix::fs::fsync(disk.device())?;
    equal("contents of the file", &fs::read(FILE)?[4096..4101], b"first")?;
    let status = disk.status()?;
    equal("offset and limit", (status.offset, status.size_limit), (offset, size_limit))?;
    equal("inode", status.inode, rustix::fs::stat(FILE)?.st_ino)
}

fn autoclear() -> Checked {
    let disk = Loop::attach(FILE, OFlags::RDWR)?;
    let name = disk.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let state = format!("/sys/block/{name}/loop/backing_file");
    let shown = fs::read_to_string(&state)?;
    holds(&format!("{state} shows the file: {shown}"), shown.trim_end().ends_with("/disk"))?;
    let path = disk.path.clone();
    drop(disk);
    let again = open(&path, OFlags::RDONLY, Mode::empty())?;
    equal("size after the last close", device_size(&again)?, 0)?;
    fails("its file in sysfs", fs::read_to_string(&state), Errno::NOENT)
}

fn read_only() -> Checked {
    let disk = Loop::attach(FILE, OFlags::RDONLY)?;
    equal("read-only flag", disk.status()?.flags & READ_ONLY, READ_ONLY)?;
    equal("read", pread(disk.device(), &mut [0; 512], 0)?, 512)?;
    fails("write", pwrite(disk.device(), &[1; 512], 0), Errno::PERM)
}

fn refusals() -> Checked {
    let disk = Loop::free()?;
    fails("status without a file", disk.status().map(|_| ()), Errno::NXIO)?;
    fails("detach without a file", disk.detach(), Errno::NXIO)?;
    fails("attach a pipe", disk.set_file(pipe()?.0), Errno::INVAL)?;
    let file = open(FILE, OFlags::RDWR, Mode::empty())?;
    disk.set_file(&file)?;
    fails("attach a second file", disk.set_file(&file), Errno::BUSY)?;
    disk.detach()?;
    fails("status after the detach", disk.status().map(|_| ()), Errno::NXIO)
}
