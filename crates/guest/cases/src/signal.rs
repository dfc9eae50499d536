//! Signals: signal(7).

use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering::SeqCst};

use harness::check::{Checked, equal, fails, holds};
use harness::child::{child, exit};
use harness::sys::{block, fetch, handle, ignore, set_interval, signal_set, succeeded, unblock};
use rustix::fd::AsRawFd;
use rustix::io::{Errno, read};
use rustix::pipe::pipe;
use rustix::process::{Signal, WaitOptions, getpid, kill_process, test_kill_process, waitpid};

use crate::case::Case;

pub(super) const CASES: &[Case] = &[
    Case::new("signal/handler", "sigaction(2) SA_SIGINFO gives a handler signal, sender and value", handler),
    Case::new(
        "signal/blocked",
        "sigprocmask(2) keeps a signal pending, once however often it is sent",
        blocked,
    ),
    Case::new(
        "signal/real-time-order",
        "sigwaitinfo(2) fetches every real-time signal, lowest first",
        real_time_order,
    ),
    Case::new(
        "signal/interrupted-call",
        "read(2) gives EINTR without SA_RESTART and continues with it",
        interrupted_call,
    ),
    Case::new("signal/refusals", "kill(2) and sigaction(2) give EINVAL and ESRCH as promised", refusals),
    Case::new(
        "signal/alternate-stack",
        "sigaltstack(2) is where an SA_ONSTACK handler runs",
        alternate_stack,
    ),
    Case::new(
        "signal/fault-address",
        "SIGSEGV carries the address of the fault and its reason",
        fault_address,
    ),
    Case::new("signal/fork", "fork(2) hands on handlers and mask but no pending signals", after_fork),
    Case::new(
        "signal/child",
        "SIGCHLD reports which child ended and how; ignoring it leaves nothing to wait for",
        of_child,
    ),
];

static CALLS: AtomicU32 = AtomicU32::new(0);
static SENDER: AtomicI32 = AtomicI32::new(0);
static VALUE: AtomicUsize = AtomicUsize::new(0);
static PIPE: AtomicI32 = AtomicI32::new(-1);

extern "C" fn count(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    CALLS.fetch_add(1, SeqCst);
}

extern "C" fn note_sender(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel gives a valid siginfo_t, and a signal of sigqueue(3) has both fields.
    let (sender, value) = unsafe { ((*info).si_pid(), (*info).si_value()) };
    SENDER.store(sender, SeqCst);
    VALUE.store(value.sival_ptr as usize, SeqCst);
    CALLS.fetch_add(1, SeqCst);
}

/// sigqueue(3) to this process.
fn queue(signal: libc::c_int, value: usize) -> Result<(), Errno> {
    let value = libc::sigval { sival_ptr: std::ptr::without_provenance_mut(value) };
    // SAFETY: the value is only carried, never followed.
    succeeded(unsafe { libc::sigqueue(getpid().as_raw_pid(), signal, value) })
}

fn handler() -> Checked {
    handle(libc::SIGUSR1, note_sender, libc::SA_RESETHAND)?;
    queue(libc::SIGUSR1, 4711)?;
    equal("calls of the handler", CALLS.load(SeqCst), 1)?;
    equal("sender", SENDER.load(SeqCst), getpid().as_raw_pid())?;
    equal("value", VALUE.load(SeqCst), 4711)?;
    let child = child(|| {
        kill_process(getpid(), Signal::USR1)?;
        Ok(())
    })?;
    let signal = child.wait()?.terminating_signal();
    equal("signal that ends the process after SA_RESETHAND", signal, Some(libc::SIGUSR1))
}

fn blocked() -> Checked {
    handle(libc::SIGUSR1, count, 0)?;
    block(&[libc::SIGUSR1])?;
    for _ in 0..3 {
        kill_process(getpid(), Signal::USR1)?;
    }
    equal("calls while it is blocked", CALLS.load(SeqCst), 0)?;
    holds("it is pending", pending(libc::SIGUSR1)?)?;
    unblock(&[libc::SIGUSR1])?;
    equal("calls after it was unblocked", CALLS.load(SeqCst), 1)?;
    holds("it is pending no more", !pending(libc::SIGUSR1)?)
}

/// Whether sigpending(2) has `signal`.
fn pending(signal: libc::c_int) -> Result<bool, Errno> {
    let mut set = signal_set(&[]);
    // SAFETY: the set is valid.
    succeeded(unsafe { libc::sigpending(&raw mut set) })?;
    // SAFETY: the set is valid.
    Ok(unsafe { libc::sigismember(&raw const set, signal) } == 1)
}

