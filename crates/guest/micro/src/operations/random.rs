//! Random numbers: getrandom(2), random(4).

use std::fs::File;

use harness::check::{Checked, holds};
use rustix::io::read;
use rustix::rand::{GetRandomFlags, getrandom};

use super::parts::gives;
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("random/getrandom-8", "getrandom(2) of 8 bytes", |meter| random(meter, 8)),
    Operation::new("random/getrandom-256", "getrandom(2) of 256 bytes", |meter| random(meter, 256)),
    Operation::new("random/urandom-4k", "read(2) of 4 KiB of /dev/urandom", urandom),
];

/// The chance that random bytes are all the same is nothing to reckon with.
fn differ(bytes: &[u8]) -> Checked {
    holds("the bytes differ", bytes.windows(2).any(|pair| pair[0] != pair[1]))
}

fn random(meter: &mut Meter, size: usize) -> Checked {
    let mut bytes = vec![0; size];
    gives(meter, "bytes", size, || getrandom(&mut *bytes, GetRandomFlags::NONBLOCK))?;
    differ(&bytes)
}

fn urandom(meter: &mut Meter) -> Checked {
    let (device, mut bytes) = (File::open("/dev/urandom")?, vec![0; 4 << 10]);
    gives(meter, "bytes", bytes.len(), || read(&device, &mut *bytes))?;
    differ(&bytes)
}
