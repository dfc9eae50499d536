//! Queues of requests: io_uring(7).

use std::time::{Duration, Instant};

use harness::check::{Checked, at_least, equal, fails};
use harness::io_uring::{ENTRIES, Request, Ring, empty, read, request, write};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::io_uring::{
    IoringEnterFlags, IoringOp, IoringRegisterOp, IoringSetupFlags, IoringSqeFlags, io_uring_enter,
    io_uring_params, io_uring_register, io_uring_setup, iovec,
};
use rustix::pipe::pipe;

use crate::case::{Case, Need};

const IO_URING: &[Need] = &[Need::Config("IO_URING")];

pub(super) const CASES: &[Case] = &[
    Case::new("io-uring/nop", "every request is completed once, with the user data it was given", nop)
        .needs(IO_URING),
    Case::new("io-uring/read-write", "IORING_OP_WRITE and IORING_OP_READ at offsets of a file", read_write)
        .needs(IO_URING),
    Case::new("io-uring/linked", "IOSQE_IO_LINK: after a failure the rest of the chain is cancelled", linked)
        .needs(IO_URING),
    Case::new("io-uring/timeout", "IORING_OP_TIMEOUT ends with ETIME, not before its time", timeout)
        .needs(IO_URING),
    Case::new(
        "io-uring/cancel",
        "IORING_OP_ASYNC_CANCEL ends a poll that waits, ENOENT if there is none",
        cancel,
    )
    .needs(IO_URING),
    Case::new("io-uring/registered-buffers", "reads and writes with buffers of io_uring_register(2)", fixed)
        .needs(IO_URING),
    Case::new(
        "io-uring/refusals",
        "bad sizes, flags, operations and descriptors give their errors",
        refusals,
    )
    .needs(IO_URING),
];

fn new_file() -> Result<OwnedFd, Errno> {
    open("file", OFlags::RDWR | OFlags::CREATE, Mode::RUSR | Mode::WUSR)
}

fn nop() -> Checked {
    let ring = Ring::new()?;
    for _ in 0..3 {
        ring.submit(&[empty(IoringOp::Nop); ENTRIES as usize])?;
        let mut completions = ring.complete(ENTRIES)?;
        completions.sort_unstable_by_key(|(number, _)| *number);
        let expected: Vec<_> = (0..u64::from(ENTRIES)).map(|number| (number, Ok(0))).collect();
        equal("completions", completions, expected)?;
    }
    Ok(())
}

fn read_write() -> Checked {
    let (ring, file) = (Ring::new()?, new_file()?);
    equal("write at 3", ring.run(&[write(&file, 3, b"written")])?, [Ok(7)])?;
    let mut buffer = [0xff; 16];
    equal("read at 0", ring.run(&[read(&file, 0, &mut buffer)])?, [Ok(10)])?;
    equal("bytes read", &buffer[..10], b"\0\0\0written")?;
    equal("read at the end", ring.run(&[read(&file, 10, &mut buffer)])?, [Ok(0)])?;
    let nowhere = request(IoringOp::Read, file.as_raw_fd(), 0, std::ptr::without_provenance(8), 4);
    equal("read into no memory", ring.run(&[nowhere])?, [Err(Errno::FAULT)])?;
    let closed = request(IoringOp::Read, 1000, 0, buffer.as_mut_ptr(), 4);
    equal("read of no file", ring.run(&[closed])?, [Err(Errno::BADF)])
}

fn linked() -> Checked {
    let (ring, file) = (Ring::new()?, new_file()?);
    let link = |mut request: Request| {
        request.flags |= IoringSqeFlags::IO_LINK.bits();
        request
    };
    let mut buffer = [0; 8];
    let chain = [link(write(&file, 0, b"in order")), read(&file, 0, &mut buffer)];
    equal("write, then read", ring.run(&chain)?, [Ok(8), Ok(8)])?;
    equal("bytes read", &buffer, b"in order")?;
    let bad = request(IoringOp::Read, 1000, 0, buffer.as_mut_ptr(), 8);
    let chain = [link(bad), link(write(&file, 0, b"too late")), empty(IoringOp::Nop), empty(IoringOp::Nop)];
    let cancelled = Err(Errno::CANCELED);
    equal("a broken chain", ring.run(&chain)?, [Err(Errno::BADF), cancelled, cancelled, Ok(0)])?;
    ring.run(&[read(&file, 0, &mut buffer)])?;
    equal("file after the broken chain", &buffer, b"in order")
}

