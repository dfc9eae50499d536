//! `null`, `zero`, `full`, `urandom`, `dev-shm`: devices that are not there.

use std::fs::File;

use harness::check::{Checked, equal, fails, holds};
use rustix::fs::{OFlags, SeekFrom, seek};
use rustix::io::{Errno, pread, pwrite, read, write};
use rustix::mm::{MapFlags, ProtFlags};

use crate::Worker;
use crate::kit::memory::{Memory, pages};
use crate::kit::support::supported;
use crate::kit::{content, file};
use crate::stressor::{Class, Need, Setting, Stressor, size};

const BYTES: Setting = size("bytes", "bytes at a time", 4096..=1 << 20, 65536);
const SHARED: Setting = size("bytes", "size of the file", 65536..=64 << 20, 4 << 20);

const DEVICE: Stressor =
    Stressor { classes: &[Class::Device, Class::Memory, Class::Os], options: &[BYTES], ..Stressor::PLAIN };

pub(super) const NULL: Stressor = Stressor {
    name: "null",
    about: "writes that go nowhere: null(4)",
    operation: "a write and a read",
    verifies: "all bytes are taken, and none is given",
    needs: &[Need::Device("/dev/null")],
    body: null,
    ..DEVICE
};

pub(super) const ZERO: Stressor = Stressor {
    name: "zero",
    about: "reads and mappings of zeroes: zero(4)",
    operation: "a read, and a private mapping",
    verifies: "all bytes are 0, and writes to a mapping stay in it",
    needs: &[Need::Device("/dev/zero")],
    body: zero,
    ..DEVICE
};

pub(super) const FULL: Stressor = Stressor {
    name: "full",
    about: "a device that is always full: full(4)",
    operation: "a write, a read and a seek",
    verifies: "ENOSPC for each write, zeroes for each read, and success for each seek",
    needs: &[Need::Device("/dev/full")],
    body: full,
    ..DEVICE
};

pub(super) const URANDOM: Stressor = Stressor {
    name: "urandom",
    classes: &[Class::Device, Class::Security, Class::Os],
    about: "random bytes of a device: urandom(4)",
    operation: "one read",
    verifies: "no block comes twice, and ones and zeroes are about as many",
    needs: &[Need::Device("/dev/urandom")],
    body: urandom,
    ..DEVICE
};

pub(super) const DEV_SHM: Stressor = Stressor {
    name: "dev-shm",
    about: "a file in memory that is filled, mapped and truncated: /dev/shm",
    operation: "all of the file filled and verified",
    verifies: "the content through the file and through the mapping",
    options: &[SHARED],
    needs: &[Need::Device("/dev/shm")],
    body: dev_shm,
    ..DEVICE
};

fn null(worker: &Worker) -> Checked {
    let (device, mut bytes) = (file::open("/dev/null", OFlags::empty())?, vec![7; worker.size(&BYTES)]);
    worker.repeat(|| {
        equal("bytes taken", write(&device, &bytes)?, bytes.len())?;
        equal("bytes given", read(&device, &mut bytes[..])?, 0)
    })
}

fn zero(worker: &Worker) -> Checked {
    let (device, mut bytes) = (file::open("/dev/zero", OFlags::empty())?, vec![0; worker.size(&BYTES)]);
    worker.repeat(|| {
        bytes.fill(7);
        equal("bytes given", read(&device, &mut bytes[..])?, bytes.len())?;
        equal("bytes that are not 0", content::nonzero(&bytes), 0)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let mut memory = Memory::with(&device, bytes.len(), access, MapFlags::PRIVATE)?;
        equal("mapped bytes that are not 0", content::nonzero(&memory), 0)?;
        memory.fill(7);
        equal("mapped bytes that were written", content::nonzero(&memory), bytes.len())
    })
}

fn full(worker: &Worker) -> Checked {
    let (device, mut bytes) = (file::open("/dev/full", OFlags::empty())?, vec![7; worker.size(&BYTES)]);
    let mut random = worker.random();
    worker.repeat(|| {
        fails("a write", write(&device, &bytes), Errno::NOSPC)?;
        bytes.fill(7);
        equal("bytes given", read(&device, &mut bytes[..])?, bytes.len())?;
        equal("bytes that are not 0", content::nonzero(&bytes), 0)?;
        let place = random.next_u64() >> 1;
        for to in [SeekFrom::Start(place), SeekFrom::End(0), SeekFrom::Current(1)] {
            seek(&device, to)?;
        }
        Ok(())
    })
}

fn urandom(worker: &Worker) -> Checked {
    let device = File::open("/dev/urandom")?;
    let (mut bytes, mut last) = (vec![0; worker.size(&BYTES)], [0; 16]);
    worker.repeat(|| {
        equal("bytes given", read(&device, &mut bytes[..])?, bytes.len())?;
        holds("another block than before", bytes[..16] != last)?;
        last.copy_from_slice(&bytes[..16]);
        let ones: u64 = bytes.iter().map(|byte| u64::from(byte.count_ones())).sum();
        // Twelve deviations: this does not happen by chance.
        let (bits, half) = (bytes.len() as f64 * 8.0, bytes.len() as f64 * 4.0);
        holds("ones are about half of all bits", (ones as f64 - half).abs() <= 6.0 * bits.sqrt())
    })
}

fn dev_shm(worker: &Worker) -> Checked {
    let (size, mut random) = (pages(worker.size(&SHARED)) * rustix::param::page_size(), worker.random());
    // Without a name, so that nothing stays whatever happens.
    let shared = supported("/dev/shm", file::open("/dev/shm", OFlags::TMPFILE))?;
    worker.repeat(|| {
        let seed = random.next_u64();
        rustix::fs::ftruncate(&shared, size as u64)?;
        let mut memory = Memory::of(&shared, size)?;
        content::fill(&mut memory[..size / 2], seed, 0);
        let half = content::of(size - size / 2, seed, (size / 2) as u64);
        equal("bytes written", pwrite(&shared, &half, (size / 2) as u64)?, half.len())?;
        content::verify("the mapping", &memory, seed, 0)?;
        let mut bytes = vec![0; size / 2];
        equal("bytes read", pread(&shared, &mut bytes[..], 0)?, size / 2)?;
        content::verify("the file", &bytes, seed, 0)?;
        Ok(rustix::fs::ftruncate(&shared, 0)?)
    })
}
