//! `cap`, `seccomp`, `chroot`, `landlock`: rights that are given up.

use std::fs::File;

use harness::check::{Checked, equal, fails, skip};
use harness::seccomp::{install, on_getppid};
use harness::sys::{call, call_for_descriptor, default_action};
use rustix::fd::AsRawFd;
use rustix::io::Errno;
use rustix::process::{chdir, chroot, getppid};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs};

use crate::Worker;
use crate::kit::helper::helper;
use crate::kit::support::supported;
use crate::stressor::{Class, Need, Stressor};

const RIGHTS: Stressor = Stressor { classes: &[Class::Security, Class::Os], ..Stressor::PLAIN };

pub(super) const CAP: Stressor = Stressor {
    name: "cap",
    about: "capabilities read and given up: capabilities(7)",
    operation: "a child that gives up all of its capabilities",
    verifies: "they are gone, cannot be taken back, and the parent keeps its own",
    body: give_up,
    ..RIGHTS
};

pub(super) const SECCOMP: Stressor = Stressor {
    name: "seccomp",
    about: "filters of system calls with all of their actions: seccomp(2)",
    operation: "a child for each action",
    verifies: "the call gives its error, its signal, or its result; a filter cannot be taken away",
    needs: &[Need::Config("SECCOMP_FILTER")],
    body: filters,
    ..RIGHTS
};

pub(super) const CHROOT: Stressor = Stressor {
    name: "chroot",
    about: "children with another root: chroot(2)",
    operation: "a child in a root of its own",
    verifies: "it sees its own files as /, no way leads up, and the parent's root stays",
    needs: &[Need::Capability(18)],
    body: roots,
    ..RIGHTS
};

pub(super) const LANDLOCK: Stressor = Stressor {
    name: "landlock",
    about: "children that may only read below one directory: landlock(7)",
    operation: "a child that restricts itself",
    verifies: "reading there works, writing and everything elsewhere gives EACCES",
    needs: &[Need::Config("SECURITY_LANDLOCK")],
    body: sandbox,
    ..RIGHTS
};

fn give_up(worker: &Worker) -> Checked {
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    worker.repeat(|| {
        let before = capabilities(None)?;
        helper(|| {
            set_capabilities(None, none)?;
            equal("capabilities of the child", capabilities(None)?, none)?;
            if !before.permitted.is_empty() {
                fails("taking them back", set_capabilities(None, before), Errno::PERM)?;
            }
            fails("a new root", chroot("."), Errno::PERM)
        })?
        .succeeds()?;
        equal("capabilities of the parent", capabilities(None)?, before)
    })
}

fn filters(worker: &Worker) -> Checked {
    let error = libc::SECCOMP_RET_ERRNO | Errno::XDEV.raw_os_error().unsigned_abs();
    worker.repeat(|| {
        helper(|| {
            set_no_new_privs(true)?;
            supported("seccomp(2)", install(&mut on_getppid(error), 0))?;
            // SAFETY: takes nothing.
            fails("a call that is filtered", unsafe { call(libc::SYS_getppid, []) }, Errno::XDEV)?;
            supported("a second filter", install(&mut on_getppid(libc::SECCOMP_RET_ALLOW), 0))?;
            // SAFETY: as above. The strictest of all filters counts.
            fails("a call that one filter allows", unsafe { call(libc::SYS_getppid, []) }, Errno::XDEV)
        })?
        .succeeds()?;
        for action in [libc::SECCOMP_RET_TRAP, libc::SECCOMP_RET_KILL_PROCESS] {
            let killed = helper(|| {
                default_action(libc::SIGSYS)?;
                set_no_new_privs(true)?;
                install(&mut on_getppid(action), 0)?;
                let _ = getppid();
                Ok(())
            })?;
            equal("the signal", killed.wait()?.terminating_signal(), Some(libc::SIGSYS))?;
        }
        Ok(())
    })
}

fn roots(worker: &Worker) -> Checked {
    std::fs::create_dir("root")?;
    std::fs::write("root/inside", "")?;
    worker.repeat(|| {
        helper(|| {
            supported("chroot(2)", chroot("root"))?;
            chdir("/")?;
            let names: Vec<_> = std::fs::read_dir("/")?.flatten().map(|entry| entry.file_name()).collect();
            equal("files of the root", names, vec!["inside"])?;
            chdir("../../..")?;
            equal("above the root is the root", File::open("inside").is_ok(), true)?;
            fails("a new root that is a file", chroot("inside"), Errno::NOTDIR)
        })?
        .succeeds()?;
        fails("the child's file in the parent's root", rustix::fs::stat("/inside"), Errno::NOENT)
    })
}

// Calls and rights of <linux/landlock.h>, the same on all architectures.
const CREATE: libc::c_long = 444;
const ADD_RULE: libc::c_long = 445;
const RESTRICT: libc::c_long = 446;
const PATH_BENEATH: usize = 1;
/// All rights of the first version, and those to read files and directories.
const ALL: u64 = (1 << 13) - 1;
const READ: u64 = 1 << 2 | 1 << 3;

/// `struct landlock_path_beneath_attr`.
#[repr(C, packed)]
struct Beneath {
    allowed: u64,
    parent: i32,
}

fn restrict() -> Checked {
    let (handled, directory) = ([ALL], File::open("allowed")?);
    // SAFETY: a structure of one word with its size; makes a new descriptor.
    let rules = unsafe { call_for_descriptor(CREATE, [handled.as_ptr().addr(), 8, 0]) };
    let rules = match rules {
        Err(error @ (Errno::NOSYS | Errno::OPNOTSUPP)) => {
            return skip(&format!("landlock: {}", harness::check::describe(error)));
        }
        rules => rules?,
    };
    let beneath = Beneath { allowed: READ, parent: directory.as_raw_fd() };
    let number = usize::try_from(rules.as_raw_fd()).unwrap_or(usize::MAX);
    // SAFETY: a rule of the kind that is named.
    unsafe { call(ADD_RULE, [number, PATH_BENEATH, (&raw const beneath).addr(), 0])? };
    set_no_new_privs(true)?;
    // SAFETY: takes a descriptor.
    unsafe { call(RESTRICT, [number, 0])? };
    Ok(())
}

fn sandbox(worker: &Worker) -> Checked {
    std::fs::create_dir("allowed")?;
    std::fs::write("allowed/file", "content")?;
    std::fs::write("forbidden", "content")?;
    worker.repeat(|| {
        let status = helper(|| {
            restrict()?;
            equal("reading what is allowed", std::fs::read("allowed/file")?, b"content")?;
            fails("writing there", File::options().write(true).open("allowed/file"), Errno::ACCESS)?;
            fails("a new file there", File::create("allowed/new"), Errno::ACCESS)?;
            fails("reading elsewhere", File::open("forbidden"), Errno::ACCESS)
        })?
        .wait()?;
        equal("the exit status of the child", status.exit_status(), Some(0))?;
        equal("what the parent may read", std::fs::read("forbidden")?, b"content")
    })
}
