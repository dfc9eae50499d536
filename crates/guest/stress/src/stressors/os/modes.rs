//! `personality`, `prctl`, `ptrace`: how a process behaves, and who looks on.

use harness::check::{Checked, equal, fails, holds};
use harness::child::{child, exit, last_error};
use harness::sys::succeeded;
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Signal, WaitOptions, child_subreaper, dumpable_behavior, getpid, kill_process,
    parent_process_death_signal, set_child_subreaper, set_dumpable_behavior, set_parent_process_death_signal,
};
use rustix::thread::{
    current_timer_slack, get_keep_capabilities, name, no_new_privs, set_current_timer_slack,
    set_keep_capabilities, set_name, set_no_new_privs,
};

use crate::Worker;
use crate::kit::helper::helper;
use crate::kit::support::supported;
use crate::stressor::{Class, Stressor};

const MODES: Stressor = Stressor { classes: &[Class::Os], ..Stressor::PLAIN };

pub(super) const PERSONALITY: Stressor = Stressor {
    name: "personality",
    about: "the execution domain of a process: personality(2)",
    operation: "a child with one personality",
    verifies: "the personality is read back; UNAME26 changes the release, READ_IMPLIES_EXEC the mappings",
    body: personality,
    ..MODES
};

pub(super) const PRCTL: Stressor = Stressor {
    name: "prctl",
    about: "properties of a process: prctl(2)",
    operation: "a child that sets all of them",
    verifies: "what is set is what is read; what cannot be undone is not",
    body: properties,
    ..MODES
};

pub(super) const PTRACE: Stressor = Stressor {
    name: "ptrace",
    about: "a child whose system calls are stopped and whose memory is read and changed: ptrace(2)",
    operation: "a child traced from its first stop to its end",
    verifies: "the calls come in their order, and the child sees what was changed",
    body: trace,
    ..MODES
};

/// The personality, or an attempt to change it.
fn domain(value: libc::c_ulong) -> Result<libc::c_int, Errno> {
    // SAFETY: takes a number.
    let before = unsafe { libc::personality(value) };
    succeeded(before).map(|()| before)
}

fn personality(worker: &Worker) -> Checked {
    const ASK: libc::c_ulong = 0xffff_ffff;
    let before = domain(ASK)?;
    let flags = [
        libc::ADDR_NO_RANDOMIZE,
        libc::MMAP_PAGE_ZERO,
        libc::ADDR_COMPAT_LAYOUT,
        libc::READ_IMPLIES_EXEC,
        libc::UNAME26,
        libc::STICKY_TIMEOUTS,
        libc::WHOLE_SECONDS,
        libc::SHORT_INODE,
    ];
    let mut next = flags.iter().cycle();
    worker.repeat(|| {
        let flag = next.next().copied().unwrap_or(0);
        helper(|| {
            supported("personality(2)", domain(libc::c_ulong::from(flag.unsigned_abs())))?;
            equal("the personality", domain(ASK)? & flag, flag)?;
            if flag == libc::UNAME26 {
                holds(
                    "the release is one of 2.6",
                    rustix::system::uname().release().to_bytes().starts_with(b"2.6."),
                )?;
            }
            if flag == libc::READ_IMPLIES_EXEC {
                let memory = crate::kit::memory::Memory::private(4096)?;
                let line = format!("{:x}-", memory.area().start.addr());
                let maps = std::fs::read_to_string("/proc/self/maps")?;
                let mapping = maps.lines().find(|found| found.trim_start_matches('0').starts_with(&line));
                holds(
                    "what can be read can be executed",
                    mapping.is_none_or(|mapping| mapping.contains("rwxp")),
                )?;
            }
            Ok(())
        })?
        .succeeds()?;
        equal("the personality of the parent", domain(ASK)?, before)
    })
}

