//! `fork`, `vfork`, `clone`, `exec`, `wait`, `zombie`, `daemon`, `pidfd`: processes that come and go.

use std::sync::atomic::{AtomicU64, Ordering};

use harness::check::{Checked, equal, fails, holds, skip};
use harness::child::{Child, exec, exit, fork, last_error, pause_forever};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, getppid, pidfd_open,
    pidfd_send_signal, setsid, wait, waitid, waitpid,
};

use crate::kit::helper::helper;
use crate::kit::memory::Memory;
use crate::stressor::{Class, Setting, Stressor, number};
use crate::{EXIT_AT_ONCE, Worker};

const PROCESSES: Setting = number("processes", "children at a time", 1..=128, 8);

const PROCESS: Stressor =
    Stressor { classes: &[Class::Scheduler, Class::Os], options: &[PROCESSES], ..Stressor::PLAIN };

pub(super) const FORK: Stressor = Stressor {
    name: "fork",
    about: "children made and waited for: fork(2)",
    operation: "a child",
    verifies: "each has another id and this parent, and gives its own exit status",
    body: forks,
    ..PROCESS
};

pub(super) const VFORK: Stressor = Stressor {
    name: "vfork",
    about: "children that borrow the memory of their parent: vfork(2)",
    operation: "a child",
    verifies: "the parent sees what the child wrote, and goes on only after its end",
    options: &[],
    body: vforks,
    ..PROCESS
};

pub(super) const CLONE: Stressor = Stressor {
    name: "clone",
    about: "children that share memory, files or directory with their parent: clone3(2)",
    operation: "a child with each of four sets of flags",
    verifies: "what is shared is seen by both, and what is not is not",
    options: &[],
    body: clones,
    ..PROCESS
};

pub(super) const EXEC: Stressor = Stressor {
    name: "exec",
    about: "children that execute a program: execve(2)",
    operation: "a child that becomes another program, and one that fails to",
    verifies: "the program ran; what cannot be executed gives its error",
    options: &[],
    body: execs,
    ..PROCESS
};

pub(super) const WAIT: Stressor = Stressor {
    name: "wait",
    about: "a child that is stopped, continued and killed: waitpid(2), waitid(2)",
    operation: "each change of a child waited for",
    verifies: "each change is told, once and in order; afterwards there is no child",
    options: &[],
    body: waits,
    ..PROCESS
};

pub(super) const ZOMBIE: Stressor = Stressor {
    name: "zombie",
    about: "children that have ended and are not waited for",
    operation: "a child that becomes a zombie and is taken in",
    verifies: "the kernel shows it as a zombie, keeps its exit status, and then forgets it",
    body: zombies,
    ..PROCESS
};

pub(super) const DAEMON: Stressor = Stressor {
    name: "daemon",
    about: "grandchildren in a session of their own whose parent has ended: daemon(3)",
    operation: "a grandchild that outlives its parent",
    verifies: "it leads its session, and gets another parent",
    options: &[],
    body: daemons,
    ..PROCESS
};

pub(super) const PIDFD: Stressor = Stressor {
    name: "pidfd",
    about: "descriptors of processes: pidfd_open(2), pidfd_send_signal(2)",
    operation: "a child signalled and waited for through its descriptor",
    verifies: "the signal ended it; the descriptor of a process that has gone gives ESRCH",
    options: &[],
    body: descriptors,
    ..PROCESS
};

fn forks(worker: &Worker) -> Checked {
    let (count, parent) = (worker.value(&PROCESSES), getpid());
    while worker.goes_on() {
        let child = |number: u64| {
            helper(move || {
                holds("another id, and this parent", getpid() != parent && getppid() == Some(parent))?;
                exit(libc::c_int::try_from(number).unwrap_or(0))
            })
        };
        let all = (0..count).map(child).collect::<Checked<Vec<Child>>>()?;
        for (child, number) in all.into_iter().zip(0..) {
            equal("the exit status", child.wait()?.exit_status(), Some(number))?;
            worker.count();
        }
    }
    Ok(())
}

