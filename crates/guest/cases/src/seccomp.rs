//! System call filters: seccomp(2).

use harness::check::{Checked, equal, fails};
use harness::child::{child, exit, unprivileged};
use harness::seccomp::{install, install_with_listener, on_getppid};
use harness::sys::{call, ioctl};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::ioctl::opcode;
use rustix::process::{getpgrp, getppid};
use rustix::thread::{SecureComputingMode, set_no_new_privs, set_secure_computing_mode};

use crate::case::{Case, Need};

const FILTERS: &[Need] = &[Need::Config("SECCOMP_FILTER")];

pub(super) const CASES: &[Case] = &[
    Case::new("seccomp/strict", "strict mode allows read, write and exit and kills for all else", strict)
        .needs(&[Need::Config("SECCOMP")]),
    Case::new("seccomp/errno", "SECCOMP_RET_ERRNO gives the chosen error, also in children", errno)
        .needs(FILTERS),
    Case::new("seccomp/kill", "SECCOMP_RET_KILL_PROCESS ends the process with SIGSYS", kill).needs(FILTERS),
    Case::new(
        "seccomp/strictest-wins",
        "of several filters the action with the highest precedence is taken",
        strictest_wins,
    )
    .needs(FILTERS),
    Case::new(
        "seccomp/refusals",
        "seccomp(2) gives EACCES without no_new_privs and EINVAL for bad filters and flags",
        refusals,
    )
    .needs(FILTERS),
    Case::new(
        "seccomp/notification",
        "SECCOMP_RET_USER_NOTIF lets another process answer a system call",
        notification,
    )
    .needs(FILTERS),
];

/// getppid(2) with the error that only a filter can give it.
fn raw_getppid() -> Result<usize, Errno> {
    // SAFETY: the call has no arguments.
    unsafe { call(libc::SYS_getppid, []) }
}

fn strict() -> Checked {
    let (reader, writer) = rustix::pipe::pipe()?;
    let obedient = child(|| {
        set_secure_computing_mode(SecureComputingMode::Strict)?;
        rustix::io::write(&writer, b"allowed")?;
        // SAFETY: ends this process; libc's _exit would make the forbidden exit_group(2).
        unsafe { call(libc::SYS_exit, [3])? };
        Ok(())
    })?;
    equal("exit status", obedient.wait()?.exit_status(), Some(3))?;
    equal("bytes written in strict mode", rustix::io::read(&reader, &mut [0; 16])?, 7)?;
    let disobedient = child(|| {
        set_secure_computing_mode(SecureComputingMode::Strict)?;
        let _ = getppid();
        Ok(())
    })?;
    equal("signal after getppid", disobedient.wait()?.terminating_signal(), Some(libc::SIGKILL))
}

fn errno() -> Checked {
    set_no_new_privs(true)?;
    install(&mut on_getppid(libc::SECCOMP_RET_ERRNO | libc::EDOM.unsigned_abs()), 0)?;
    fails("getppid", raw_getppid(), Errno::DOM)?;
    equal("process group", getpgrp(), rustix::process::getpgid(None)?)?;
    child(|| fails("getppid in the child", raw_getppid(), Errno::DOM))?.succeeds()
}

fn kill() -> Checked {
    let killed = child(|| {
        install(&mut on_getppid(libc::SECCOMP_RET_KILL_PROCESS), 0)?;
        let _ = getppid();
        exit(0)
    })?;
    equal("signal", killed.wait()?.terminating_signal(), Some(libc::SIGSYS))
}

fn strictest_wins() -> Checked {
    for error in [Errno::DOM, Errno::RANGE] {
        install(&mut on_getppid(libc::SECCOMP_RET_ERRNO | error.raw_os_error().unsigned_abs()), 0)?;
        fails("getppid: the newest filter of equals", raw_getppid(), error)?;
    }
    install(&mut on_getppid(libc::SECCOMP_RET_ALLOW), 0)?;
    fails("getppid: ERRNO before ALLOW", raw_getppid(), Errno::RANGE)
}

fn refusals() -> Checked {
    let allow = || on_getppid(libc::SECCOMP_RET_ALLOW);
    unprivileged(|| {
        fails("a filter without no_new_privs", install(&mut allow(), 0), Errno::ACCESS)?;
        set_no_new_privs(true)?;
        equal("a filter with no_new_privs", install(&mut allow(), 0)?, 0)?;
        fails("no_new_privs switched off", set_no_new_privs(false), Errno::INVAL)
    })?
    .succeeds()?;
    fails("an empty filter", install(&mut [], 0), Errno::INVAL)?;
    fails("a filter without return", install(&mut allow()[..2], 0), Errno::INVAL)?;
    fails("an unknown flag", install(&mut allow(), 1 << 31), Errno::INVAL)
}

fn notification() -> Checked {
    const ANSWER: i64 = 4711;
    let listener = install_with_listener(&mut on_getppid(libc::SECCOMP_RET_USER_NOTIF))?;
    let caller = child(|| {
        equal("answer to getppid", raw_getppid()?, ANSWER as usize)?;
        fails("refused getppid", raw_getppid(), Errno::DOM)
    })?;
    for (val, error) in [(ANSWER, 0), (0, -libc::EDOM)] {
        let id = receive(&listener, caller.pid())?;
        let answer = libc::seccomp_notif_resp { id, val, error, flags: 0 };
        let stray = libc::seccomp_notif_resp { id: !id, ..answer };
        fails("an answer to no call", respond(&listener, stray), Errno::NOENT)?;
        respond(&listener, answer)?;
    }
    caller.succeeds()
}

/// Waits for a call by `caller` and gives the number of its notification.
fn receive(listener: &OwnedFd, caller: rustix::process::Pid) -> Checked<u64> {
    // SAFETY: all zeroes is a valid value, and the one that the kernel asks for.
    let mut notice: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    let request = opcode::read_write::<libc::seccomp_notif>(b'!', 0);
    // SAFETY: the request fills a `seccomp_notif`.
    unsafe { ioctl(listener, request, (&raw mut notice).addr())? };
    equal("process that called", notice.pid, caller.as_raw_pid().unsigned_abs())?;
    equal("call", i64::from(notice.data.nr), libc::SYS_getppid)?;
    Ok(notice.id)
}

fn respond(listener: &OwnedFd, answer: libc::seccomp_notif_resp) -> Result<usize, Errno> {
    let request = opcode::read_write::<libc::seccomp_notif_resp>(b'!', 1);
    // SAFETY: the request reads a `seccomp_notif_resp`.
    unsafe { ioctl(listener, request, (&raw const answer).addr()) }
}
