//! Tracing: ptrace(2).

use std::ffi::c_uint;
use std::sync::atomic::{AtomicUsize, Ordering};

use harness::check::{Checked, equal, fails, holds};
use harness::child::{Child, child, exit, unprivileged};
use harness::sys::call;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, getppid, kill_process, waitpid};

use crate::case::{Case, Need};

pub(super) const CASES: &[Case] = &[
    Case::new(
        "ptrace/signal-stop",
        "ptrace(2): signals stop the tracee; PTRACE_CONT drops or replaces them",
        signal_stop,
    ),
    Case::new(
        "ptrace/syscall-stops",
        "PTRACE_SYSCALL stops at entry and exit; PTRACE_GET_SYSCALL_INFO gives number and result",
        syscall_stops,
    )
    .needs(&[REGISTER_SETS]),
    Case::new(
        "ptrace/memory",
        "PTRACE_PEEKDATA reads and PTRACE_POKEDATA writes the tracee's memory; EIO elsewhere",
        memory,
    ),
    Case::new(
        "ptrace/registers",
        "PTRACE_SETREGSET changes what a system call returns; PTRACE_GETREGSET gives the size",
        registers,
    )
    .needs(&[REGISTER_SETS]),
    Case::new("ptrace/fork-event", "PTRACE_O_TRACEFORK reports a new child and traces it", fork_event),
    Case::new(
        "ptrace/seize",
        "PTRACE_SEIZE does not stop the tracee, PTRACE_INTERRUPT does, PTRACE_DETACH lets it go",
        seize,
    ),
    Case::new("ptrace/refusals", "ptrace(2) gives EPERM and ESRCH as the manual page says", refusals),
];

/// An architecture whose kernel shows system calls and registers to tracers in the common form.
const REGISTER_SETS: Need = Need::Config("HAVE_ARCH_TRACEHOOK");

/// A request without pointers into this process.
fn ask(request: c_uint, pid: Option<Pid>, address: usize, data: usize) -> Result<usize, Errno> {
    let pid = Pid::as_raw(pid).unsigned_abs() as usize;
    // SAFETY: the callers pass only requests whose address and data are numbers here.
    unsafe { call(libc::SYS_ptrace, [request as usize, pid, address, data]) }
}

fn resume(tracee: &Child, how: c_uint, signal: i32) -> Result<usize, Errno> {
    ask(how, Some(tracee.pid()), 0, signal.unsigned_abs() as usize)
}

/// A child that is traced and has stopped before `body`.
fn traced(body: impl FnOnce() -> Checked) -> Checked<Child> {
    let tracee = child(|| {
        ask(libc::PTRACE_TRACEME, None, 0, 0)?;
        kill_process(getpid(), Signal::STOP)?;
        body()
    })?;
    stopped_by(&tracee, libc::SIGSTOP)?;
    Ok(tracee)
}

fn stopped_by(tracee: &Child, signal: i32) -> Checked {
    let status = tracee.watch(WaitOptions::UNTRACED)?;
    equal("signal that stopped the tracee", status.stopping_signal(), Some(signal))
}

fn signal_stop() -> Checked {
    let tracee = traced(|| {
        kill_process(getpid(), Signal::TERM)?;
        kill_process(getpid(), Signal::TERM)?;
        exit(0)
    })?;
    resume(&tracee, libc::PTRACE_CONT, 0)?;
    stopped_by(&tracee, libc::SIGTERM)?;
    resume(&tracee, libc::PTRACE_CONT, 0)?;
    stopped_by(&tracee, libc::SIGTERM)?;
    fails("an invalid signal", resume(&tracee, libc::PTRACE_CONT, 1000), Errno::IO)?;
    resume(&tracee, libc::PTRACE_CONT, libc::SIGUSR1)?;
    equal("signal that ended the tracee", tracee.wait()?.terminating_signal(), Some(libc::SIGUSR1))
}

/// The start of `struct ptrace_syscall_info`, to the first word of its union.
#[repr(C)]
#[derive(Default)]
struct SyscallInfo {
    kind: u8,
    arch: u32,
    instruction_pointer: u64,
    stack_pointer: u64,
    /// The number at entry, the result at exit.
    word: u64,
}