fn vforks(worker: &Worker) -> Checked {
    let written = AtomicU64::new(0);
    worker.repeat(|| {
        let before = written.load(Ordering::Relaxed);
        let pid: i64;
        // SAFETY: the child only adds to a number, and exits by a system call; the parent is stopped until then. No
        // function returns in the child, so that the parent's stack stays as it is.
        unsafe {
            std::arch::asm!(
                "syscall",
                "test rax, rax",
                "jnz 2f",
                "inc qword ptr [{written}]",
                "mov eax, {exit}",
                "mov edi, 5",
                "syscall",
                "2:",
                written = in(reg) written.as_ptr(),
                exit = const libc::SYS_exit as i32,
                inout("rax") libc::SYS_vfork => pid,
                out("rdi") _, out("rcx") _, out("r11") _,
                options(nostack),
            );
        }
        let Some(child) = i32::try_from(pid).ok().filter(|&pid| pid > 0).and_then(Pid::from_raw) else {
            return Err(Errno::from_raw_os_error(i32::try_from(-pid).unwrap_or(0)).into());
        };
        equal("what the child wrote", written.load(Ordering::Relaxed), before + 1)?;
        let status = waitpid(Some(child), WaitOptions::empty())?.map(|(_, status)| status.exit_status());
        equal("its exit status", status, Some(Some(5)))
    })
}

/// `struct clone_args` of clone3(2) as far as it is used.
#[repr(C, align(8))]
#[derive(Default)]
struct Arguments {
    flags: u64,
    unused: [u64; 3],
    exit_signal: u64,
    more: [u64; 3],
}

/// A child without a stack of its own: it gets a copy of this one.
fn clone(flags: libc::c_int) -> Result<Option<Pid>, Errno> {
    let (flags, exit_signal) = (u64::from(flags.unsigned_abs()), u64::from(libc::SIGCHLD.unsigned_abs()));
    let arguments = Arguments { flags, exit_signal, ..Arguments::default() };
    // SAFETY: without CLONE_VM it is as fork(2).
    let pid = unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<Arguments>()) };
    if pid == -1 { Err(last_error()) } else { Ok(Pid::from_raw(i32::try_from(pid).unwrap_or(0))) }
}

fn clones(worker: &Worker) -> Checked {
    let base = std::env::current_dir()?;
    std::fs::create_dir("elsewhere")?;
    let memory = Memory::shared(4096)?;
    let seen = &memory.atomics()[0];
    worker.repeat(|| {
        for flags in [0, libc::CLONE_FILES, libc::CLONE_FS, libc::CLONE_FILES | libc::CLONE_FS] {
            let file = std::fs::File::open(".")?;
            let number = std::os::fd::AsRawFd::as_raw_fd(&file);
            let child = match clone(flags) {
                Err(Errno::NOSYS) => return skip("this kernel has no clone3(2)"),
                child => child?,
            };
            let Some(child) = child else {
                // Changes what may be shared, and tells its parent that it ran.
                drop(file);
                let has_moved = rustix::process::chdir("elsewhere").is_ok();
                seen.store(u64::from(has_moved), Ordering::Release);
                exit(0)
            };
            let status = waitpid(Some(child), WaitOptions::empty())?.map(|(_, status)| status.exit_status());
            equal(
                "its exit status, and what it told",
                (status, seen.load(Ordering::Acquire)),
                (Some(Some(0)), 1),
            )?;
            // SAFETY: only asks.
            let is_open = unsafe { libc::fcntl(number, libc::F_GETFD) } != -1;
            equal("the file is still open", is_open, flags & libc::CLONE_FILES == 0)?;
            let has_moved = std::env::current_dir()? != base;
            equal("the parent is elsewhere", has_moved, flags & libc::CLONE_FS != 0)?;
            rustix::process::chdir(&base)?;
            if !is_open {
                // It was closed by the child.
                std::mem::forget(file);
            }
        }
        Ok(())
    })
}

