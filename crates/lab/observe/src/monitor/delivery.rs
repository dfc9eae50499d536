//! Signals that are about to be delivered.

use std::io;

use libc::{SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP, siginfo_t};

use super::ptrace;
use crate::ending::Ending;
use crate::process;
use crate::signal::{Cause, Signal, kills};

/// The signal that a stopped thread is about to get.
pub(super) fn signal(thread: i32, number: i32) -> io::Result<Signal> {
    let cause = cause(&ptrace::signal_info(thread)?);
    let is_fatal = kills(number) && process::has_default_action(thread, number);
    Ok(Signal { number, cause, is_fatal })
}

/// Where a signal came from: sigaction(2) says which fields hold for which codes.
fn cause(info: &siginfo_t) -> Cause {
    match (info.si_code, info.si_signo) {
        // SAFETY: these codes come with a process and a user.
        (libc::SI_USER | libc::SI_QUEUE | libc::SI_TKILL, _) => unsafe {
            Cause::Process(info.si_pid(), info.si_uid())
        },
        (libc::SI_TIMER, _) => Cause::Timer,
        (libc::SI_KERNEL, _) => Cause::Kernel,
        // SAFETY: the kernel sets the child for this signal.
        (code, libc::SIGCHLD) if code > 0 => unsafe { Cause::Child(info.si_pid()) },
        (code, SIGSEGV | SIGBUS | SIGILL | SIGFPE | SIGTRAP | SIGSYS) if code > 0 => {
            // SAFETY: the kernel sets the address for these signals; SIGSYS has that of its instruction at the same place.
            Cause::Fault(unsafe { info.si_addr() } as u64)
        }
        _ => Cause::Kernel,
    }
}

/// Which child ended how, if that is what SIGCHLD says.
pub(super) fn child_ended(info: &siginfo_t) -> Option<(i32, Ending)> {
    // SAFETY: the kernel sets both for these codes.
    let (child, status) = unsafe { (info.si_pid(), info.si_status()) };
    match info.si_code {
        libc::CLD_EXITED => Some((child, Ending::Code(status))),
        libc::CLD_KILLED => Some((child, Ending::Killed { signal: status, core: false })),
        libc::CLD_DUMPED => Some((child, Ending::Killed { signal: status, core: true })),
        _ => None,
    }
}
