//! `loop`, `rawdev`, `rtc`, `kmsg`: other devices.

use std::fs::File;

use harness::check::{Checked, at_least, equal, fails, holds};
use harness::random::Random;
use harness::storage::{Loop, device_size};
use harness::sys::ioctl;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{OFlags, fsync};
use rustix::io::{Errno, pread, pwrite, read};

use crate::Worker;
use crate::kit::memory::Memory;
use crate::kit::support::{supported, supported_unless};
use crate::kit::{content, disk, file};
use crate::stressor::{Class, Need, Setting, Stressor, choice, size};

const ORDER: Setting =
    choice("order", "where reads are", &["all", "sweep", "wiggle", "ends", "random", "burst"]);

const BYTES: Setting = size("bytes", "size of the device", 65536..=64 << 20, 4 << 20);

/// What loop(4) needs.
const LOOPS: &[Need] = &[Need::Module("loop"), Need::Device("/dev/loop-control"), Need::Capability(21)];

const DEVICE: Stressor = Stressor { classes: &[Class::Device, Class::Os], ..Stressor::PLAIN };

pub(super) const LOOP: Stressor = Stressor {
    name: "loop",
    classes: &[Class::Device, Class::Io, Class::Os],
    about: "a file as a block device: loop(4)",
    operation: "a file attached, written through the device, and detached",
    verifies: "the device's size, and that the file has what was written to the device",
    options: &[BYTES],
    needs: LOOPS,
    body: attach,
    ..DEVICE
};

pub(super) const RAWDEV: Stressor = Stressor {
    name: "rawdev",
    classes: &[Class::Device, Class::Io, Class::Os],
    about: "direct reads of a block device in several orders: O_DIRECT of open(2), on a file as a block device",
    operation: "one read of 4096 bytes",
    verifies: "each block has what was written",
    options: &[BYTES, ORDER],
    needs: LOOPS,
    body: read_directly,
    ..DEVICE
};

pub(super) const RTC: Stressor = Stressor {
    name: "rtc",
    about: "the real-time clock, only read: rtc(4)",
    operation: "the time read from device and /proc",
    verifies: "it is a date, and does not go back",
    needs: &[Need::Device("/dev/rtc0")],
    body: clock,
    ..DEVICE
};

pub(super) const KMSG: Stressor = Stressor {
    name: "kmsg",
    about: "the kernel log, read record by record: Documentation/ABI/testing/dev-kmsg",
    operation: "one record",
    verifies: "sequence numbers rise, and a record that does not fit gives EINVAL",
    needs: &[Need::Device("/dev/kmsg")],
    body: log,
    ..DEVICE
};

fn attach(worker: &Worker) -> Checked {
    let (size, mut random) = (worker.size(&BYTES) / 4096 * 4096, worker.random());
    let backing = file::create("disk")?;
    backing.set_len(size as u64)?;
    worker.repeat(|| {
        let (device, seed) = (disk::attach(&backing)?, random.next_u64());
        let outcome = use_device(&device, &backing, size, seed);
        device.detach()?;
        outcome
    })
}

fn use_device(device: &Loop, backing: &File, size: usize, seed: u64) -> Checked {
    equal("the size", device_size(device.device())?, size as u64)?;
    for at in (0..size).step_by(65536) {
        let bytes = content::of(4096, seed, at as u64);
        equal("bytes written", pwrite(device.device(), &bytes, at as u64)?, 4096)?;
    }
    fsync(device.device())?;
    for at in (0..size).step_by(65536) {
        file::verify("the file", backing, seed, at as u64, 4096)?;
    }
    fails("a write behind the end", pwrite(device.device(), b"x", size as u64), Errno::NOSPC)
}

/// Bytes of a direct read.
const BLOCK: usize = 4096;

fn read_directly(worker: &Worker) -> Checked {
    let (blocks, mut random) = (worker.size(&BYTES) / BLOCK, worker.random());
    let (backing, seed) = (file::create("disk")?, random.next_u64());
    for block in 0..blocks {
        file::fill(&backing, seed, (block * BLOCK) as u64, BLOCK)?;
    }
    backing.sync_all()?;
    let attached = disk::attach(&backing)?;
    let device = reopen(attached.device(), OFlags::RDONLY | OFlags::DIRECT)?;
    let mut memory = Memory::private(BLOCK)?;
    let mut order = worker.methods(&ORDER, ORDERS).into_iter().map(|(_, order)| order).cycle();
    let mut next = 0..0;
    let mut place: Order = sweep;
    worker.repeat(|| {
        let step = match next.next() {
            Some(step) => step,
            None => {
                (place, next) = (order.next().copied().unwrap_or(sweep), 1..blocks);
                0
            }
        };
        let offset = (place(step, blocks, &mut random) * BLOCK) as u64;
        equal("bytes read", pread(&device, &mut *memory, offset)?, BLOCK)?;
        content::verify("a block", &memory, seed, offset)
    })?;
    Ok(attached.detach().map(drop)?)
}

