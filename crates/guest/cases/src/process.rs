//! Processes: fork(2), wait(2), pidfd_open(2), setsid(2), credentials(7).

use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use harness::check::{Checked, equal, fails, holds};
use harness::child::{NOBODY, child, conclude, exit, fork, pause_forever, shared_word, unprivileged};
use harness::sys;
use harness::waiting::until;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::io::{Errno, dup};
use rustix::process::{
    PidfdFlags, Resource, Rlimit, Signal, Uid, WaitId, WaitIdOptions, WaitOptions, getpgid, getpgrp, getpid,
    getppid, getrlimit, getsid, getuid, kill_process_group, pidfd_open, pidfd_send_signal,
    set_child_subreaper, setpgid, setrlimit, setsid, test_kill_process, waitid, waitpid,
};
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity, set_thread_uid};

use crate::case::{Case, Need};

pub(super) const CASES: &[Case] = &[
    Case::new("process/exit-status", "waitpid(2) gives the low 8 bits of a child's exit status", exit_status),
    Case::new("process/no-child", "waitpid(2) without children gives ECHILD", no_child),
    Case::new(
        "process/killed",
        "waitpid(2) reports the signal that ended a child, and no exit status",
        killed,
    ),
    Case::new(
        "process/stopped",
        "waitpid(2) with WUNTRACED and WCONTINUED sees a child stop and go on",
        stopped,
    ),
    Case::new("process/zombie", "waitid(2) with WNOWAIT leaves a zombie to be waited for once more", zombie),
    Case::new(
        "process/orphan",
        "prctl(2) PR_SET_CHILD_SUBREAPER makes a process the parent of orphans",
        orphan,
    ),
    Case::new(
        "process/vfork",
        "clone(2) with CLONE_VFORK suspends the parent until the child has ended",
        vfork,
    ),
    Case::new(
        "process/pidfd",
        "pidfd_open(2) gives a descriptor that is readable when the process has ended",
        pidfd,
    ),
    Case::new(
        "process/session",
        "setsid(2) makes a session and a group, and refuses a group's leader",
        session,
    ),
    Case::new(
        "process/affinity",
        "sched_setaffinity(2) moves the caller to the CPU that it names, on each of two CPUs",
        affinity,
    )
    .needs(&[Need::Cpus(2)]),
    Case::new("process/group", "kill(2) of a process group reaches every process in it", group),
    Case::new(
        "process/credentials",
        "setuid(2) gives up root for good; kill(2) of root then gives EPERM",
        credentials,
    )
    .needs(&[Need::Config("MULTIUSER")]),
    Case::new(
        "process/descriptor-limit",
        "setrlimit(2) RLIMIT_NOFILE makes dup(2) give EMFILE",
        descriptor_limit,
    ),
];

fn exit_status() -> Checked {
    for (code, seen) in [(0, 0), (1, 1), (255, 255), (256 + 7, 7)] {
        let status = child(|| exit(code))?.wait()?;
        equal("exit status", status.exit_status(), Some(seen))?;
    }
    Ok(())
}

fn no_child() -> Checked {
    fails("waiting for nobody", waitpid(None, WaitOptions::empty()), Errno::CHILD)
}

fn killed() -> Checked {
    for signal in [Signal::TERM, Signal::KILL] {
        let child = child(|| pause_forever())?;
        holds("a child that runs has no status", waitpid(Some(child.pid()), WaitOptions::NOHANG)?.is_none())?;
        child.kill(signal)?;
        let status = child.wait()?;
        equal("signal that ended the child", status.terminating_signal(), Some(signal.as_raw()))?;
        equal("exit status of a killed child", status.exit_status(), None)?;
    }
    Ok(())
}

fn stopped() -> Checked {
    let child = child(|| pause_forever())?;
    child.kill(Signal::STOP)?;
    let status = child.watch(WaitOptions::UNTRACED)?;
    equal("signal that stopped the child", status.stopping_signal(), Some(libc::SIGSTOP))?;
    child.kill(Signal::CONT)?;
    holds("the child goes on", child.watch(WaitOptions::CONTINUED)?.continued())?;
    child.kill(Signal::STOP)?;
    child.kill(Signal::KILL)?;
    holds("a stopped child can be killed", child.wait()?.signaled())
}