fn real_time_order() -> Checked {
    let (low, high) = (libc::SIGRTMIN(), libc::SIGRTMIN() + 1);
    block(&[low, high])?;
    for (signal, value) in [(high, 1), (low, 2), (high, 3), (low, 4)] {
        queue(signal, value)?;
    }
    for expected in [(low, 2), (low, 4), (high, 1), (high, 3)] {
        let info = fetch(&[low, high])?;
        // SAFETY: a signal of sigqueue(3) has a value.
        let value = unsafe { info.si_value() }.sival_ptr as usize;
        equal("signal and value", (info.si_signo, value), expected)?;
        equal("si_code", info.si_code, libc::SI_QUEUE)?;
    }
    Ok(())
}

/// Ends a read(2) that two alarms have not ended.
extern "C" fn write_at_third_call(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    if CALLS.fetch_add(1, SeqCst) == 2 {
        // SAFETY: writes one byte that is there.
        unsafe { libc::write(PIPE.load(SeqCst), b"x".as_ptr().cast(), 1) };
    }
}

fn interrupted_call() -> Checked {
    let (reader, writer) = pipe()?;
    PIPE.store(writer.as_raw_fd(), SeqCst);
    handle(libc::SIGALRM, count, 0)?;
    set_interval(libc::ITIMER_REAL, libc::timeval { tv_sec: 0, tv_usec: 20_000 })?;
    let mut buffer = [0; 8];
    fails("read(2) without SA_RESTART", read(&reader, &mut buffer), Errno::INTR)?;
    CALLS.store(0, SeqCst);
    handle(libc::SIGALRM, write_at_third_call, libc::SA_RESTART)?;
    equal("bytes read with SA_RESTART", read(&reader, &mut buffer)?, 1)?;
    holds("alarms came before the byte", CALLS.load(SeqCst) > 2)
}

fn refusals() -> Checked {
    for signal in [libc::SIGKILL, libc::SIGSTOP] {
        fails("a handler for SIGKILL or SIGSTOP", handle(signal, count, 0), Errno::INVAL)?;
        fails("ignoring SIGKILL or SIGSTOP", ignore(signal), Errno::INVAL)?;
    }
    fails("sigqueue(3) of signal 65", queue(65, 0), Errno::INVAL)?;
    let child = child(|| exit(0))?;
    let pid = child.pid();
    test_kill_process(pid)?;
    child.succeeds()?;
    fails("kill(2) of a process that was waited for", test_kill_process(pid), Errno::SRCH)
}

extern "C" fn note_stack(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let on_the_stack = 0_u8;
    VALUE.store((&raw const on_the_stack) as usize, SeqCst);
    let disabled = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
    CALLS.store(set_stack(disabled).err().map_or(0, |error| error.raw_os_error().unsigned_abs()), SeqCst);
}

fn set_stack(stack: libc::stack_t) -> Result<(), Errno> {
    // SAFETY: every caller's stack is disabled or lives for ever.
    succeeded(unsafe { libc::sigaltstack(&raw const stack, std::ptr::null_mut()) })
}

fn alternate_stack() -> Checked {
    let memory = vec![0_u8; 128 << 10].leak();
    let range = memory.as_ptr_range();
    let inside = |address: usize| (range.start as usize..range.end as usize).contains(&address);
    let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: memory.len() };
    fails("a stack of 1 KiB", set_stack(libc::stack_t { ss_size: 1024, ..stack }), Errno::NOMEM)?;
    set_stack(stack)?;
    handle(libc::SIGUSR1, note_stack, libc::SA_ONSTACK)?;
    kill_process(getpid(), Signal::USR1)?;
    holds("the handler ran on the alternate stack", inside(VALUE.load(SeqCst)))?;
    equal("error of leaving the stack in use", CALLS.load(SeqCst), libc::EPERM.unsigned_abs())?;
    handle(libc::SIGUSR1, note_stack, 0)?;
    kill_process(getpid(), Signal::USR1)?;
    holds("without SA_ONSTACK it ran elsewhere", !inside(VALUE.load(SeqCst)))
}

/// Signal, reason and address of a fault.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    kind: FaultKind,
    address: usize,
}

/// Signal and `si_code` of a fault.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct FaultKind {
    signal: libc::c_int,
    code: libc::c_int,
}

