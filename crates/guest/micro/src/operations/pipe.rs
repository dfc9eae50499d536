//! Pipes: pipe(7).

use harness::check::{Checked, equal};
use rustix::io::{Errno, read, write};
use rustix::pipe::pipe;

use super::parts::{Ends, round_trip, write_read};
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("pipe/create-close", "pipe(2), and close(2) of both ends", create),
    Operation::new("pipe/write-read-1", "one byte into a pipe and out again, by one process", |meter| {
        by_one_process(meter, 1)
    }),
    Operation::new("pipe/write-read-4k", "4 KiB into a pipe and out again, by one process", |meter| {
        by_one_process(meter, 4 << 10)
    }),
    Operation::new("pipe/write-read-64k", "64 KiB into a pipe and out again, by one process", |meter| {
        by_one_process(meter, 64 << 10)
    }),
    Operation::new("pipe/round-trip", "one byte to another process and one back, by two pipes", between),
];

fn create(meter: &mut Meter) -> Checked {
    let mut last = None;
    meter.each(|| {
        last = Some(pipe()?);
        Ok::<_, Errno>(())
    })?;
    let Some((reader, writer)) = last else { return harness::check::fail("no pipe") };
    equal("bytes written", write(&writer, b"k")?, 1)?;
    equal("bytes read", read(&reader, &mut [0; 2])?, 1)
}

fn by_one_process(meter: &mut Meter, size: usize) -> Checked {
    let (reader, writer) = pipe()?;
    write_read(meter, &writer, &reader, size)
}

fn between(meter: &mut Meter) -> Checked {
    let (question, ask) = pipe()?;
    let (answer, reply) = pipe()?;
    round_trip(meter, Ends { reader: &answer, writer: &ask }, Ends { reader: &question, writer: &reply })
}
