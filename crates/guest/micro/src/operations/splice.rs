//! Data without copies: splice(2), tee(2), vmsplice(2), sendfile(2).

use std::fs::File;

use harness::check::{Checked, equal, holds};
use protocol::Need;
use rustix::fd::OwnedFd;
use rustix::fs::{MemfdFlags, memfd_create, sendfile};
use rustix::io::{pwrite, read, write};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{IoSliceRaw, SpliceFlags, pipe, splice, tee, vmsplice};

use super::parts::gives;
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new(
        "splice/file-pipe-4k",
        "splice(2) of 4 KiB of a file to a pipe, from there to /dev/null",
        |meter| through_pipe(meter, 4 << 10),
    ),
    Operation::new(
        "splice/file-pipe-64k",
        "splice(2) of 64 KiB of a file to a pipe, from there to /dev/null",
        |meter| through_pipe(meter, 64 << 10),
    ),
    Operation::new("splice/tee-4k", "tee(2) of 4 KiB to another pipe, from there to /dev/null", duplicate),
    Operation::new("splice/vmsplice-4k", "vmsplice(2) of 4 KiB to a pipe, from there to /dev/null", memory),
    Operation::new(
        "splice/sendfile-64k",
        "sendfile(2) of 64 KiB to a unix socket, and read(2) of them",
        send_file,
    )
    .needs(&[Need::Config("UNIX")]),
];

const SIZE: usize = 64 << 10;

/// A file of 64 KiB.
fn file() -> Checked<OwnedFd> {
    let file = memfd_create("file", MemfdFlags::CLOEXEC)?;
    equal("bytes written", pwrite(&file, &[b'k'; SIZE], 0)?, SIZE)?;
    Ok(file)
}

fn null() -> std::io::Result<File> {
    File::options().write(true).open("/dev/null")
}

fn through_pipe(meter: &mut Meter, size: usize) -> Checked {
    let (file, null, (reader, writer)) = (file()?, null()?, pipe()?);
    gives(meter, "bytes moved", (size, size), || {
        let in_pipe = splice(&file, Some(&mut 0), &writer, None, size, SpliceFlags::MOVE)?;
        Ok((in_pipe, splice(&reader, None, &null, None, size, SpliceFlags::MOVE)?))
    })?;
    let mut buffer = vec![0; size];
    splice(&file, Some(&mut 0), &writer, None, size, SpliceFlags::MOVE)?;
    equal("bytes read", read(&reader, &mut *buffer)?, size)?;
    holds("they are what was written", buffer.iter().all(|&byte| byte == b'k'))
}

fn duplicate(meter: &mut Meter) -> Checked {
    const COUNT: usize = 4 << 10;
    let (null, (reader, writer), (second, into_second)) = (null()?, pipe()?, pipe()?);
    equal("bytes written", write(&writer, &[b'k'; COUNT])?, COUNT)?;
    gives(meter, "bytes copied and moved", (COUNT, COUNT), || {
        let copied = tee(&reader, &into_second, COUNT, SpliceFlags::empty())?;
        Ok((copied, splice(&second, None, &null, None, COUNT, SpliceFlags::MOVE)?))
    })?;
    equal("bytes that are still there", rustix::io::ioctl_fionread(&reader)?, COUNT as u64)
}

fn memory(meter: &mut Meter) -> Checked {
    const COUNT: usize = 4 << 10;
    let (mut data, null, (reader, writer)) = (vec![b'k'; COUNT], null()?, pipe()?);
    let slice = IoSliceRaw::from_slice_mut(&mut data);
    let slices = [slice];
    gives(meter, "bytes moved", (COUNT, COUNT), || {
        // SAFETY: the data stays as it is until it has left the pipe.
        let in_pipe = unsafe { vmsplice(&writer, &slices, SpliceFlags::empty())? };
        Ok((in_pipe, splice(&reader, None, &null, None, COUNT, SpliceFlags::MOVE)?))
    })
}

fn send_file(meter: &mut Meter) -> Checked {
    let (file, mut buffer) = (file()?, vec![0; SIZE]);
    let (near, far) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::empty(), None)?;
    gives(meter, "bytes sent and read", (SIZE, SIZE), || {
        Ok((sendfile(&near, &file, Some(&mut 0), SIZE)?, read(&far, &mut *buffer)?))
    })?;
    holds("they are what was written", buffer.iter().all(|&byte| byte == b'k'))
}