fn properties(worker: &Worker) -> Checked {
    worker.repeat(|| {
        child(|| {
            set_name(c"stressed")?;
            equal("name", name()?.as_c_str(), c"stressed")?;
            for signal in [Some(Signal::TERM), None, Some(Signal::KILL)] {
                set_parent_process_death_signal(signal)?;
                equal("signal at the parent's death", parent_process_death_signal()?, signal)?;
            }
            for behavior in [DumpableBehavior::NotDumpable, DumpableBehavior::Dumpable] {
                set_dumpable_behavior(behavior)?;
                holds("dumpable", dumpable_behavior()? == behavior)?;
            }
            for keeps in [true, false] {
                set_keep_capabilities(keeps)?;
                equal("capabilities are kept", get_keep_capabilities()?, keeps)?;
            }
            for slack in [1, 50_000, 1_000_000] {
                set_current_timer_slack(std::num::NonZeroU64::new(slack))?;
                equal("timer slack", current_timer_slack()?, slack)?;
            }
            set_child_subreaper(Some(getpid()))?;
            holds("it takes in orphans", child_subreaper()?.is_some())?;
            set_no_new_privs(true)?;
            holds("no new privileges", no_new_privs()?)?;
            fails("taking that back", set_no_new_privs(false), Errno::INVAL)
        })?
        .succeeds()
    })
}

/// ptrace(2) with two numbers.
fn request(
    what: libc::c_uint,
    child: &harness::child::Child,
    address: usize,
    data: usize,
) -> Result<libc::c_long, Errno> {
    let pointer = std::ptr::without_provenance_mut::<libc::c_void>;
    // SAFETY: the addresses are of the child, or of memory that the caller keeps.
    let result = unsafe { libc::ptrace(what, child.pid().as_raw_pid(), pointer(address), pointer(data)) };
    // Any value may be what was read: requests that read use the system call's own way below.
    if result == -1 && what != libc::PTRACE_PEEKDATA { Err(last_error()) } else { Ok(result) }
}

/// What the tracer puts in the place of the child's number.
const CHANGED: usize = 0x5eed;

fn trace(worker: &Worker) -> Checked {
    worker.repeat(|| {
        let number = std::sync::atomic::AtomicUsize::new(7);
        let traced = helper(|| {
            // SAFETY: asks to be traced.
            let asked = unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) };
            supported("ptrace(2)", succeeded(asked as libc::c_int))?;
            kill_process(getpid(), Signal::STOP)?;
            let _ = rustix::process::getuid();
            exit(if number.load(std::sync::atomic::Ordering::Relaxed) == CHANGED { 6 } else { 1 })
        })?;
        if traced.watch(WaitOptions::UNTRACED)?.stopping_signal() != Some(libc::SIGSTOP) {
            return harness::check::skip("ptrace(2) is not allowed here");
        }
        let place = number.as_ptr().addr();
        equal("the number of the child", request(libc::PTRACE_PEEKDATA, &traced, place, 0)?, 7)?;
        request(libc::PTRACE_POKEDATA, &traced, place, CHANGED)?;
        request(libc::PTRACE_SETOPTIONS, &traced, 0, libc::PTRACE_O_TRACESYSGOOD as usize)?;
        let mut calls = Vec::new();
        loop {
            request(libc::PTRACE_SYSCALL, &traced, 0, 0)?;
            let status = traced.watch(WaitOptions::UNTRACED)?;
            if status.stopping_signal() != Some(libc::SIGTRAP | 0x80) {
                equal("how it ended", status.exit_status(), Some(6))?;
                break;
            }
            // SAFETY: all zeroes is a valid value, and the kernel fills it.
            let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
            request(libc::PTRACE_GETREGS, &traced, 0, (&raw mut registers).addr())?;
            calls.push(registers.orig_rax.cast_signed());
        }
        // It was taken in by the watch above.
        std::mem::forget(traced);
        calls.dedup();
        let known = [libc::SYS_getuid, libc::SYS_exit_group];
        calls.retain(|call| known.contains(call));
        equal("the calls of the child", calls, known.to_vec())
    })
}