fn timeout() -> Checked {
    let ring = Ring::new()?;
    let time = libc::timespec { tv_sec: 0, tv_nsec: 3_000_000 };
    let wait = request(IoringOp::Timeout, -1, 0, (&raw const time).cast(), 1);
    let start = Instant::now();
    equal("timeout", ring.run(&[wait])?, [Err(Errno::TIME)])?;
    at_least("time that it lasted", start.elapsed(), Duration::from_millis(3))?;
    let flagged = Request { operation_flags: 1 << 31, ..wait };
    equal("unknown flags", ring.run(&[flagged])?, [Err(Errno::INVAL)])?;
    let two = Request { length: 2, ..wait };
    equal("two times at once", ring.run(&[two])?, [Err(Errno::INVAL)])
}

fn cancel() -> Checked {
    let ring = Ring::new()?;
    let (reader, _writer) = pipe()?;
    let file = reader.as_raw_fd();
    let poll = request(IoringOp::PollAdd, file, 0, std::ptr::null(), 0);
    ring.submit(&[Request { operation_flags: u32::from(libc::POLLIN.cast_unsigned()), ..poll }])?;
    let number_of_the_poll = std::ptr::null();
    let cancel = request(IoringOp::AsyncCancel, -1, 0, number_of_the_poll, 0);
    ring.submit(&[empty(IoringOp::Nop), cancel])?;
    let mut completions = ring.complete(3)?;
    completions.sort_unstable_by_key(|(number, result)| (*number, result.is_ok()));
    let expected = [(0, Err(Errno::CANCELED)), (0, Ok(0)), (1, Ok(0))];
    equal("the poll, a nop, the cancel", completions, expected)?;
    equal("cancel of nothing", ring.run(&[cancel])?, [Err(Errno::NOENT)])
}

fn fixed() -> Checked {
    let (ring, file) = (Ring::new()?, new_file()?);
    let mut buffer = *b"registered";
    let address = buffer.as_mut_ptr();
    let vector = iovec { iov_base: address.cast(), iov_len: buffer.len() };
    let fd = file.as_raw_fd();
    let change = |operation, count| {
        // SAFETY: the vector names the buffer, which outlives the ring's use of it.
        unsafe { io_uring_register(ring.descriptor(), operation, (&raw const vector).cast(), count) }
    };
    let transfer = |operation, length| ring.run(&[request(operation, fd, 0, address, length)]);
    equal("write before registering", transfer(IoringOp::WriteFixed, 10)?, [Err(Errno::FAULT)])?;
    change(IoringRegisterOp::RegisterBuffers, 1)?;
    fails("register again", change(IoringRegisterOp::RegisterBuffers, 1), Errno::BUSY)?;
    equal("write", transfer(IoringOp::WriteFixed, 10)?, [Ok(10)])?;
    rustix::io::pwrite(&file, b"R", 0)?;
    equal("read", transfer(IoringOp::ReadFixed, 10)?, [Ok(10)])?;
    equal("bytes read", &buffer, b"Registered")?;
    equal("more than was registered", transfer(IoringOp::ReadFixed, 11)?, [Err(Errno::FAULT)])?;
    // SAFETY: unregistering takes no memory.
    let unregister = || unsafe {
        io_uring_register(ring.descriptor(), IoringRegisterOp::UnregisterBuffers, std::ptr::null(), 0)
    };
    unregister()?;
    fails("unregister again", unregister(), Errno::NXIO)
}

fn refusals() -> Checked {
    let ring = Ring::new()?;
    let setup = |entries, flags| {
        let mut parameters = io_uring_params::default();
        parameters.flags = flags;
        // SAFETY: the parameters ask for nothing with addresses.
        unsafe { io_uring_setup(entries, &mut parameters) }
    };
    fails("no entries", setup(0, IoringSetupFlags::empty()), Errno::INVAL)?;
    fails("too many entries", setup(1 << 20, IoringSetupFlags::empty()), Errno::INVAL)?;
    fails("unknown flags", setup(8, IoringSetupFlags::from_bits_retain(1 << 31)), Errno::INVAL)?;
    let unknown = Request { operation: 0xff, ..Request::default() };
    equal("an unknown operation", ring.run(&[unknown])?, [Err(Errno::INVAL)])?;
    let flagged = Request { flags: 0x80, ..empty(IoringOp::Nop) };
    equal("an unknown flag of a request", ring.run(&[flagged])?, [Err(Errno::INVAL)])?;
    // SAFETY: nothing is submitted.
    let enter = |fd: &OwnedFd, flags| unsafe { io_uring_enter(fd, 0, 0, flags) };
    let (reader, _writer) = pipe()?;
    fails("enter on a pipe", enter(&reader, IoringEnterFlags::empty()), Errno::OPNOTSUPP)?;
    let unknown = IoringEnterFlags::from_bits_retain(1 << 30);
    fails("unknown flags of enter", enter(ring.descriptor(), unknown), Errno::INVAL)
}