fn zombie() -> Checked {
    let child = child(|| exit(7))?;
    for _ in 0..2 {
        let status = waitid(WaitId::Pid(child.pid()), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
        equal("status seen by waitid(2)", status.and_then(|status| status.exit_status()), Some(7))?;
    }
    let pid = child.pid();
    equal("status of the zombie", child.wait()?.exit_status(), Some(7))?;
    fails("waiting after the end", waitpid(Some(pid), WaitOptions::empty()), Errno::CHILD)?;
    fails("waiting for no kind of change", waitid(WaitId::All, WaitIdOptions::NOHANG), Errno::INVAL)
}

fn orphan() -> Checked {
    let reaper = getpid();
    set_child_subreaper(Some(reaper))?;
    let parent = child(|| {
        let parent = getpid();
        if fork()?.is_none() {
            until(|| Ok(getppid() != Some(parent)))?;
            exit(conclude(equal("new parent of the orphan", getppid(), Some(reaper))));
        }
        Ok(())
    })?;
    parent.succeeds()?;
    let adopted = waitpid(None, WaitOptions::empty())?.map(|(_, status)| status.exit_status());
    equal("exit status of the adopted child", adopted, Some(Some(0)))
}

fn vfork() -> Checked {
    let word = shared_word()?;
    let flags = libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: without CLONE_VM the child has memory of its own, as after fork(2).
    if unsafe { sys::call(libc::SYS_clone, [flags as usize, 0, 0, 0, 0]) }? == 0 {
        // A parent that is not suspended gets ahead in this time.
        std::thread::sleep(Duration::from_millis(20));
        word.store(1, SeqCst);
        exit(3);
    }
    equal("what the child has stored when the parent goes on", word.load(SeqCst), 1)?;
    let status = waitpid(None, WaitOptions::empty())?.map(|(_, status)| status.exit_status());
    equal("exit status of the child", status, Some(Some(3)))
}

fn pidfd() -> Checked {
    let child = child(|| pause_forever())?;
    let pidfd = pidfd_open(child.pid(), PidfdFlags::empty())?;
    equal("descriptors that are ready while it runs", ready(pidfd.as_fd(), Some(&Timespec::default()))?, 0)?;
    pidfd_send_signal(&pidfd, Signal::TERM)?;
    equal("descriptors that are ready at its end", ready(pidfd.as_fd(), None)?, 1)?;
    let status = waitid(WaitId::PidFd(pidfd.as_fd()), WaitIdOptions::EXITED)?;
    let signal = status.and_then(|status| status.terminating_signal());
    equal("signal that ended it", signal, Some(libc::SIGTERM))?;
    fails("a signal after its end", pidfd_send_signal(&pidfd, Signal::TERM), Errno::SRCH)?;
    fails("opening it again", pidfd_open(child.pid(), PidfdFlags::empty()), Errno::SRCH)
}

fn ready(fd: BorrowedFd<'_>, timeout: Option<&Timespec>) -> Result<usize, Errno> {
    poll(&mut [PollFd::new(&fd, PollFlags::IN)], timeout)
}

fn session() -> Checked {
    child(|| {
        equal("session of its own", setsid()?, getpid())?;
        equal("getsid(2)", getsid(None)?, getpid())?;
        equal("process group", getpgrp(), getpid())?;
        fails("setsid(2) of a group's leader", setsid(), Errno::PERM)?;
        fails("setpgid(2) of a session's leader", setpgid(None, None), Errno::PERM)
    })?
    .succeeds()
}

fn affinity() -> Checked {
    for cpu in [1, 0, 1] {
        let mut set = CpuSet::new();
        set.set(cpu);
        sched_setaffinity(None, &set)?;
        equal("CPU after the move", sched_getcpu(), cpu)?;
    }
    Ok(())
}

fn group() -> Checked {
    let (first, second) = (child(|| pause_forever())?, child(|| pause_forever())?);
    let leader = first.pid();
    for member in [&first, &second] {
        setpgid(Some(member.pid()), Some(leader))?;
        equal("process group", getpgid(Some(member.pid()))?, leader)?;
    }
    kill_process_group(leader, Signal::TERM)?;
    for member in [first, second] {
        equal("signal that ended it", member.wait()?.terminating_signal(), Some(libc::SIGTERM))?;
    }
    fails("a group without processes", kill_process_group(leader, Signal::TERM), Errno::SRCH)
}

fn credentials() -> Checked {
    let parent = getpid();
    unprivileged(|| {
        equal("real user", getuid(), Uid::from_raw(NOBODY))?;
        fails("kill(2) of root's process", test_kill_process(parent), Errno::PERM)?;
        fails("setuid(2) back to root", set_thread_uid(Uid::ROOT), Errno::PERM)?;
        let limit = getrlimit(Resource::Nofile).maximum.unwrap_or_default();
        let more = Rlimit { current: Some(limit), maximum: Some(limit + 1) };
        fails("raising a hard limit", setrlimit(Resource::Nofile, more), Errno::PERM)
    })?
    .succeeds()
}

fn descriptor_limit() -> Checked {
    const LIMIT: u64 = 64;
    child(|| {
        setrlimit(Resource::Nofile, Rlimit { current: Some(LIMIT), maximum: Some(LIMIT) })?;
        let mut open = vec![rustix::fs::memfd_create("any file", rustix::fs::MemfdFlags::empty())?];
        let refused = loop {
            match dup(&open[0]) {
                Ok(copy) => open.push(copy),
                Err(error) => break error,
            }
        };
        equal("dup(2) at the limit", refused, Errno::MFILE)?;
        open.truncate(1);
        holds("dup(2) below the limit", dup(&open[0]).is_ok())
    })?
    .succeeds()
}
