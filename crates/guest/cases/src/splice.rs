//! Data without copies: splice(2), tee(2), vmsplice(2), sendfile(2).

use std::fs::File;
use std::io::Read;

use harness::check::{Checked, equal, fails};
use rustix::fd::OwnedFd;
use rustix::fs::{MemfdFlags, memfd_create, sendfile, tell};
use rustix::io::{Errno, pwrite, read, write};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{IoSliceRaw, PipeFlags, SpliceFlags, pipe, pipe_with, splice, tee, vmsplice};

use crate::case::{Case, Need};

pub(super) const CASES: &[Case] = &[
    Case::new(
        "splice/file-to-file",
        "splice(2) moves bytes of a file through a pipe to another file",
        file_to_file,
    ),
    Case::new("splice/tee", "tee(2) copies what is in a pipe and leaves it there", tee_pipe),
    Case::new("splice/vmsplice", "vmsplice(2) puts memory into a pipe and a pipe into memory", memory),
    Case::new(
        "splice/sendfile",
        "sendfile(2) sends a file to a socket, from its offset or from one given",
        send_file,
    )
    .needs(&[Need::Config("UNIX")]),
    Case::new("splice/refusals", "splice(2) and tee(2) give EINVAL, ESPIPE and EAGAIN as promised", refusals),
];

const TEXT: &[u8] = b"The quick brown fox jumps over the lazy dog";

fn file() -> Result<OwnedFd, Errno> {
    let file = memfd_create("text", MemfdFlags::empty())?;
    pwrite(&file, TEXT, 0)?;
    Ok(file)
}

fn file_to_file() -> Checked {
    let (reader, writer) = pipe()?;
    let (source, target) = (file()?, memfd_create("target", MemfdFlags::empty())?);
    let mut from = 4;
    equal("into the pipe", splice(&source, Some(&mut from), &writer, None, 5, SpliceFlags::MOVE)?, 5)?;
    equal("offset after it", from, 9)?;
    equal("offset of the file", tell(&source)?, 0)?;
    equal(
        "into the pipe from the file's offset",
        splice(&source, None, &writer, None, 3, SpliceFlags::MOVE)?,
        3,
    )?;
    equal("offset of the file", tell(&source)?, 3)?;
    equal("out of the pipe", splice(&reader, None, &target, None, 64, SpliceFlags::MOVE)?, 8)?;
    let mut copied = Vec::new();
    let mut target = File::from(target);
    std::io::Seek::rewind(&mut target)?;
    target.read_to_end(&mut copied)?;
    equal("what arrived", copied, b"quickThe")?;
    let mut end = TEXT.len() as u64;
    equal("at the end of the file", splice(&source, Some(&mut end), &writer, None, 5, SpliceFlags::MOVE)?, 0)
}

fn tee_pipe() -> Checked {
    let ((reader, writer), (copy_reader, copy_writer)) = (pipe()?, pipe()?);
    write(&writer, TEXT)?;
    equal("bytes copied", tee(&reader, &copy_writer, 9, SpliceFlags::empty())?, 9)?;
    let mut buffer = [0; 64];
    let count = read(&copy_reader, &mut buffer)?;
    equal("the copy", &buffer[..count], &TEXT[..9])?;
    let count = read(&reader, &mut buffer)?;
    equal("the original", &buffer[..count], TEXT)
}

fn memory() -> Checked {
    let (reader, writer) = pipe()?;
    let (first, second) = TEXT.split_at(10);
    let slices = [first, second].map(IoSliceRaw::from_slice);
    // SAFETY: the text is never changed.
    equal("bytes put in", unsafe { vmsplice(&writer, &slices, SpliceFlags::empty()) }?, TEXT.len())?;
    let mut buffer = [0; 64];
    let slices = [IoSliceRaw::from_slice_mut(&mut buffer)];
    // SAFETY: the buffer is writable and not used otherwise meanwhile.
    let count = unsafe { vmsplice(&reader, &slices, SpliceFlags::empty()) }?;
    equal("what came out", &buffer[..count], TEXT)
}

fn send_file() -> Checked {
    let (receiver, sender) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::empty(), None)?;
    let source = file()?;
    let mut from = 16;
    equal("from an offset given", sendfile(&sender, &source, Some(&mut from), 3)?, 3)?;
    equal("offset after it", (from, tell(&source)?), (19, 0))?;
    equal("from the file's offset", sendfile(&sender, &source, None, 1000)?, TEXT.len())?;
    equal("offset of the file", tell(&source)?, TEXT.len() as u64)?;
    equal("at the end of the file", sendfile(&sender, &source, None, 1000)?, 0)?;
    let mut buffer = [0; 64];
    let count = read(&receiver, &mut buffer)?;
    equal("what arrived", &buffer[..count], [b"fox", TEXT].concat())
}

fn refusals() -> Checked {
    let (source, target) = (file()?, file()?);
    let (reader, writer) = pipe_with(PipeFlags::NONBLOCK)?;
    let none = SpliceFlags::empty();
    fails("splice(2) without a pipe", splice(&source, None, &target, None, 1, none), Errno::INVAL)?;
    fails("an offset in a pipe", splice(&source, None, &writer, Some(&mut 0), 1, none), Errno::SPIPE)?;
    fails("splice(2) of a pipe into itself", splice(&reader, None, &writer, None, 1, none), Errno::INVAL)?;
    fails("tee(2) of a pipe into itself", tee(&reader, &writer, 1, none), Errno::INVAL)?;
    fails("tee(2) from a file", tee(&source, &writer, 1, none), Errno::INVAL)?;
    let empty = splice(&reader, None, &target, None, 1, SpliceFlags::NONBLOCK);
    fails("splice(2) of an empty pipe", empty, Errno::AGAIN)?;
    fails("reading the wrong end", splice(&writer, None, &target, None, 1, none), Errno::BADF)
}
