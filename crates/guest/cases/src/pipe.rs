//! Pipes: pipe(7), fifo(7).

use harness::check::{Checked, at_least, equal, fails, holds};
use harness::child::{child, unprivileged};
use harness::sys::{default_action, ignore};
use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_setfl, mknodat, open};
use rustix::io::{Errno, ioctl_fionread, read, write};
use rustix::pipe::{PIPE_BUF, PipeFlags, fcntl_getpipe_size, fcntl_setpipe_size, pipe, pipe_with};

use crate::case::Case;

pub(super) const CASES: &[Case] = &[
    Case::new("pipe/end-of-file", "read(2) gives 0 when all writers have closed", end_of_file),
    Case::new("pipe/full", "write(2) to a full non-blocking pipe gives EAGAIN", full),
    Case::new("pipe/broken", "write(2) without readers gives SIGPIPE, or EPIPE when that is ignored", broken),
    Case::new(
        "pipe/atomic-writes",
        "write(2) of PIPE_BUF bytes is never torn by another writer",
        atomic_writes,
    ),
    Case::new(
        "pipe/backpressure",
        "write(2) of more than fits waits for the reader and loses nothing",
        backpressure,
    ),
    Case::new("pipe/packets", "pipe2(2) O_DIRECT keeps each write(2) a packet of its own", packets),
    Case::new("pipe/size", "fcntl(2) F_SETPIPE_SZ gives at least what was asked, EBUSY and EPERM", size),
    Case::new("pipe/fifo", "open(2) of a FIFO waits for the other side, or gives ENXIO", fifo),
];

fn end_of_file() -> Checked {
    let (reader, writer) = pipe()?;
    equal("bytes written", write(&writer, b"last words")?, 10)?;
    drop(writer);
    let mut buffer = [0; 64];
    equal("bytes read", read(&reader, &mut buffer)?, 10)?;
    equal("bytes at the end", read(&reader, &mut buffer)?, 0)
}

fn full() -> Checked {
    let (_reader, writer) = pipe_with(PipeFlags::NONBLOCK)?;
    let size = fcntl_getpipe_size(&writer)?;
    equal("bytes that fit", write(&writer, &vec![0; size])?, size)?;
    fails("one more byte", write(&writer, &[0]), Errno::AGAIN)
}

fn broken() -> Checked {
    let (reader, writer) = pipe()?;
    drop(reader);
    ignore(libc::SIGPIPE)?;
    fails("write(2) with SIGPIPE ignored", write(&writer, b"x"), Errno::PIPE)?;
    default_action(libc::SIGPIPE)?;
    let writing = child(|| {
        write(&writer, b"x")?;
        Ok(())
    })?;
    equal("signal that ended the writer", writing.wait()?.terminating_signal(), Some(libc::SIGPIPE))
}

fn atomic_writes() -> Checked {
    const WRITERS: u8 = 3;
    const ROUNDS: usize = 50;
    let (reader, writer) = pipe()?;
    let mut writers = Vec::new();
    for number in 0..WRITERS {
        writers.push(child(|| {
            let block = vec![number; PIPE_BUF];
            (0..ROUNDS).try_for_each(|_| write(&writer, &block).map(drop))?;
            Ok(())
        })?);
    }
    drop(writer);
    let bytes = read_to_end(&reader)?;
    equal("bytes read", bytes.len(), usize::from(WRITERS) * ROUNDS * PIPE_BUF)?;
    let whole = bytes.chunks(PIPE_BUF).all(|block| block.iter().all(|byte| *byte == block[0]));
    holds("every block is of one writer", whole)?;
    writers.into_iter().try_for_each(harness::child::Child::succeeds)
}

/// Everything until all writers have closed.
fn read_to_end(reader: &rustix::fd::OwnedFd) -> Result<Vec<u8>, Errno> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 3000];
    loop {
        match read(reader, &mut buffer)? {
            0 => return Ok(bytes),
            count => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

fn backpressure() -> Checked {
    let (reader, writer) = pipe()?;
    let total = 4 * fcntl_getpipe_size(&writer)? + 1;
    let sent: Vec<u8> = (0..=u8::MAX).cycle().take(total).collect();
    let writing = child(|| equal("bytes of one write(2)", write(&writer, &sent)?, total))?;
    drop(writer);
    holds("what was read is what was written", read_to_end(&reader)? == sent)?;
    writing.succeeds()
}

fn packets() -> Checked {
    let (reader, writer) = pipe_with(PipeFlags::DIRECT)?;
    write(&writer, b"first")?;
    write(&writer, b"second")?;
    let mut buffer = [0; 64];
    equal("bytes of the first packet", read(&reader, &mut buffer)?, 5)?;
    equal("bytes of the second that fit", read(&reader, &mut buffer[..3])?, 3)?;
    fcntl_setfl(&reader, OFlags::NONBLOCK)?;
    fails("the rest of the second", read(&reader, &mut buffer), Errno::AGAIN)
}

fn size() -> Checked {
    let (reader, writer) = pipe()?;
    let larger = 2 * fcntl_getpipe_size(&writer)?;
    at_least("size set", fcntl_setpipe_size(&writer, larger - 1)?, larger - 1)?;
    equal("size seen by the reader", fcntl_getpipe_size(&reader)?, fcntl_getpipe_size(&writer)?)?;
    write(&writer, &vec![0; larger])?;
    equal("bytes in the pipe", ioctl_fionread(&reader)?, larger as u64)?;
    fails("a size below what is in it", fcntl_setpipe_size(&writer, larger / 2), Errno::BUSY)?;
    let maximum = std::fs::read_to_string("/proc/sys/fs/pipe-max-size")?;
    let maximum: usize = maximum.trim().parse().unwrap_or_default();
    unprivileged(|| fails("more than the maximum", fcntl_setpipe_size(&writer, maximum + 1), Errno::PERM))?
        .succeeds()
}

fn fifo() -> Checked {
    mknodat(CWD, "fifo", FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    let open_fifo = |flags| open("fifo", flags, Mode::empty());
    fails("writing without a reader", open_fifo(OFlags::WRONLY | OFlags::NONBLOCK), Errno::NXIO)?;
    let writing = child(|| equal("bytes written", write(open_fifo(OFlags::WRONLY)?, b"hello")?, 5))?;
    let reader = open_fifo(OFlags::RDONLY)?;
    equal("what came through", read_to_end(&reader)?, b"hello")?;
    writing.succeeds()
}
