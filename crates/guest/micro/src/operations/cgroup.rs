//! Groups of processes: cgroups(7), version 2.

use std::fs;

use harness::check::{Checked, equal, holds, skip};
use harness::storage::mount;
use protocol::Need;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, mkdir, open, rmdir};
use rustix::io::{Errno, pread, pwrite};
use rustix::mount::MountFlags;

use super::parts::{PRIVATE, gives, long_rest, nothing};
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    on_groups("cgroup/mkdir", "mkdir(2) of a group", |meter| inside(meter, create)),
    on_groups("cgroup/rmdir", "rmdir(2) of a group", |meter| inside(meter, remove)),
    on_groups("cgroup/move", "this process moves to another group by cgroup.procs", |meter| {
        inside(meter, move_process)
    }),
    on_groups("cgroup/move-thread", "this thread moves to another threaded group and back", |meter| {
        inside(meter, move_thread)
    }),
    on_groups("cgroup/read-events", "read(2) of cgroup.events", |meter| inside(meter, read_events)),
];

const fn on_groups(name: &'static str, about: &'static str, body: fn(&mut Meter) -> Checked) -> Operation {
    Operation::new(name, about, body).needs(&[Need::Config("CGROUPS")])
}

const ROOT: &str = "/tmp/groups";
const TOP: &str = "/tmp/groups/kiln";
const A: &str = "/tmp/groups/kiln/a";
const B: &str = "/tmp/groups/kiln/b";

/// Runs `body` with a group and two below it, all empty; afterwards they are gone.
fn inside(meter: &mut Meter, body: fn(&mut Meter) -> Checked) -> Checked {
    if let Err(error) = mount("none", ROOT, "cgroup2", MountFlags::empty(), "") {
        return skip(&format!("cgroup2 cannot be mounted: {}", harness::check::describe(error)));
    }
    let groups = [TOP, A, B];
    groups.iter().try_for_each(|group| mkdir(*group, PRIVATE))?;
    let result = body(meter);
    pwrite(&members(ROOT, "procs")?, b"0", 0)?;
    groups.iter().rev().try_for_each(|group| rmdir(*group))?;
    long_rest();
    result
}

/// The file of a group that lists its processes or threads, and moves them there.
fn members(group: &str, kind: &str) -> Result<OwnedFd, Errno> {
    open(format!("{group}/cgroup.{kind}"), OFlags::RDWR, Mode::empty())
}

fn is_listed_in(group: &str) -> Checked {
    let group = group.strip_prefix(ROOT).unwrap_or_default();
    let own = fs::read_to_string("/proc/self/cgroup")?;
    let in_it = |line: &str| line.starts_with("0::") && line.ends_with(group);
    holds(&format!("{own:?} says {group}"), own.lines().any(in_it))
}

fn create(meter: &mut Meter) -> Checked {
    const NEW: &str = "/tmp/groups/kiln/new";
    meter.around(
        nothing,
        |()| mkdir(NEW, PRIVATE),
        |(), ()| {
            equal("its processes", fs::read_to_string(format!("{NEW}/cgroup.procs"))?, "")?;
            rmdir(NEW)?;
            long_rest();
            Ok(())
        },
    )
}

fn remove(meter: &mut Meter) -> Checked {
    const OLD: &str = "/tmp/groups/kiln/old";
    meter.around(
        || Ok(mkdir(OLD, PRIVATE)?),
        |()| rmdir(OLD),
        |(), ()| {
            holds("it is gone", !fs::exists(OLD)?)?;
            long_rest();
            Ok(())
        },
    )
}

fn move_process(meter: &mut Meter) -> Checked {
    let [a, b] = [members(A, "procs")?, members(B, "procs")?];
    meter.around(
        // The first move waits for a grace period of RCU, which one soon after need not.
        || equal("bytes", pwrite(&a, b"0", 0)?, 1),
        |()| pwrite(&b, b"0", 0),
        |(), _| is_listed_in(B),
    )
}

fn move_thread(meter: &mut Meter) -> Checked {
    for group in [A, B] {
        fs::write(format!("{group}/cgroup.type"), "threaded")?;
    }
    pwrite(&members(TOP, "procs")?, b"0", 0)?;
    let [a, b] = [members(A, "threads")?, members(B, "threads")?];
    pwrite(&b, b"0", 0)?;
    gives(meter, "bytes", (1, 1), || Ok((pwrite(&a, b"0", 0)?, pwrite(&b, b"0", 0)?)))?;
    is_listed_in(B)
}

fn read_events(meter: &mut Meter) -> Checked {
    let (events, mut buffer) = (open(format!("{A}/cgroup.events"), OFlags::RDONLY, Mode::empty())?, [0; 64]);
    pwrite(&members(A, "procs")?, b"0", 0)?;
    let mut size = 0;
    meter.each(|| {
        size = pread(&events, &mut buffer, 0)?;
        Ok::<_, Errno>(())
    })?;
    let text = String::from_utf8_lossy(&buffer[..size]);
    holds(&format!("{text:?} tells of this process"), text.contains("populated 1\n"))
}
