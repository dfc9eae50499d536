//! Signals: what they are called, where they come from, and whether a process dies of one.

use std::borrow::Cow;
use std::fmt;

use libc::{
    SIGABRT, SIGALRM, SIGBUS, SIGCHLD, SIGCONT, SIGFPE, SIGHUP, SIGILL, SIGINT, SIGIO, SIGKILL, SIGPIPE,
    SIGPROF, SIGPWR, SIGQUIT, SIGSEGV, SIGSTKFLT, SIGSTOP, SIGSYS, SIGTERM, SIGTRAP, SIGTSTP, SIGTTIN,
    SIGTTOU, SIGURG, SIGUSR1, SIGUSR2, SIGVTALRM, SIGWINCH, SIGXCPU, SIGXFSZ,
};

/// The first signal that the C library leaves to programs as SIGRTMIN.
const SIGRTMIN: i32 = 34;

/// A signal that was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal {
    /// Its number.
    pub number: i32,
    /// Where it came from.
    pub cause: Cause,
    /// The process neither handles nor ignores it, and dies of it.
    pub is_fatal: bool,
}

/// Where a signal came from: `si_code` of sigaction(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// An instruction of the thread itself, with the address of which it is: of memory for SIGSEGV and SIGBUS, otherwise its own.
    Fault(u64),
    /// A process sent it: its number and user.
    Process(i32, u32),
    /// A child of the process ended, stopped or went on.
    Child(i32),
    /// A timer of the process.
    Timer,
    /// The kernel, for another reason.
    Kernel,
}

impl Signal {
    /// Whether the program did something wrong, in contrast to somebody who ended it.
    #[must_use]
    pub fn is_crash(&self) -> bool {
        self.is_fatal && dumps_core(self.number)
    }
}

/// Whether a process that neither handles nor ignores a signal dies of it: the table of signal(7).
#[must_use]
pub fn kills(number: i32) -> bool {
    !matches!(number, SIGCHLD | SIGCONT | SIGURG | SIGWINCH) && !stops(number)
}

/// Whether a signal stops a process that neither handles nor ignores it.
#[must_use]
pub fn stops(number: i32) -> bool {
    matches!(number, SIGSTOP | SIGTSTP | SIGTTIN | SIGTTOU)
}

/// Whether the kernel writes a core dump of a process that dies of it, if that is allowed.
#[must_use]
pub fn dumps_core(number: i32) -> bool {
    matches!(
        number,
        SIGABRT | SIGBUS | SIGFPE | SIGILL | SIGQUIT | SIGSEGV | SIGSYS | SIGTRAP | SIGXCPU | SIGXFSZ
    )
}

/// The name of a signal.
#[must_use]
pub fn name(number: i32) -> Cow<'static, str> {
    let name = match number {
        SIGHUP => "SIGHUP",
        SIGINT => "SIGINT",
        SIGQUIT => "SIGQUIT",
        SIGILL => "SIGILL",
        SIGTRAP => "SIGTRAP",
        SIGABRT => "SIGABRT",
        SIGBUS => "SIGBUS",
        SIGFPE => "SIGFPE",
        SIGKILL => "SIGKILL",
        SIGUSR1 => "SIGUSR1",
        SIGSEGV => "SIGSEGV",
        SIGUSR2 => "SIGUSR2",
        SIGPIPE => "SIGPIPE",
        SIGALRM => "SIGALRM",
        SIGTERM => "SIGTERM",
        SIGSTKFLT => "SIGSTKFLT",
        SIGCHLD => "SIGCHLD",
        SIGCONT => "SIGCONT",
        SIGSTOP => "SIGSTOP",
        SIGTSTP => "SIGTSTP",
        SIGTTIN => "SIGTTIN",
        SIGTTOU => "SIGTTOU",
        SIGURG => "SIGURG",
        SIGXCPU => "SIGXCPU",
        SIGXFSZ => "SIGXFSZ",
        SIGVTALRM => "SIGVTALRM",
        SIGPROF => "SIGPROF",
        SIGWINCH => "SIGWINCH",
        SIGIO => "SIGIO",
        SIGPWR => "SIGPWR",
        SIGSYS => "SIGSYS",
        SIGRTMIN..=64 => return Cow::Owned(format!("SIGRTMIN+{}", number - SIGRTMIN)),
        _ => return Cow::Owned(format!("signal {number}")),
    };
    Cow::Borrowed(name)
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name(self.number))?;
        match self.cause {
            Cause::Fault(address) => write!(f, " at {address:#x}"),
            Cause::Process(sender, _) => write!(f, " from {sender}"),
            Cause::Child(child) => write!(f, " of child {child}"),
            Cause::Timer => f.write_str(" of a timer"),
            Cause::Kernel => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_signal_does_is_what_signal_7_says() {
        let fatal = (1..=31).filter(|&number| kills(number)).count();
        assert_eq!(fatal, 31 - 4 - 4, "all but SIGCHLD, SIGCONT, SIGURG, SIGWINCH and four that stop");
        assert!(dumps_core(SIGSYS) && !dumps_core(SIGTERM));
        assert!(kills(40), "real-time signals kill, too");
    }

    #[test]
    fn signals_have_the_names_of_the_manual() {
        assert_eq!(name(11), "SIGSEGV");
        assert_eq!(name(36), "SIGRTMIN+2");
        assert_eq!(name(99), "signal 99");
        let signal = Signal { number: 11, cause: Cause::Fault(0x10), is_fatal: true };
        assert_eq!(signal.to_string(), "SIGSEGV at 0x10");
    }
}