/// Lets a tracee with PTRACE_O_TRACESYSGOOD run to its next system call stop.
fn next_stop(tracee: &Child) -> Checked<SyscallInfo> {
    resume(tracee, libc::PTRACE_SYSCALL, 0)?;
    stopped_by(tracee, libc::SIGTRAP | 0x80)?;
    let mut info = SyscallInfo::default();
    let pid = tracee.pid().as_raw_pid().unsigned_abs() as usize;
    let arguments =
        [libc::PTRACE_GET_SYSCALL_INFO as usize, pid, size_of::<SyscallInfo>(), (&raw mut info).addr()];
    // SAFETY: the kernel writes at most the given size to `info`.
    unsafe { call(libc::SYS_ptrace, arguments)? };
    Ok(info)
}

/// Lets the tracee run to the exit stop of getppid(2).
fn run_to_exit_of_getppid(tracee: &Child) -> Checked<SyscallInfo> {
    ask(libc::PTRACE_SETOPTIONS, Some(tracee.pid()), 0, libc::PTRACE_O_TRACESYSGOOD.unsigned_abs() as usize)?;
    loop {
        let info = next_stop(tracee)?;
        if info.kind == libc::PTRACE_SYSCALL_INFO_ENTRY && info.word == libc::SYS_getppid.unsigned_abs() {
            break next_stop(tracee);
        }
    }
}

fn syscall_stops() -> Checked {
    let tracee = traced(|| {
        let _ = getppid();
        exit(9)
    })?;
    let info = run_to_exit_of_getppid(&tracee)?;
    equal("kind of the stop", info.kind, libc::PTRACE_SYSCALL_INFO_EXIT)?;
    equal("result of getppid", info.word, u64::from(getpid().as_raw_pid().unsigned_abs()))?;
    resume(&tracee, libc::PTRACE_CONT, 0)?;
    equal("exit status", tracee.wait()?.exit_status(), Some(9))
}

fn memory() -> Checked {
    static WORD: AtomicUsize = AtomicUsize::new(0x5eed);
    let tracee = traced(|| equal("word after the poke", WORD.load(Ordering::Relaxed), 0xfeed))?;
    let (pid, address) = (tracee.pid().as_raw_pid().unsigned_abs() as usize, (&raw const WORD).addr());
    let mut seen = 0_usize;
    // SAFETY: the system call, unlike libc's function, stores the word at its last argument.
    unsafe {
        call(libc::SYS_ptrace, [libc::PTRACE_PEEKDATA as usize, pid, address, (&raw mut seen).addr()])?
    };
    equal("word before the poke", seen, 0x5eed)?;
    ask(libc::PTRACE_POKEDATA, Some(tracee.pid()), address, 0xfeed)?;
    equal("word in the tracer", WORD.load(Ordering::Relaxed), 0x5eed)?;
    fails("a poke at no memory", ask(libc::PTRACE_POKEDATA, Some(tracee.pid()), 8, 1), Errno::IO)?;
    resume(&tracee, libc::PTRACE_CONT, 0)?;
    tracee.succeeds()
}

/// Where a system call's result is at its exit stop.
fn result_register(registers: &mut libc::user_regs_struct) -> &mut u64 {
    #[cfg(target_arch = "x86_64")]
    return &mut registers.rax;
    #[cfg(target_arch = "aarch64")]
    return &mut registers.regs[0];
}

/// PTRACE_GETREGSET and PTRACE_SETREGSET; gives the number of bytes.
fn register_set(
    request: c_uint,
    tracee: &Child,
    kind: i32,
    registers: &mut libc::user_regs_struct,
) -> Result<usize, Errno> {
    let size = size_of::<libc::user_regs_struct>();
    let mut vector = libc::iovec { iov_base: (&raw mut *registers).cast(), iov_len: size };
    let pid = tracee.pid().as_raw_pid().unsigned_abs() as usize;
    let kind = kind.unsigned_abs() as usize;
    // SAFETY: the vector names `registers`, which is plain data, and its size.
    unsafe { call(libc::SYS_ptrace, [request as usize, pid, kind, (&raw mut vector).addr()])? };
    Ok(vector.iov_len)
}