fn execs(worker: &Worker) -> Checked {
    // An empty file that may be executed, a directory, and what is not there.
    std::fs::write("empty", "")?;
    std::fs::set_permissions("empty", std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    let wrong = [(c"empty", Errno::NOEXEC), (c".", Errno::ACCESS), (c"none", Errno::NOENT)];
    worker.repeat(|| {
        helper(|| Ok(exec(c"/proc/self/exe", &[c"stress", EXIT_AT_ONCE], &[]).map(drop)?))?.succeeds()?;
        for (path, error) in wrong {
            helper(|| fails("executing it", exec(path, &[c"x"], &[]).map(drop), error))?.succeeds()?;
        }
        Ok(())
    })
}

fn waits(worker: &Worker) -> Checked {
    worker.repeat(|| {
        let child = helper(|| pause_forever())?;
        let pid = child.pid();
        fails("another's child", waitpid(Some(Pid::INIT), WaitOptions::NOHANG), Errno::CHILD)?;
        equal("a child that runs", waitpid(Some(pid), WaitOptions::NOHANG)?.is_none(), true)?;
        child.kill(Signal::STOP)?;
        equal("it is stopped", child.watch(WaitOptions::UNTRACED)?.stopping_signal(), Some(libc::SIGSTOP))?;
        child.kill(Signal::CONT)?;
        holds("it goes on", child.watch(WaitOptions::CONTINUED)?.continued())?;
        child.kill(Signal::TERM)?;
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let looked = waitid(WaitId::Pid(pid), look)?.and_then(|status| status.terminating_signal());
        equal("what ended it, without taking it in", looked, Some(libc::SIGTERM))?;
        equal("what ended it", child.wait()?.terminating_signal(), Some(libc::SIGTERM))?;
        fails("a child that was taken in", waitpid(Some(pid), WaitOptions::NOHANG), Errno::CHILD)
    })
}

/// The state of a process: proc_pid_stat(5).
fn state(pid: Pid) -> Option<char> {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
    text.rsplit_once(')')?.1.trim_start().chars().next()
}

fn zombies(worker: &Worker) -> Checked {
    let count = worker.value(&PROCESSES);
    while worker.goes_on() {
        let all = (0..count).map(|_| helper(|| exit(3))).collect::<Checked<Vec<Child>>>()?;
        for child in all {
            let pid = child.pid();
            waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
            equal("its state", state(pid), Some('Z'))?;
            equal("its exit status", child.wait()?.exit_status(), Some(3))?;
            worker.count();
        }
    }
    Ok(())
}

fn daemons(worker: &Worker) -> Checked {
    let memory = Memory::shared(4096)?;
    let [session, parent] = [0, 1].map(|at| &memory.atomics()[at]);
    rustix::process::set_child_subreaper(Some(getpid()))?;
    worker.repeat(|| {
        session.store(0, Ordering::Relaxed);
        let child = helper(|| {
            let own = getpid();
            // As daemon(3) does it: the child's child is on its own.
            if fork()?.is_some() {
                exit(0)
            }
            let id = setsid()?;
            while getppid() == Some(own) {
                rustix::thread::sched_yield();
            }
            let id = if id == getpid() { id.as_raw_pid().unsigned_abs() } else { 0 };
            parent.store(
                getppid().map_or(0, |parent| parent.as_raw_pid().unsigned_abs().into()),
                Ordering::Release,
            );
            session.store(id.into(), Ordering::Release);
            exit(0)
        })?;
        equal("the exit status of its parent", child.wait()?.exit_status(), Some(0))?;
        // It has become a child of this process, its nearest ancestor that takes in such.
        let (pid, status) = wait(WaitOptions::empty())?.ok_or(Errno::CHILD)?;
        equal("its exit status", status.exit_status(), Some(0))?;
        equal(
            "the session that it leads",
            session.load(Ordering::Acquire),
            u64::from(pid.as_raw_pid().unsigned_abs()),
        )?;
        equal("its new parent", parent.load(Ordering::Acquire), u64::from(std::process::id()))
    })
}

fn descriptors(worker: &Worker) -> Checked {
    worker.repeat(|| {
        let child = helper(|| pause_forever())?;
        let descriptor = match pidfd_open(child.pid(), PidfdFlags::empty()) {
            Err(Errno::NOSYS) => return skip("this kernel has no pidfd_open(2)"),
            descriptor => descriptor?,
        };
        pidfd_send_signal(&descriptor, Signal::KILL)?;
        let ended = waitid(
            WaitId::PidFd(std::os::fd::AsFd::as_fd(&descriptor)),
            WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
        )?;
        equal("what ended it", ended.and_then(|status| status.terminating_signal()), Some(libc::SIGKILL))?;
        child.wait()?;
        fails("signalling what has gone", pidfd_send_signal(&descriptor, Signal::KILL), Errno::SRCH)
    })
}
