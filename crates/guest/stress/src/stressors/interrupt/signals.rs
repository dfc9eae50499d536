//! `signal`, `sigq`, `sigfd`, `sigpending`, `sigsuspend`, `sigaltstack`, `kill`, `sigpipe`, `sigchld`: signals that are sent.

use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering};

use harness::check::{Checked, at_least, equal, fails, holds};
use harness::child::{exit, pause_forever};
use harness::sys::{
    block, call_for_descriptor, default_action, fetch, handle, ignore, signal_set, succeeded, unblock,
};
use rustix::io::{Errno, read, write};
use rustix::pipe::pipe;
use rustix::process::{Pid, Signal, getpid, kill_process};

use crate::Worker;
use crate::kit::helper::helper;
use crate::stressor::{Class, Need, Stressor};

const SIGNALS: Stressor =
    Stressor { classes: &[Class::Interrupt, Class::Os], operation: "one signal", ..Stressor::PLAIN };

pub(super) const SIGNAL: Stressor = Stressor {
    name: "signal",
    about: "a handler, the default action and ignoring, in turn: sigaction(2)",
    verifies: "the handler runs once for each signal, and an ignored signal does nothing",
    body: handled,
    ..SIGNALS
};

pub(super) const SIGQ: Stressor = Stressor {
    name: "sigq",
    about: "real-time signals with values that queue up: sigqueue(3), sigwaitinfo(2)",
    operation: "sixteen signals queued and taken",
    verifies: "none is lost; values come in their order, and lower signals first",
    body: queued,
    ..SIGNALS
};

pub(super) const SIGFD: Stressor = Stressor {
    name: "sigfd",
    about: "signals that are read from a descriptor: signalfd(2)",
    verifies: "number, sender and value of each signal; none left gives EAGAIN",
    needs: &[Need::Config("SIGNALFD")],
    body: descriptor,
    ..SIGNALS
};

pub(super) const SIGPENDING: Stressor = Stressor {
    name: "sigpending",
    about: "signals that are blocked: sigprocmask(2), sigpending(2)",
    verifies: "a blocked signal is pending, and handled as soon as it is unblocked",
    body: pending,
    ..SIGNALS
};

pub(super) const SIGSUSPEND: Stressor = Stressor {
    name: "sigsuspend",
    about: "waiting for a signal of a child: sigsuspend(2)",
    verifies: "the wait ends with the signal, and the old mask is back",
    body: suspended,
    ..SIGNALS
};

pub(super) const SIGALTSTACK: Stressor = Stressor {
    name: "sigaltstack",
    about: "a handler on a stack of its own: sigaltstack(2)",
    verifies: "the handler's variables are on that stack, and the stack cannot be changed meanwhile",
    body: other_stack,
    ..SIGNALS
};

pub(super) const KILL: Stressor = Stressor {
    name: "kill",
    about: "signals to this process, to a child and to nobody: kill(2)",
    verifies: "the child dies of the signal; no process gives ESRCH, no signal EINVAL",
    body: sent,
    ..SIGNALS
};

pub(super) const SIGPIPE: Stressor = Stressor {
    name: "sigpipe",
    about: "writes to a pipe that nobody reads any more",
    operation: "a child that ends before what is written to it is read",
    verifies: "EPIPE and one SIGPIPE for the write",
    body: broken_pipe,
    ..SIGNALS
};

pub(super) const SIGCHLD: Stressor = Stressor {
    name: "sigchld",
    about: "the signal that a child has changed: SA_NOCLDSTOP and SA_NOCLDWAIT of sigaction(2)",
    operation: "a child that ends",
    verifies: "the signal names the child and its status; with SA_NOCLDWAIT there is nothing to wait for",
    body: children,
    ..SIGNALS
};

/// What handlers have seen: how often, the last signal, and an address of the last one's stack.
static COUNT: AtomicU64 = AtomicU64::new(0);
static LAST: AtomicI32 = AtomicI32::new(0);
static STACK: AtomicUsize = AtomicUsize::new(0);

extern "C" fn note(signal: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let local = 0_u8;
    STACK.store((&raw const local).addr(), Ordering::Relaxed);
    LAST.store(signal, Ordering::Relaxed);
    COUNT.fetch_add(1, Ordering::Relaxed);
}

fn seen() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// Sends a signal to this thread; it is handled before this returns.
fn raise(signal: libc::c_int) -> Result<(), Errno> {
    // SAFETY: handled, ignored or blocked by the callers.
    succeeded(unsafe { libc::raise(signal) })
}

