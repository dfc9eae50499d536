//! Raw system calls, for those that no library wraps.

use rustix::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::mem::MaybeUninit;
use std::time::Duration;

use rustix::io::Errno;
use rustix::ioctl::Opcode;
use rustix::thread::UnshareFlags;

use crate::child::last_error;

/// Makes system call `number`.
///
/// # Errors
///
/// The error that the kernel gives.
///
/// # Safety
///
/// The arguments must be what the call's manual page asks for: pointers must point to memory that is
/// valid for what the kernel does with it.
pub unsafe fn call<const N: usize>(number: libc::c_long, arguments: [usize; N]) -> Result<usize, Errno> {
    let mut all = [0; 6];
    all[..N].copy_from_slice(&arguments);
    let [a, b, c, d, e, f] = all;
    // SAFETY: by the contract above.
    let value = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    usize::try_from(value).map_err(|_| last_error())
}

/// As [`call`], for a call that gives a new descriptor.
///
/// # Errors
///
/// The error that the kernel gives.
///
/// # Safety
///
/// As for [`call`], and the result must be a descriptor that nobody else owns.
pub unsafe fn call_for_descriptor<const N: usize>(
    number: libc::c_long,
    arguments: [usize; N],
) -> Result<OwnedFd, Errno> {
    // SAFETY: by the contract above.
    let value = unsafe { call(number, arguments)? };
    let value = i32::try_from(value).map_err(|_| Errno::BADF)?;
    // SAFETY: by the contract above.
    Ok(unsafe { OwnedFd::from_raw_fd(value) })
}

/// A signal handler that is told where the signal comes from.
pub type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);

/// Sets the handler of `signal` with `flags` such as `SA_RESTART`.
///
/// # Errors
///
/// As sigaction(2) says.
pub fn handle(signal: libc::c_int, handler: Handler, flags: libc::c_int) -> Result<(), Errno> {
    set_action(signal, handler as libc::sighandler_t, flags | libc::SA_SIGINFO)
}

/// Gives `signal` its default action again.
///
/// # Errors
///
/// As sigaction(2) says.
pub fn default_action(signal: libc::c_int) -> Result<(), Errno> {
    set_action(signal, libc::SIG_DFL, 0)
}

/// Ignores `signal`.
///
/// # Errors
///
/// As sigaction(2) says.
pub fn ignore(signal: libc::c_int) -> Result<(), Errno> {
    set_action(signal, libc::SIG_IGN, 0)
}

fn set_action(signal: libc::c_int, handler: libc::sighandler_t, flags: libc::c_int) -> Result<(), Errno> {
    // SAFETY: all zeroes is a valid action with an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    // SAFETY: the action is valid; cases have one thread, and their handlers only touch atomics,
    // make system calls or end the process.
    succeeded(unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) })
}

/// A set of signals.
#[must_use]
pub fn signal_set(signals: &[libc::c_int]) -> libc::sigset_t {
    // SAFETY: all zeroes is the empty set.
    let mut set = unsafe { std::mem::zeroed() };
    for &signal in signals {
        // SAFETY: changes only the set; a wrong number is refused.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    set
}

/// Blocks `signals`: they stay pending until they are fetched or unblocked.
///
/// # Errors
///
/// As sigprocmask(2) says.
pub fn block(signals: &[libc::c_int]) -> Result<(), Errno> {
    set_mask(libc::SIG_BLOCK, signals)
}

/// Unblocks `signals`.
///
/// # Errors
///
/// As sigprocmask(2) says.
pub fn unblock(signals: &[libc::c_int]) -> Result<(), Errno> {
    set_mask(libc::SIG_UNBLOCK, signals)
}

/// Unblocks all signals. It allocates nothing, so that a new process may do it before execve(2).
///
/// # Errors
///
/// As sigprocmask(2) says.
pub fn unblock_all() -> Result<(), Errno> {
    set_mask(libc::SIG_SETMASK, &[])
}

/// sigtimedwait(2): takes the next of `signals`, which must be blocked, if one comes within `time`.
#[must_use]
pub fn fetch_within(signals: &[libc::c_int], time: Duration) -> Option<libc::c_int> {
    let set = signal_set(signals);
    let time = libc::timespec {
        tv_sec: libc::time_t::try_from(time.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: time.subsec_nanos().into(),
    };
    // SAFETY: set and time are valid, and no details are asked for.
    let signal = unsafe { libc::sigtimedwait(&raw const set, std::ptr::null_mut(), &raw const time) };
    (signal > 0).then_some(signal)
}

fn set_mask(how: libc::c_int, signals: &[libc::c_int]) -> Result<(), Errno> {
    let set = signal_set(signals);
    // SAFETY: the set is valid, and the old mask is not asked for.
    succeeded(unsafe { libc::sigprocmask(how, &raw const set, std::ptr::null_mut()) })
}

/// sigwaitinfo(2): waits for one of `signals`, which must be blocked, and takes it.
///
/// # Errors
///
/// As the manual page says.
pub fn fetch(signals: &[libc::c_int]) -> Result<libc::siginfo_t, Errno> {
    let set = signal_set(signals);
    let mut info = MaybeUninit::uninit();
    // SAFETY: both are valid for what the kernel does with them.
    succeeded(unsafe { libc::sigwaitinfo(&raw const set, info.as_mut_ptr()) })?;
    // SAFETY: filled by the kernel.
    Ok(unsafe { info.assume_init() })
}

/// setitimer(2) of one of the three interval timers, which expires first after `every`, too.
///
/// # Errors
///
/// As the manual page says.
pub fn set_interval(which: libc::c_int, every: libc::timeval) -> Result<(), Errno> {
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: the timer is valid, and the old one is not asked for.
    unsafe { call(libc::SYS_setitimer, [which as usize, (&raw const timer) as usize, 0]) }.map(drop)
}

/// What a libc function that gives -1 for failure has returned.
///
/// # Errors
///
/// `errno` when it failed.
pub fn succeeded(returned: libc::c_int) -> Result<(), Errno> {
    if returned == -1 { Err(last_error()) } else { Ok(()) }
}

/// ioctl(2).
///
/// # Errors
///
/// The error that the kernel gives.
///
/// # Safety
///
/// As for [`call`]: `argument` must be what the request asks for.
pub unsafe fn ioctl(file: impl AsFd, request: Opcode, argument: usize) -> Result<usize, Errno> {
    let file = usize::try_from(file.as_fd().as_raw_fd()).map_err(|_| Errno::BADF)?;
    // SAFETY: by the contract above.
    unsafe { call(libc::SYS_ioctl, [file, request as usize, argument]) }
}

/// unshare(2): gives this process namespaces of its own.
///
/// # Errors
///
/// As the manual page says.
pub fn unshare(flags: UnshareFlags) -> Result<(), Errno> {
    // SAFETY: cases have one thread, so nobody else relies on a shared table of descriptors.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}

/// The time-stamp counter.
#[must_use]
#[inline(always)]
pub fn time_stamp() -> u64 {
    // SAFETY: reads a register that every x86-64 processor has.
    unsafe { core::arch::x86_64::_rdtsc() }
}
