//! Any program as the victim.

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use harness::clock::monotonic;
use harness::instrument::{broken, skip};
use harness::signals::{Signals, Woken};
use protocol::Report;
use protocol::steal::Pass;
use rustix::process::{Pid, Signal, getpid, getppid, kill_process_group, set_parent_process_death_signal};
use rustix::stdio::{dup2_stdout, stderr};

use crate::accounting;
use crate::affinity::pin;

/// How often it looks whether the command has ended, besides SIGCHLD.
const TICK: Duration = Duration::from_millis(100);

/// A command that was asked to end gets so long.
const GRACE: Duration = Duration::from_secs(2);

/// A command on a CPU. It is killed with all that it started when this is dropped.
#[derive(Debug)]
pub(crate) struct Victim {
    pid: Pid,
    begin: u64,
    ended: bool,
}

impl Victim {
    /// Starts a command on this CPU. What it prints is standard error's.
    ///
    /// # Errors
    ///
    /// `skip` if there is no such program.
    pub(crate) fn start(words: &[String], cpu: u32) -> Result<Self, Report> {
        let (name, arguments) = words.split_first().ok_or_else(|| broken("the command has no name"))?;
        let parent = getpid();
        let mut command = Command::new(name);
        command.args(arguments).stdin(Stdio::null()).process_group(0);
        // SAFETY: between fork and exec only system calls are made and nothing is allocated.
        unsafe { command.pre_exec(move || prepare(parent, cpu)) };
        let begin = monotonic();
        let child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => skip(format!("{name}: {error}")),
            _ => broken(format!("{name}: {error}")),
        })?;
        Ok(Self { pid: Pid::from_child(&child), begin, ended: false })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Waits for its end, and asks it to end after this time or at a signal; tells whether it was a signal.
    pub(crate) fn wait(mut self, limit: Duration, signals: &Signals) -> Result<(Pass, bool), Report> {
        let (mut asked, mut interrupted) = (None, false);
        loop {
            if let Some(pass) = self.reap()? {
                return Ok((pass, interrupted));
            }
            interrupted |= signals.wait(TICK) == Woken::Interrupted;
            let now = Duration::from_nanos(monotonic() - self.begin);
            match asked {
                None if interrupted || now >= limit => {
                    asked = Some(now);
                    self.send(Signal::TERM);
                }
                Some(then) if now - then >= GRACE => self.send(Signal::KILL),
                _ => {}
            }
        }
    }

    fn send(&self, signal: Signal) {
        // It may have ended.
        let _ = kill_process_group(self.pid, signal);
    }

    /// What it has used, once it has ended.
    fn reap(&mut self) -> Result<Option<Pass>, Report> {
        let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
        // SAFETY: both are valid for writing.
        let ended =
            unsafe { libc::wait4(self.pid.as_raw_pid(), &raw mut status, libc::WNOHANG, usage.as_mut_ptr()) };
        let elapsed_ns = monotonic() - self.begin;
        match ended {
            0 => return Ok(None),
            -1 => return Err(broken(format!("wait4: {}", io::Error::last_os_error()))),
            _ => self.ended = true,
        }
        // What it has left behind.
        self.send(Signal::KILL);
        // SAFETY: zeroed, and filled by the kernel.
        let usage = accounting::of(&unsafe { usage.assume_init() });
        let status = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
        let status = status.and_then(|status| u8::try_from(status).ok());
        Ok(Some(Pass { elapsed_ns: elapsed_ns.max(1), usage, status, ..Pass::default() }))
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        if !self.ended {
            self.send(Signal::KILL);
            // SAFETY: asks for nothing but the end.
            unsafe { libc::waitpid(self.pid.as_raw_pid(), std::ptr::null_mut(), 0) };
        }
    }
}

fn prepare(parent: Pid, cpu: u32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() != Some(parent) {
        return Err(io::ErrorKind::Interrupted.into());
    }
    pin(cpu)?;
    Ok(dup2_stdout(stderr())?)
}
