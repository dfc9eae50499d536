//! `aio`, `io-uring`: requests that complete later.

use harness::check::{Checked, equal};
use harness::io_uring::{ENTRIES, Ring, read, write};
use harness::sys::call;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;

use crate::Worker;
use crate::kit::support::supported;
use crate::kit::{content, file};
use crate::stressor::{Class, Need, Setting, Stressor, number};

const REQUESTS: Setting = number("requests", "requests at a time", 1..=1024, 16);

/// Bytes of a request.
const SIZE: usize = 4096;

const QUEUES: Stressor = Stressor {
    classes: &[Class::Io, Class::Os],
    operation: "requests to write, and then to read, submitted together and completed",
    verifies: "each request completes once with all its bytes; what is read is what was written",
    ..Stressor::PLAIN
};

pub(super) const AIO: Stressor = Stressor {
    name: "aio",
    about: "asynchronous input and output: io_submit(2), io_getevents(2)",
    options: &[REQUESTS],
    needs: &[Need::Config("AIO")],
    body: aio,
    ..QUEUES
};

pub(super) const IO_URING: Stressor = Stressor {
    name: "io-uring",
    about: "rings of requests: io_uring(7)",
    needs: &[Need::Config("IO_URING")],
    body: uring,
    ..QUEUES
};

/// `struct iocb` of <linux/aio_abi.h>.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Request {
    data: u64,
    key: u32,
    flags: u32,
    operation: u16,
    priority: i16,
    file: u32,
    buffer: u64,
    size: u64,
    offset: u64,
    reserved: u64,
    more_flags: u32,
    event: u32,
}

/// `struct io_event`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Event {
    data: u64,
    request: u64,
    result: i64,
    more: i64,
}

const READ: u16 = 0;
const WRITE: u16 = 1;

/// A context of io_setup(2); destroyed when dropped.
struct Context(usize);

impl Context {
    fn new(requests: usize) -> Result<Self, Errno> {
        let mut context = 0_usize;
        // SAFETY: the kernel stores a word.
        unsafe { call(libc::SYS_io_setup, [requests, (&raw mut context).addr()])? };
        Ok(Self(context))
    }

    /// Submits all requests, and gives their completions.
    fn run(&self, requests: &mut [Request]) -> Checked<Vec<Event>> {
        let pointers: Vec<usize> = requests.iter_mut().map(|request| (&raw mut *request).addr()).collect();
        let count = pointers.len();
        // SAFETY: requests and their buffers live until all are completed.
        let submitted = unsafe { call(libc::SYS_io_submit, [self.0, count, pointers.as_ptr().addr()])? };
        equal("requests submitted", submitted, count)?;
        let mut events = vec![Event::default(); count];
        let into = events.as_mut_ptr().addr();
        // SAFETY: there is room for as many events.
        let completed = unsafe { call(libc::SYS_io_getevents, [self.0, count, count, into, 0])? };
        equal("requests completed", completed, count)?;
        Ok(events)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made by `new`. It ends with the process at the latest.
        let _ = unsafe { call(libc::SYS_io_destroy, [self.0]) };
    }
}

fn aio(worker: &Worker) -> Checked {
    let (count, mut random) = (worker.size(&REQUESTS), worker.random());
    let (file, context) = (file::create("aio")?, supported("io_setup(2)", Context::new(count))?);
    let mut buffers = vec![[0_u8; SIZE]; count];
    worker.repeat(|| {
        let seed = random.next_u64();
        for operation in [WRITE, READ] {
            for (buffer, number) in buffers.iter_mut().zip(0..) {
                if operation == WRITE {
                    content::fill(buffer, seed, number * SIZE as u64);
                } else {
                    buffer.fill(0);
                }
            }
            let request = |(buffer, number): (&mut [u8; SIZE], u64)| Request {
                data: number,
                operation,
                file: file.as_raw_fd().unsigned_abs(),
                buffer: buffer.as_mut_ptr().addr() as u64,
                size: SIZE as u64,
                offset: number * SIZE as u64,
                ..Request::default()
            };
            let mut requests: Vec<Request> = buffers.iter_mut().zip(0..).map(request).collect();
            let mut events = context.run(&mut requests)?;
            events.sort_unstable_by_key(|event| event.data);
            let found: Vec<(u64, i64)> = events.iter().map(|event| (event.data, event.result)).collect();
            equal(
                "completions",
                found,
                (0..count as u64).map(|number| (number, SIZE as i64)).collect::<Vec<_>>(),
            )?;
        }
        let read = buffers.iter().zip(0..);
        for (buffer, number) in read {
            content::verify("what is read", buffer, seed, number * SIZE as u64)?;
        }
        Ok(())
    })
}

fn uring(worker: &Worker) -> Checked {
    let (mut random, count) = (worker.random(), u64::from(ENTRIES));
    let file = OwnedFd::from(file::create("ring")?);
    let ring = Ring::new()?;
    worker.repeat(|| {
        let seed = random.next_u64();
        let whole: Vec<Vec<u8>> =
            (0..count).map(|number| content::of(SIZE, seed, number * SIZE as u64)).collect();
        let offset = |number: u64| number * SIZE as u64;
        let writes: Vec<_> =
            whole.iter().zip(0..).map(|(bytes, number)| write(&file, offset(number), bytes)).collect();
        let all = vec![Ok(4096); whole.len()];
        equal("results of writes", ring.run(&writes)?, all.clone())?;
        let mut buffers = vec![vec![0; SIZE]; whole.len()];
        let reads: Vec<_> =
            buffers.iter_mut().zip(0..).map(|(buffer, number)| read(&file, offset(number), buffer)).collect();
        equal("results of reads", ring.run(&reads)?, all)?;
        for (buffer, number) in buffers.iter().zip(0..) {
            content::verify("what is read", buffer, seed, offset(number))?;
        }
        Ok(())
    })
}
