//! What the kernel tells in files: proc(5), sysfs(5).

use std::ffi::CStr;

use harness::check::{Checked, holds};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, read, write};

use super::parts::succeeds;
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("proc/self-stat", "open(2), read(2) and close(2) of /proc/self/stat", |meter| {
        file(meter, c"/proc/self/stat", " R ")
    }),
    Operation::new("proc/self-status", "open(2), read(2) and close(2) of /proc/self/status", |meter| {
        file(meter, c"/proc/self/status", "State:\tR")
    }),
    Operation::new("proc/self-maps", "open(2), read(2) and close(2) of /proc/self/maps", |meter| {
        file(meter, c"/proc/self/maps", "r-xp")
    }),
    Operation::new("proc/meminfo", "open(2), read(2) and close(2) of /proc/meminfo", |meter| {
        file(meter, c"/proc/meminfo", "MemTotal:")
    }),
    Operation::new("proc/sysctl-read", "open(2), read(2) and close(2) of /proc/sys/kernel/ostype", |meter| {
        file(meter, c"/proc/sys/kernel/ostype", "Linux\n")
    }),
    Operation::new("proc/comm-write", "open(2), write(2) and close(2) of /proc/self/comm", rename),
    Operation::new(
        "sysfs/read",
        "open(2), read(2) and close(2) of /sys/devices/system/cpu/possible",
        |meter| file(meter, c"/sys/devices/system/cpu/possible", "0"),
    ),
];

/// Measures how a file is read whose first 4 KiB contain `text`.
fn file(meter: &mut Meter, path: &CStr, text: &str) -> Checked {
    let (mut buffer, mut size) = ([0; 4 << 10], 0);
    meter.each(|| {
        size = read(open(path, OFlags::RDONLY, Mode::empty())?, &mut buffer)?;
        Ok::<_, Errno>(())
    })?;
    let content = String::from_utf8_lossy(&buffer[..size]);
    holds(&format!("{content:?} contains {text:?}"), content.contains(text))
}

fn rename(meter: &mut Meter) -> Checked {
    succeeds(meter, || {
        write(open(c"/proc/self/comm", OFlags::WRONLY, Mode::empty())?, b"measured").map(drop)
    })?;
    holds("it has the name", std::fs::read_to_string("/proc/self/comm")? == "measured\n")
}