fn registers() -> Checked {
    const FORGED: u32 = 4711;
    let tracee = traced(|| {
        equal("getppid with a forged result", getppid().map(Pid::as_raw_pid), Some(FORGED as i32))
    })?;
    run_to_exit_of_getppid(&tracee)?;
    // SAFETY: all zeroes is a valid value of this plain structure.
    let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
    let size = register_set(libc::PTRACE_GETREGSET, &tracee, libc::NT_PRSTATUS, &mut registers)?;
    equal("size of the general registers", size, size_of_val(&registers))?;
    let result = result_register(&mut registers);
    equal("result register", *result, u64::from(getpid().as_raw_pid().unsigned_abs()))?;
    *result = u64::from(FORGED);
    register_set(libc::PTRACE_SETREGSET, &tracee, libc::NT_PRSTATUS, &mut registers)?;
    let unknown = register_set(libc::PTRACE_GETREGSET, &tracee, 0xfff, &mut registers);
    fails("an unknown register set", unknown, Errno::INVAL)?;
    resume(&tracee, libc::PTRACE_CONT, 0)?;
    tracee.succeeds()
}

fn fork_event() -> Checked {
    let tracee =
        traced(|| child(|| exit(5))?.wait().map(|status| exit(status.exit_status().unwrap_or(0)))?)?;
    ask(libc::PTRACE_SETOPTIONS, Some(tracee.pid()), 0, libc::PTRACE_O_TRACEFORK.unsigned_abs() as usize)?;
    resume(&tracee, libc::PTRACE_CONT, 0)?;
    let event = tracee.watch(WaitOptions::UNTRACED)?.as_raw() >> 8;
    equal("event", event, libc::SIGTRAP | (libc::PTRACE_EVENT_FORK << 8))?;
    let mut new = 0_usize;
    let pid = tracee.pid().as_raw_pid().unsigned_abs() as usize;
    // SAFETY: the request stores one word at its last argument.
    unsafe { call(libc::SYS_ptrace, [libc::PTRACE_GETEVENTMSG as usize, pid, 0, (&raw mut new).addr()])? };
    let new = i32::try_from(new).ok().and_then(Pid::from_raw);
    let stop = waitpid(new, WaitOptions::UNTRACED)?.map(|(_, status)| status.stopping_signal());
    equal("first stop of the new process", stop, Some(Some(libc::SIGSTOP)))?;
    ask(libc::PTRACE_DETACH, new, 0, 0)?;
    resume(&tracee, libc::PTRACE_CONT, 0)?;
    stopped_by(&tracee, libc::SIGCHLD)?;
    resume(&tracee, libc::PTRACE_CONT, 0)?;
    equal("exit status of the new process", tracee.wait()?.exit_status(), Some(5))
}

fn seize() -> Checked {
    let (reader, writer) = rustix::pipe::pipe()?;
    let tracee = child(|| equal("bytes read", rustix::io::read(&reader, &mut [0; 1])?, 1))?;
    ask(libc::PTRACE_SEIZE, Some(tracee.pid()), 0, 0)?;
    fails("cont while it runs", resume(&tracee, libc::PTRACE_CONT, 0), Errno::SRCH)?;
    let change = waitpid(Some(tracee.pid()), WaitOptions::NOHANG)?;
    holds("seized without a stop", change.is_none())?;
    ask(libc::PTRACE_INTERRUPT, Some(tracee.pid()), 0, 0)?;
    let event = tracee.watch(WaitOptions::UNTRACED)?.as_raw() >> 8;
    equal("event", event, libc::SIGTRAP | (libc::PTRACE_EVENT_STOP << 8))?;
    resume(&tracee, libc::PTRACE_DETACH, 0)?;
    fails("cont after detach", resume(&tracee, libc::PTRACE_CONT, 0), Errno::SRCH)?;
    rustix::io::write(&writer, b"!")?;
    tracee.succeeds()
}

fn refusals() -> Checked {
    let attach = |pid| ask(libc::PTRACE_ATTACH, Some(pid), 0, 0);
    fails("attach to itself", attach(getpid()), Errno::PERM)?;
    let gone = child(|| exit(0))?;
    let pid = gone.pid();
    gone.wait()?;
    fails("attach to nobody", attach(pid), Errno::SRCH)?;
    let tracee = traced(|| exit(0))?;
    fails("attach to a tracee", attach(tracee.pid()), Errno::PERM)?;
    fails("an unknown request", resume(&tracee, 0x7fff, 0), Errno::IO)?;
    let parent = getpid();
    unprivileged(|| fails("attach without privileges", attach(parent), Errno::PERM))?.succeeds()?;
    child(|| fails("cont of another's tracee", resume(&tracee, libc::PTRACE_CONT, 0), Errno::SRCH))?
        .succeeds()
}
