//! What wakes an instrument: the end of a child, SIGINT and SIGTERM, or time.

use std::mem::MaybeUninit;
use std::time::Duration;

use rustix::io::Errno;

use crate::sys::{fetch_within, signal_set, succeeded};

const SIGNALS: [libc::c_int; 3] = [libc::SIGCHLD, libc::SIGINT, libc::SIGTERM];

/// Blocks these signals in this thread, for as long as it lives.
#[derive(Debug)]
pub struct Signals {
    before: libc::sigset_t,
}

/// What it was woken by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// The time is over, or a child has changed.
    Looks,
    /// The instrument shall end.
    Interrupted,
}

impl Signals {
    /// Blocks them.
    ///
    /// # Errors
    ///
    /// As sigprocmask(2) says.
    pub fn block() -> Result<Self, Errno> {
        let set = signal_set(&SIGNALS);
        let mut before = MaybeUninit::uninit();
        // SAFETY: the set is valid, and the old mask is stored.
        succeeded(unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, before.as_mut_ptr()) })?;
        // SAFETY: stored just now.
        Ok(Self { before: unsafe { before.assume_init() } })
    }

    /// Waits for one of them, at most so long.
    #[must_use]
    pub fn wait(&self, time: Duration) -> Woken {
        match fetch_within(&SIGNALS, time) {
            Some(libc::SIGINT | libc::SIGTERM) => Woken::Interrupted,
            _ => Woken::Looks,
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: the mask is the one that was there before.
        unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raise(signal: libc::c_int) {
        // SAFETY: the signal is blocked in this thread, to which it is sent.
        unsafe { libc::pthread_kill(libc::pthread_self(), signal) };
    }

    #[test]
    fn it_says_what_woke_it() {
        let signals = Signals::block().expect("they are blocked");
        assert_eq!(signals.wait(Duration::ZERO), Woken::Looks);
        raise(libc::SIGTERM);
        assert_eq!(signals.wait(Duration::from_secs(60)), Woken::Interrupted);
        raise(libc::SIGCHLD);
        assert_eq!(signals.wait(Duration::from_secs(60)), Woken::Looks);
    }
}