/// SIGSEGV with SEGV_MAPERR: nothing is mapped there.
pub(super) const NOT_MAPPED: FaultKind = FaultKind { signal: libc::SIGSEGV, code: 1 };
/// SIGSEGV with SEGV_ACCERR: what is mapped there does not allow it.
pub(super) const NOT_ALLOWED: FaultKind = FaultKind { signal: libc::SIGSEGV, code: 2 };
/// SIGBUS with BUS_ADRERR: the mapped file has no such page.
pub(super) const NO_SUCH_PAGE: FaultKind = FaultKind { signal: libc::SIGBUS, code: libc::BUS_ADRERR };

impl std::fmt::Debug for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.kind {
            NOT_MAPPED => "SIGSEGV SEGV_MAPERR".to_string(),
            NOT_ALLOWED => "SIGSEGV SEGV_ACCERR".to_string(),
            NO_SUCH_PAGE => "SIGBUS BUS_ADRERR".to_string(),
            FaultKind { signal, code } => format!("signal {signal} with si_code {code}"),
        };
        write!(f, "{kind} at {:#x}", self.address)
    }
}

extern "C" fn send_fault(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel gives a valid siginfo_t, and a fault has an address.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    let fault = Fault { kind: FaultKind { signal, code }, address };
    // SAFETY: writes the bytes of a value without padding that is read back by the same program.
    unsafe { libc::write(PIPE.load(SeqCst), (&raw const fault).cast(), size_of::<Fault>()) };
    exit(0)
}

/// The fault that `access` provokes in a child, if it provokes one.
fn fault(access: impl FnOnce()) -> Checked<Option<Fault>> {
    let (reader, writer) = pipe()?;
    let faulting = child(|| {
        PIPE.store(writer.as_raw_fd(), SeqCst);
        for signal in [libc::SIGSEGV, libc::SIGBUS] {
            handle(signal, send_fault, 0)?;
        }
        access();
        Ok(())
    })?;
    drop(writer);
    let mut bytes = [0; size_of::<Fault>()];
    let received = read(&reader, &mut bytes)?;
    faulting.succeeds()?;
    // SAFETY: all bytes of a fault were received, and any bits are valid.
    Ok((received == bytes.len()).then(|| unsafe { std::ptr::read_unaligned(bytes.as_ptr().cast()) }))
}

/// `access` must provoke a fault with this signal and reason at `address`.
#[track_caller]
pub(super) fn faults(what: &str, access: impl FnOnce(), kind: FaultKind, address: usize) -> Checked {
    equal(what, fault(access)?, Some(Fault { kind, address }))
}

fn fault_address() -> Checked {
    for address in [0x10_usize, 0x1234] {
        let nowhere = std::ptr::without_provenance_mut::<u8>(address);
        // SAFETY: it is not: the fault is what is wanted, in a child that it ends.
        faults("reading", || _ = unsafe { nowhere.read_volatile() }, NOT_MAPPED, address)?;
        // SAFETY: as above.
        faults("writing", || unsafe { nowhere.write_volatile(1) }, NOT_MAPPED, address)?;
    }
    let code = fault_address as fn() -> Checked as usize;
    let constant = std::ptr::with_exposed_provenance_mut::<u8>(code);
    // SAFETY: as above.
    faults("writing to program text", || unsafe { constant.write_volatile(1) }, NOT_ALLOWED, code)
}

fn after_fork() -> Checked {
    handle(libc::SIGUSR1, count, 0)?;
    block(&[libc::SIGUSR1])?;
    kill_process(getpid(), Signal::USR1)?;
    child(|| {
        holds("nothing is pending in the child", !pending(libc::SIGUSR1)?)?;
        kill_process(getpid(), Signal::USR1)?;
        equal("calls while the child's mask blocks it", CALLS.load(SeqCst), 0)?;
        unblock(&[libc::SIGUSR1])?;
        equal("calls of the parent's handler in the child", CALLS.load(SeqCst), 1)
    })?
    .succeeds()?;
    equal("calls in the parent", CALLS.load(SeqCst), 0)?;
    holds("it is still pending in the parent", pending(libc::SIGUSR1)?)
}

fn of_child() -> Checked {
    block(&[libc::SIGCHLD])?;
    let ended = child(|| exit(7))?;
    let info = fetch(&[libc::SIGCHLD])?;
    // SAFETY: SIGCHLD has both fields.
    let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
    equal(
        "si_code, si_pid, si_status",
        (info.si_code, pid, status),
        (libc::CLD_EXITED, ended.pid().as_raw_pid(), 7),
    )?;
    equal("exit status", ended.wait()?.exit_status(), Some(7))?;
    ignore(libc::SIGCHLD)?;
    let unseen = child(|| exit(7))?;
    fails("waiting while SIGCHLD is ignored", waitpid(Some(unseen.pid()), WaitOptions::empty()), Errno::CHILD)
}
