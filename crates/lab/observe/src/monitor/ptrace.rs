//! The requests of ptrace(2), and what wait(2) reports of threads that are traced.

use std::ffi::{c_uint, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::ending::Ending;
use crate::signal::stops;

/// All that a thread makes is traced, too, and nothing outlives kiln.
const OPTIONS: i32 = libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_EXITKILL;

/// Bytes of a set of registers at most: those of AMX take 11 KiB.
const REGISTERS_MAX: usize = 16 << 10;

/// Why a thread is stopped, or that it has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Report {
    /// It made a process or a thread.
    Made {
        /// By clone(2) with something else than SIGCHLD.
        is_clone: bool,
    },
    /// It runs another program.
    Exec,
    /// This signal is about to be delivered.
    Delivery(i32),
    /// It is stopped by a signal, as its whole process.
    Stopped,
    /// It is stopped because its tracer wanted that, or it is new.
    Trap,
    /// It ended.
    Ended(Ending, Usage),
}

/// What a process used, with the children for which it waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Time of CPUs in user space.
    pub user: Duration,
    /// Time of CPUs in the kernel.
    pub system: Duration,
    /// The most memory that it or one of them had, in KiB.
    pub memory: u64,
}

/// A request without a result.
fn request(request: c_uint, thread: i32, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: none of these requests writes through its arguments, which are numbers.
    let result = unsafe { libc::ptrace(request, thread, address as *mut c_void, data as *mut c_void) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A request that fills a value.
///
/// # Safety
///
/// The request must write a whole `T`, and nothing else.
unsafe fn ask<T>(request: c_uint, thread: i32) -> io::Result<T> {
    let mut value = MaybeUninit::<T>::uninit();
    // SAFETY: it writes a T, for which there is room.
    let result = unsafe { libc::ptrace(request, thread, ptr::null_mut::<c_void>(), value.as_mut_ptr()) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it has been written.
    Ok(unsafe { value.assume_init() })
}

/// Traces a thread, which goes on.
pub(super) fn seize(thread: i32) -> io::Result<()> {
    request(libc::PTRACE_SEIZE, thread, 0, usize::try_from(OPTIONS).unwrap_or_default())
}

/// Stops a thread.
pub(super) fn interrupt(thread: i32) -> io::Result<()> {
    request(libc::PTRACE_INTERRUPT, thread, 0, 0)
}

/// Lets a thread go on, with a signal or 0.
pub(super) fn resume(thread: i32, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_CONT, thread, 0, usize::try_from(signal).unwrap_or_default())
}

/// Leaves a thread stopped by its signal, and hears when it goes on.
pub(super) fn listen(thread: i32) -> io::Result<()> {
    request(libc::PTRACE_LISTEN, thread, 0, 0)
}

/// Traces a thread no more; it gets a signal or 0.
pub(super) fn detach(thread: i32, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_DETACH, thread, 0, usize::try_from(signal).unwrap_or_default())
}

/// A set of registers, by the number of its note in a core dump.
pub(crate) fn register_set(thread: i32, kind: u32) -> io::Result<Vec<u8>> {
    let mut registers = vec![0; REGISTERS_MAX];
    let mut place = libc::iovec { iov_base: registers.as_mut_ptr().cast(), iov_len: registers.len() };
    let kind = kind as usize as *mut c_void;
    // SAFETY: it writes into the place as much as there is room, and how much that is.
    let result = unsafe { libc::ptrace(libc::PTRACE_GETREGSET, thread, kind, &raw mut place) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    registers.truncate(place.iov_len);
    Ok(registers)
}

/// What an event is about: a new thread, or the number that a thread had before it ran another program.
pub(super) fn message(thread: i32) -> io::Result<i32> {
    // SAFETY: PTRACE_GETEVENTMSG writes an unsigned long.
    let message: libc::c_ulong = unsafe { ask(libc::PTRACE_GETEVENTMSG, thread)? };
    Ok(i32::try_from(message).unwrap_or_default())
}

/// The signal that is about to be delivered.
pub(crate) fn signal_info(thread: i32) -> io::Result<libc::siginfo_t> {
    // SAFETY: PTRACE_GETSIGINFO writes a siginfo_t.
    unsafe { ask(libc::PTRACE_GETSIGINFO, thread) }
}

/// The registers of a thread.
pub(crate) fn registers(thread: i32) -> io::Result<libc::user_regs_struct> {
    // SAFETY: PTRACE_GETREGS writes a user_regs_struct.
    unsafe { ask(libc::PTRACE_GETREGS, thread) }
}

/// Waits until a thread that is traced reports something; nothing when there is none left.
pub(super) fn wait() -> io::Result<Option<(i32, Report)>> {
    loop {
        match wait4(-1, 0) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.raw_os_error() == Some(libc::ECHILD) => return Ok(None),
            other => return other,
        }
    }
}

/// What a thread has reported until then; nothing if it has not.
pub(super) fn wait_for(thread: i32, deadline: Instant) -> Option<Report> {
    loop {
        match wait4(thread, libc::WNOHANG) {
            Ok(None) if Instant::now() < deadline => sleep(Duration::from_micros(100)),
            Ok(None) | Err(_) => return None,
            Ok(Some((_, report))) => return Some(report),
        }
    }
}

/// What a thread, or any that this one traces if that is -1, has reported; nothing if it has not and is not waited for.
fn wait4(thread: i32, flags: i32) -> io::Result<Option<(i32, Report)>> {
    let mut status = 0;
    // SAFETY: all zeros are a usage.
    let mut usage: libc::rusage = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: both are there to be written.
    let thread = unsafe {
        libc::wait4(thread, &raw mut status, libc::__WALL | libc::__WNOTHREAD | flags, &raw mut usage)
    };
    match thread {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        thread => Ok(Some((thread, report(status, &usage)))),
    }
}

fn report(status: i32, usage: &libc::rusage) -> Report {
    if !libc::WIFSTOPPED(status) {
        return Report::Ended(Ending::of_status(status), used(usage));
    }
    let signal = libc::WSTOPSIG(status);
    match status >> 16 {
        0 => Report::Delivery(signal),
        libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK => Report::Made { is_clone: false },
        libc::PTRACE_EVENT_CLONE => Report::Made { is_clone: true },
        libc::PTRACE_EVENT_EXEC => Report::Exec,
        libc::PTRACE_EVENT_STOP if stops(signal) => Report::Stopped,
        _ => Report::Trap,
    }
}

fn used(usage: &libc::rusage) -> Usage {
    let time = |time: libc::timeval| {
        let (seconds, micros) = (time.tv_sec.unsigned_abs(), time.tv_usec.unsigned_abs());
        Duration::from_secs(seconds) + Duration::from_micros(micros)
    };
    Usage { user: time(usage.ru_utime), system: time(usage.ru_stime), memory: usage.ru_maxrss.unsigned_abs() }
}

/// A thread that is stopped as long as this lives.
#[derive(Debug)]
pub(crate) struct Stop {
    thread: i32,
    /// A signal came first; it is delivered afterwards.
    signal: i32,
}

impl Stop {
    /// Wants a thread to stop. Its children are not traced.
    pub(crate) fn request(thread: i32) -> io::Result<Self> {
        request(libc::PTRACE_SEIZE, thread, 0, 0)?;
        let stop = Self { thread, signal: 0 };
        interrupt(thread)?;
        Ok(stop)
    }

    /// The registers of the thread; nothing if it has not stopped until then.
    pub(crate) fn wait(&mut self, deadline: Instant) -> Option<libc::user_regs_struct> {
        match wait_for(self.thread, deadline)? {
            Report::Ended(..) => return None,
            Report::Delivery(signal) => self.signal = signal,
            _ => {}
        }
        registers(self.thread).ok()
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        // One that has not stopped goes on when kiln ends.
        let _ = detach(self.thread, self.signal);
    }
}
