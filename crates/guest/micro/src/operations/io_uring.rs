//! Queues of requests: io_uring(7).

use harness::check::{Checked, equal, holds};
use harness::io_uring::{Request, Ring, empty, read};
use protocol::Need;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, pwrite};
use rustix::io_uring::IoringOp;

use super::parts::{PRIVATE, nothing, rest};
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    on_rings("io-uring/setup", "io_uring_setup(2) with 8 entries and the two mappings of a ring", setup),
    on_rings("io-uring/nop", "one IORING_OP_NOP by one io_uring_enter(2)", |meter| nops(meter, 1)),
    on_rings("io-uring/nop-8", "eight IORING_OP_NOP by one io_uring_enter(2)", |meter| nops(meter, 8)),
    on_rings("io-uring/read-zero-4k", "IORING_OP_READ of 4 KiB of /dev/zero", read_zero),
    on_rings("io-uring/read-4k", "IORING_OP_READ of 4 KiB of a file on tmpfs", read_file),
];

const fn on_rings(name: &'static str, about: &'static str, body: fn(&mut Meter) -> Checked) -> Operation {
    Operation::new(name, about, body).needs(&[Need::Config("IO_URING")])
}

fn setup(meter: &mut Meter) -> Checked {
    let nop = [empty(IoringOp::Nop)];
    meter.around(
        nothing,
        |()| Ring::new(),
        |(), ring| {
            ring.enter(ring.put(&nop), 1)?;
            equal("its completion", ring.take(), Some((0, Ok(0))))?;
            drop(ring);
            // The kernel takes it down later.
            rest();
            Ok(())
        },
    )
}

/// Measures requests that one call submits and waits for; each must give `result`.
fn requests(meter: &mut Meter, ring: &Ring, requests: &[Request], result: u32) -> Checked {
    let (count, mut good) = (requests.len() as u32, 0);
    meter.each(|| {
        ring.enter(ring.put(requests), count)?;
        good = 0;
        while let Some((_, done)) = ring.take() {
            good += u32::from(done == Ok(result));
        }
        Ok::<_, Errno>(())
    })?;
    equal("completions as expected", good, count)
}

fn nops(meter: &mut Meter, count: usize) -> Checked {
    requests(meter, &Ring::new()?, &[empty(IoringOp::Nop); 8][..count], 0)
}

fn read_zero(meter: &mut Meter) -> Checked {
    let (zero, mut buffer) = (open(c"/dev/zero", OFlags::RDONLY, Mode::empty())?, vec![b'k'; 4 << 10]);
    let request = read(&zero, 0, &mut buffer);
    requests(meter, &Ring::new()?, &[request], 4 << 10)?;
    holds("it was filled with zeroes", buffer.iter().all(|&byte| byte == 0))
}

pub(super) fn read_file(meter: &mut Meter) -> Checked {
    let file = open(c"file", OFlags::RDWR | OFlags::CREATE, PRIVATE)?;
    pwrite(&file, &[b'k'; 4 << 10], 0)?;
    let mut buffer = vec![0; 4 << 10];
    let request = read(&file, 0, &mut buffer);
    requests(meter, &Ring::new()?, &[request], 4 << 10)?;
    holds("it is what was written", buffer.iter().all(|&byte| byte == b'k'))
}