fn handled(worker: &Worker) -> Checked {
    worker.repeat(|| {
        let before = seen();
        handle(libc::SIGUSR1, note, 0)?;
        raise(libc::SIGUSR1)?;
        equal("calls of the handler", (seen() - before, LAST.load(Ordering::Relaxed)), (1, libc::SIGUSR1))?;
        ignore(libc::SIGUSR1)?;
        raise(libc::SIGUSR1)?;
        equal("calls for an ignored signal", seen() - before, 1)?;
        default_action(libc::SIGUSR1)?;
        handle(libc::SIGUSR1, note, libc::SA_RESETHAND)?;
        raise(libc::SIGUSR1)?;
        equal("calls of a handler for one signal", seen() - before, 2)?;
        // SAFETY: all zeroes is a valid action, which the kernel fills.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: only asks.
        succeeded(unsafe { libc::sigaction(libc::SIGUSR1, std::ptr::null(), &raw mut action) })?;
        equal("the action afterwards", action.sa_sigaction, libc::SIG_DFL)?;
        fails("a handler for SIGKILL", handle(libc::SIGKILL, note, 0), Errno::INVAL)
    })
}

fn queue(to: Pid, signal: libc::c_int, value: usize) -> Result<(), Errno> {
    let value = libc::sigval { sival_ptr: std::ptr::without_provenance_mut(value) };
    // SAFETY: the value is only a number.
    succeeded(unsafe { libc::sigqueue(to.as_raw_pid(), signal, value) })
}

/// The value that came with a signal.
fn value(info: &libc::siginfo_t) -> usize {
    // SAFETY: signals of sigqueue(3) have one.
    unsafe { info.si_value().sival_ptr.addr() }
}

fn queued(worker: &Worker) -> Checked {
    let (low, high) = (libc::SIGRTMIN() + 1, libc::SIGRTMIN() + 2);
    block(&[low, high])?;
    worker.repeat(|| {
        for number in 0..8 {
            // EAGAIN: the user has as many queued as allowed.
            crate::kit::support::supported_unless(
                "sigqueue(3)",
                queue(getpid(), high, number),
                &[Errno::AGAIN],
            )?;
            queue(getpid(), low, number)?;
        }
        for signal in [low, high] {
            for number in 0..8 {
                let info = fetch(&[low, high])?;
                equal("signal and value", (info.si_signo, value(&info)), (signal, number))?;
                equal("what sent it", info.si_code, libc::SI_QUEUE)?;
            }
        }
        Ok(())
    })
}

fn descriptor(worker: &Worker) -> Checked {
    let signal = libc::SIGRTMIN() + 3;
    block(&[signal])?;
    let set = signal_set(&[signal]);
    let flags = (libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) as usize;
    // SAFETY: a set of eight bytes; -1 makes a new descriptor.
    let file =
        unsafe { call_for_descriptor(libc::SYS_signalfd4, [usize::MAX, (&raw const set).addr(), 8, flags])? };
    // `struct signalfd_siginfo` as words.
    let mut info = [0_u32; 32];
    let next = |info: &mut [u32; 32]| {
        // SAFETY: as many bytes as words.
        let bytes = unsafe { std::slice::from_raw_parts_mut(info.as_mut_ptr().cast::<u8>(), 128) };
        read(&file, bytes)
    };
    let mut number = 0_u32;
    worker.repeat(|| {
        number = number.wrapping_add(1);
        queue(getpid(), signal, number as usize)?;
        equal("bytes read", next(&mut info)?, 128)?;
        let (sender, value) = (info[3], info[12]);
        equal("signal", info[0], signal.unsigned_abs())?;
        equal("sender and value", (sender, value), (std::process::id(), number))?;
        fails("no more signals", next(&mut info), Errno::AGAIN)
    })
}

fn pending(worker: &Worker) -> Checked {
    handle(libc::SIGUSR2, note, 0)?;
    let is_pending = || {
        let mut set = signal_set(&[]);
        // SAFETY: the kernel fills the set.
        succeeded(unsafe { libc::sigpending(&raw mut set) })?;
        // SAFETY: only asks.
        Ok::<_, Errno>(unsafe { libc::sigismember(&raw const set, libc::SIGUSR2) } == 1)
    };
    worker.repeat(|| {
        let before = seen();
        block(&[libc::SIGUSR2])?;
        raise(libc::SIGUSR2)?;
        raise(libc::SIGUSR2)?;
        equal("handled while it is blocked, and pending", (seen() - before, is_pending()?), (0, true))?;
        unblock(&[libc::SIGUSR2])?;
        // It does not queue up: two are one.
        equal("handled once it is unblocked, and pending", (seen() - before, is_pending()?), (1, false))
    })
}

