//! `sendfile`, `splice`, `vmsplice`, `tee`, `copy-file`: data that moves inside the kernel.

use std::fs::File;
use std::io::IoSlice;

use harness::check::{Checked, at_least, equal};
use rustix::fd::OwnedFd;
use rustix::fs::{copy_file_range, sendfile};
use rustix::io::{Errno, read};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{SpliceFlags, pipe, splice, tee, vmsplice};

use crate::Worker;
use crate::kit::support::supported_unless;
use crate::kit::{content, file};
use crate::stressor::{Class, Setting, Stressor, size};

const BYTES: Setting = size("bytes", "what is moved at a time", 4096..=65536, 16384);
const FILE: Setting = size("bytes", "size of the file", 65536..=128 << 20, 4 << 20);

const COPY: Stressor =
    Stressor { classes: &[Class::Io, Class::Ipc, Class::Os], options: &[BYTES], ..Stressor::PLAIN };

pub(super) const SENDFILE: Stressor = Stressor {
    name: "sendfile",
    about: "a file to a socket and to a file: sendfile(2)",
    operation: "a piece of the file moved to both",
    verifies: "the content at both ends",
    body: send,
    ..COPY
};

pub(super) const SPLICE: Stressor = Stressor {
    name: "splice",
    about: "a file through a pipe into another file: splice(2)",
    operation: "a piece of the file moved through the pipe",
    verifies: "the content of the other file",
    body: through_pipe,
    ..COPY
};

pub(super) const VMSPLICE: Stressor = Stressor {
    name: "vmsplice",
    about: "pages of this process into a pipe: vmsplice(2)",
    operation: "pages lent to the pipe and read from it",
    verifies: "the content that comes out",
    body: lend,
    ..COPY
};

pub(super) const TEE: Stressor = Stressor {
    name: "tee",
    about: "the content of a pipe into a second one: tee(2)",
    operation: "a piece written, copied and read from both pipes",
    verifies: "both pipes give the same content",
    body: twice,
    ..COPY
};

pub(super) const COPY_FILE: Stressor = Stressor {
    name: "copy-file",
    classes: &[Class::Filesystem, Class::Io, Class::Os],
    about: "ranges of a file copied to random places of another: copy_file_range(2)",
    operation: "one range copied",
    verifies: "the content of the copied range",
    options: &[FILE],
    body: ranges,
    ..COPY
};

fn filled(name: &str, seed: u64, size: usize) -> Checked<File> {
    let file = file::create(name)?;
    file::fill(&file, seed, 0, size)?;
    Ok(file)
}

/// Reads exactly as much, and verifies it.
fn verify_stream(what: &str, from: &OwnedFd, seed: u64, size: usize) -> Checked {
    let (mut bytes, mut length) = (vec![0; size], 0);
    while length < size {
        let more = read(from, &mut bytes[length..])?;
        at_least("bytes read", more, 1)?;
        length += more;
    }
    content::verify(what, &bytes, seed, 0)
}

fn send(worker: &Worker) -> Checked {
    let (size, seed) = (worker.size(&BYTES), worker.random().next_u64());
    let (from, to) = (filled("from", seed, size)?, file::create("to")?);
    let (writer, reader) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::empty(), None)?;
    worker.repeat(|| {
        let mut offset = 0;
        equal("bytes to the socket", sendfile(&writer, &from, Some(&mut offset), size)?, size)?;
        equal("the offset", offset, size as u64)?;
        verify_stream("what the socket gives", &reader, seed, size)?;
        to.set_len(0)?;
        rustix::fs::seek(&to, rustix::fs::SeekFrom::Start(0))?;
        equal("bytes to the file", sendfile(&to, &from, Some(&mut 0), size)?, size)?;
        file::verify("the file", &to, seed, 0, size)
    })
}

fn through_pipe(worker: &Worker) -> Checked {
    let (size, seed) = (worker.size(&BYTES), worker.random().next_u64());
    let (from, to) = (filled("from", seed, size)?, file::create("to")?);
    let (reader, writer) = pipe()?;
    worker.repeat(|| {
        to.set_len(0)?;
        let mut moved = 0;
        while moved < size as u64 {
            let (mut input, mut output) = (moved, moved);
            let rest = size - usize::try_from(moved).unwrap_or(0);
            let taken = splice(&from, Some(&mut input), &writer, None, rest, SpliceFlags::MOVE)?;
            let given = splice(&reader, None, &to, Some(&mut output), taken, SpliceFlags::MOVE)?;
            equal("bytes out of the pipe", given, taken)?;
            moved += at_least("bytes moved", given, 1).map(|()| given as u64)?;
        }
        file::verify("the other file", &to, seed, 0, size)
    })
}

fn lend(worker: &Worker) -> Checked {
    let (size, mut random) = (worker.size(&BYTES), worker.random());
    let (reader, writer) = pipe()?;
    let mut bytes = vec![0; size];
    worker.repeat(|| {
        let seed = random.next_u64();
        content::fill(&mut bytes, seed, 0);
        // SAFETY: the pages are not changed until they have been read.
        let lent = unsafe {
            vmsplice(&writer, &[rustix::pipe::IoSliceRaw::from_slice(&bytes)], SpliceFlags::empty())?
        };
        verify_stream("what the pipe gives", &reader, seed, lent)
    })
}

fn twice(worker: &Worker) -> Checked {
    let (size, mut random) = (worker.size(&BYTES), worker.random());
    let ((first_out, first_in), (second_out, second_in)) = (pipe()?, pipe()?);
    worker.repeat(|| {
        let seed = random.next_u64();
        let written = rustix::io::writev(&first_in, &[IoSlice::new(&content::of(size, seed, 0))])?;
        let copied = tee(&first_out, &second_in, written, SpliceFlags::empty())?;
        at_least("bytes copied", copied, 1)?;
        verify_stream("the first pipe", &first_out, seed, written)?;
        verify_stream("the second pipe", &second_out, seed, copied)
    })
}

fn ranges(worker: &Worker) -> Checked {
    let (size, mut random) = (worker.size(&FILE), worker.random());
    let seed = random.next_u64();
    let (from, to) = (filled("from", seed, size)?, file::create("to")?);
    worker.repeat(|| {
        // Multiples of eight, as the content is made of such pieces.
        let length = (8 + random.below(65_000)) / 8 * 8;
        let [start, target] = [0, 1].map(|_| (random.below(size - length) / 8 * 8) as u64);
        let (mut input, mut output) = (start, target);
        let copied = copy_file_range(&from, Some(&mut input), &to, Some(&mut output), length);
        let copied = supported_unless("copy_file_range(2) here", copied, &[Errno::XDEV, Errno::INVAL])?;
        at_least("bytes copied", copied, 1)?;
        equal("the offsets", (input, output), (start + copied as u64, target + copied as u64))?;
        let mut bytes = vec![0; copied];
        rustix::io::pread(&to, &mut *bytes, target)?;
        content::verify("the copy", &bytes, seed, start)
    })
}