/// The block of a step through a device of so many blocks.
type Order = fn(usize, usize, &mut Random) -> usize;

const ORDERS: &[(&str, Order)] = &[
    ("sweep", sweep),
    ("wiggle", |step, blocks, _| (step + step % 2 * 7) % blocks),
    ("ends", |step, blocks, _| if step % 2 == 0 { step / 2 } else { blocks - 1 - step / 2 }),
    ("random", |_, blocks, random| random.below(blocks)),
    ("burst", |step, blocks, _| (step / 16 * 61 + step % 16) % blocks),
];

/// Up to the end.
fn sweep(step: usize, _: usize, _: &mut Random) -> usize {
    step
}

/// The same file, opened with other flags.
fn reopen(file: impl AsFd, flags: OFlags) -> Result<OwnedFd, Errno> {
    let path = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    rustix::fs::open(path, flags | OFlags::CLOEXEC, rustix::fs::Mode::empty())
}

/// `RTC_RD_TIME` of <linux/rtc.h>, which fills nine numbers as `struct tm` has them.
const READ_TIME: u32 = 0x8024_7009;

fn clock(worker: &Worker) -> Checked {
    let mut before = [0; 6];
    worker.repeat(|| {
        // Only one process at a time may have it open.
        let device = match File::open("/dev/rtc0").map_err(|error| Errno::from_io_error(&error)) {
            Err(Some(Errno::BUSY)) => {
                crate::kit::clock::sleep(1_000_000);
                return Ok(());
            }
            Err(error) => return supported("/dev/rtc0", Err(error.unwrap_or(Errno::IO))),
            Ok(device) => device,
        };
        let mut time = [0_i32; 9];
        // SAFETY: the request fills nine numbers.
        let asked = unsafe { ioctl(&device, READ_TIME, (&raw mut time).addr()) };
        supported_unless("RTC_RD_TIME", asked, &[Errno::INVAL])?;
        let [seconds, minutes, hours, day, month, year, ..] = time;
        let is_date = (0..60).contains(&seconds) && (0..60).contains(&minutes) && (0..24).contains(&hours);
        holds("it is a date", is_date && (1..32).contains(&day) && (0..12).contains(&month) && year >= 70)?;
        let now = [year, month, day, hours, minutes, seconds];
        at_least("the time", now, before)?;
        before = now;
        Ok(())
    })
}

fn log(worker: &Worker) -> Checked {
    let open = || {
        supported(
            "/dev/kmsg",
            rustix::fs::open(
                "/dev/kmsg",
                OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC,
                rustix::fs::Mode::empty(),
            ),
        )
    };
    let (mut device, mut last) = (open()?, None);
    let mut buffer = vec![0; 8192];
    worker.repeat(|| {
        let length = match read(&device, &mut buffer[..]) {
            // At the end it begins again. EPIPE: records were overwritten before they were read.
            Err(Errno::AGAIN) => {
                (device, last) = (open()?, None);
                return Ok(());
            }
            Err(Errno::PIPE) => return Ok(()),
            length => length?,
        };
        let text = String::from_utf8_lossy(&buffer[..length]).into_owned();
        // PRIORITY,SEQUENCE,TIME,FLAGS;TEXT
        let sequence: Option<u64> = text.split(',').nth(1).and_then(|number| number.parse().ok());
        holds("a record has a sequence number", sequence.is_some())?;
        holds("sequence numbers rise", sequence > last)?;
        last = sequence;
        let mut tiny = [0; 4];
        match pread(&device, &mut tiny, 0).or_else(|_| read(&device, &mut tiny)) {
            Err(Errno::INVAL | Errno::AGAIN | Errno::PIPE) => Ok(()),
            other => equal("a record that does not fit", other, Err(Errno::INVAL)),
        }
    })
}