fn suspended(worker: &Worker) -> Checked {
    handle(libc::SIGUSR1, note, 0)?;
    block(&[libc::SIGUSR1])?;
    let (parent, none) = (getpid(), signal_set(&[]));
    worker.repeat(|| {
        let before = seen();
        let child = helper(|| Ok(kill_process(parent, Signal::USR1)?))?;
        // SAFETY: the set is valid; the handler only counts.
        let result = succeeded(unsafe { libc::sigsuspend(&raw const none) });
        fails("the wait", result, Errno::INTR)?;
        equal("signals handled", seen() - before, 1)?;
        raise(libc::SIGUSR1)?;
        equal("signals handled with the old mask", seen() - before, 1)?;
        fetch(&[libc::SIGUSR1])?;
        child.succeeds()
    })
}

fn other_stack(worker: &Worker) -> Checked {
    let mut memory = vec![0_u8; 65536];
    let range = memory.as_mut_ptr_range();
    let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: memory.len() };
    // SAFETY: all zeroes is a valid value.
    let mut before: libc::stack_t = unsafe { std::mem::zeroed() };
    // SAFETY: the stack outlives its use: it is taken away below.
    succeeded(unsafe { libc::sigaltstack(&raw const stack, &raw mut before) })?;
    handle(libc::SIGUSR1, note, libc::SA_ONSTACK)?;
    let result = worker.repeat(|| {
        raise(libc::SIGUSR1)?;
        let place = STACK.load(Ordering::Relaxed);
        holds("the handler ran on its stack", (range.start.addr()..range.end.addr()).contains(&place))?;
        let small = libc::stack_t { ss_size: 16, ..stack };
        // SAFETY: refused, as it is too small.
        let refused = succeeded(unsafe { libc::sigaltstack(&raw const small, std::ptr::null_mut()) });
        fails("a stack that is too small", refused, Errno::NOMEM)
    });
    // SAFETY: what was there before.
    succeeded(unsafe { libc::sigaltstack(&raw const before, std::ptr::null_mut()) })?;
    result
}

fn sent(worker: &Worker) -> Checked {
    handle(libc::SIGUSR1, note, 0)?;
    worker.repeat(|| {
        let before = seen();
        kill_process(getpid(), Signal::USR1)?;
        equal("signals handled", seen() - before, 1)?;
        let child = helper(|| pause_forever())?;
        let pid = child.pid();
        child.kill(Signal::TERM)?;
        equal("what ended the child", child.wait()?.terminating_signal(), Some(libc::SIGTERM))?;
        fails("a child that has gone", kill_process(pid, Signal::TERM), Errno::SRCH)?;
        // SAFETY: refused, as there is no such signal.
        let wrong = succeeded(unsafe { libc::kill(libc::getpid(), 65) });
        fails("a signal that does not exist", wrong, Errno::INVAL)
    })
}

fn broken_pipe(worker: &Worker) -> Checked {
    handle(libc::SIGPIPE, note, 0)?;
    worker.repeat(|| {
        let ((reader, writer), before) = (pipe()?, seen());
        let child = helper(|| exit(0))?;
        // Both the child's end and this one's have gone.
        drop(reader);
        equal("the exit status of the child", child.wait()?.exit_status(), Some(0))?;
        fails("a write that nobody reads", write(&writer, b"x"), Errno::PIPE)?;
        equal("signals handled", (seen() - before, LAST.load(Ordering::Relaxed)), (1, libc::SIGPIPE))
    })
}

fn children(worker: &Worker) -> Checked {
    worker.repeat(|| {
        block(&[libc::SIGCHLD])?;
        handle(libc::SIGCHLD, note, 0)?;
        let child = helper(|| exit(9))?;
        let info = fetch(&[libc::SIGCHLD])?;
        // SAFETY: SIGCHLD has both.
        let told = unsafe { (info.si_pid(), info.si_status()) };
        equal("child and status", told, (child.pid().as_raw_pid(), 9))?;
        equal("how it ended", info.si_code, libc::CLD_EXITED)?;
        equal("its exit status", child.wait()?.exit_status(), Some(9))?;
        handle(libc::SIGCHLD, note, libc::SA_NOCLDWAIT)?;
        let pid = helper(|| exit(0)).map(|child| {
            let pid = child.pid();
            std::mem::forget(child);
            pid
        })?;
        fetch(&[libc::SIGCHLD])?;
        fails(
            "waiting for it",
            rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty()),
            Errno::CHILD,
        )?;
        at_least("its id", pid.as_raw_pid(), 2)
    })
}
