//! Namespaces: namespaces(7), unshare(2), setns(2).

use std::fs::{self, File};
use std::os::fd::AsFd;

use harness::check::{Checked, equal, holds};
use harness::child::child;
use harness::sys::unshare;
use protocol::Need;
use rustix::io::{read, write};
use rustix::pipe::pipe;
use rustix::process::{Pid, getpid};
use rustix::thread::{UnshareFlags, move_into_link_name_space};

use super::parts::{long_rest, nothing, rest, wait_for_sleep};
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("namespace/uts", "unshare(2) CLONE_NEWUTS: a new name of the machine", |meter| {
        new(meter, "uts", UnshareFlags::NEWUTS, rest)
    })
    .needs(&[Need::Config("UTS_NS")]),
    Operation::new(
        "namespace/ipc",
        "unshare(2) CLONE_NEWIPC: queues, semaphores and shared memory",
        |meter| new(meter, "ipc", UnshareFlags::NEWIPC, long_rest),
    )
    .needs(&[Need::Config("IPC_NS")]),
    Operation::new("namespace/mount", "unshare(2) CLONE_NEWNS: a copy of all mounts", |meter| {
        new(meter, "mnt", UnshareFlags::NEWNS, rest)
    })
    .needs(&[Need::Config("NAMESPACES")]),
    Operation::new("namespace/net", "unshare(2) CLONE_NEWNET: a network with nothing but lo", |meter| {
        new(meter, "net", UnshareFlags::NEWNET, long_rest)
    })
    .needs(&[Need::Config("NET_NS")]),
    Operation::new("namespace/time", "unshare(2) CLONE_NEWTIME: clocks for children", |meter| {
        new(meter, "time_for_children", UnshareFlags::NEWTIME, rest)
    })
    .needs(&[Need::Config("TIME_NS")]),
    Operation::new("namespace/cgroup", "unshare(2) CLONE_NEWCGROUP: another root of groups", |meter| {
        new(meter, "cgroup", UnshareFlags::NEWCGROUP, rest)
    })
    .needs(&[Need::Config("CGROUPS")]),
    Operation::new("namespace/pid", "unshare(2) CLONE_NEWPID: process ids for children", pid)
        .needs(&[Need::Config("PID_NS")]),
    Operation::new(
        "namespace/user",
        "unshare(2) CLONE_NEWUSER by another process, asked and answering by pipes",
        user,
    )
    .needs(&[Need::Config("USER_NS")]),
    Operation::new("namespace/setns", "setns(2) to another UTS namespace and back", enter)
        .needs(&[Need::Config("UTS_NS")]),
];

fn path_of(kind: &str) -> String {
    format!("/proc/self/ns/{kind}")
}

/// Which namespace of a kind this process has.
fn identity(kind: &str) -> Checked<std::path::PathBuf> {
    Ok(fs::read_link(path_of(kind))?)
}

/// Measures how a new namespace is made. Each time the old one is entered again, with which the new one ends, and
/// `settle` lets the kernel take it down.
fn new(meter: &mut Meter, kind: &str, flag: UnshareFlags, settle: fn()) -> Checked {
    let (old, old_identity) = (File::open(path_of(kind))?, identity(kind)?);
    meter.around(
        nothing,
        |()| unshare(flag),
        |(), ()| {
            holds("it is another namespace", identity(kind)? != old_identity)?;
            move_into_link_name_space(old.as_fd(), None)?;
            settle();
            Ok(())
        },
    )
}

/// As [`new`], but such a namespace has no identity before its first process.
fn pid(meter: &mut Meter) -> Checked {
    let old = File::open(path_of("pid"))?;
    meter.around(
        nothing,
        |()| unshare(UnshareFlags::NEWPID),
        |(), ()| {
            child(|| equal("id of the first process", getpid(), Pid::INIT))?.succeeds()?;
            move_into_link_name_space(old.as_fd(), None)?;
            rest();
            Ok(())
        },
    )
}

/// Who is in a new user namespace never comes back, so that it must be another process each time.
fn user(meter: &mut Meter) -> Checked {
    meter.around(
        || {
            let ((question, ask), (answer, reply)) = (pipe()?, pipe()?);
            let other = child(|| {
                let before = identity("user")?;
                read(&question, &mut [0])?;
                unshare(UnshareFlags::NEWUSER)?;
                write(&reply, b"k")?;
                read(&question, &mut [0])?;
                holds("it is another namespace", identity("user")? != before)
            })?;
            wait_for_sleep(&other)?;
            Ok((other, ask, answer))
        },
        |(_, ask, answer)| {
            write(ask, b"k")?;
            read(answer, &mut [0])
        },
        |(other, ask, _), answers| {
            equal("answers", answers, 1)?;
            write(&ask, b"k")?;
            other.succeeds()
        },
    )
}

fn enter(meter: &mut Meter) -> Checked {
    let (old, old_identity) = (File::open(path_of("uts"))?, identity("uts")?);
    unshare(UnshareFlags::NEWUTS)?;
    let new = File::open(path_of("uts"))?;
    holds("it is another namespace", identity("uts")? != old_identity)?;
    meter.each(|| {
        move_into_link_name_space(new.as_fd(), None)?;
        move_into_link_name_space(old.as_fd(), None)
    })?;
    equal("the namespace", identity("uts")?, old_identity)
}
