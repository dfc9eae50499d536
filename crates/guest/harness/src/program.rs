//! A program of the user that an instrument starts and measures.

use std::convert::Infallible;
use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

use protocol::Report;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, getpid, getppid, kill_process_group, set_parent_process_death_signal};
use rustix::stdio::{dup2_stdin, dup2_stdout, stderr};

use crate::check::describe;
use crate::child::{exit, fork, last_error};
use crate::clock::monotonic;
use crate::instrument::{broken, skip};
use crate::signals::{Signals, Woken};
use crate::sys::unblock_all;

/// A program that was asked to end gets so long.
const GRACE: Duration = Duration::from_secs(2);

/// A program. It is killed with all that it started when this is dropped.
#[derive(Debug)]
pub struct Program {
    pid: Pid,
    begin: u64,
    ended: bool,
}

/// How a program ended.
#[derive(Debug)]
pub struct End {
    /// From its start, in nanoseconds.
    pub elapsed_ns: u64,
    /// What it has used, with those of its children that it has waited for.
    pub usage: libc::rusage,
    /// As wait(2) has it.
    pub status: libc::c_int,
    /// SIGINT or SIGTERM asked for its end.
    pub interrupted: bool,
}

impl Program {
    /// Starts a program with its arguments. In its process `prepare` is called first; then `watch` is called here, with its number, and
    /// returns before the program's first instruction. What the program prints is standard error's.
    ///
    /// # Errors
    ///
    /// `skip` if there is no such program; what `watch` says.
    pub fn start(
        words: &[String],
        prepare: impl FnOnce() -> Result<(), Errno>,
        watch: impl FnOnce(Pid) -> Result<(), Report>,
    ) -> Result<Self, Report> {
        let name = words.first().ok_or_else(|| broken("the command has no name"))?;
        let words = words.iter().map(|word| CString::new(word.as_bytes())).collect::<Result<Vec<_>, _>>();
        let words = words.map_err(|_| broken("a word of the command has a zero byte"))?;
        let failed = |error: Errno| broken(format!("{name}: {}", describe(error)));
        let (gate, opened) = pipe_with(PipeFlags::CLOEXEC).map_err(failed)?;
        let (failure, fails) = pipe_with(PipeFlags::CLOEXEC).map_err(failed)?;
        let parent = getpid();
        let begin = monotonic();
        let Some(pid) = fork().map_err(failed)? else {
            let Err(error) = become_program(parent, prepare, &gate, &words);
            let _ = rustix::io::write(&fails, &error.raw_os_error().to_ne_bytes());
            exit(127);
        };
        drop((gate, fails));
        // Whichever of the two processes is first: from here on the group can be killed.
        let _ = rustix::process::setpgid(Some(pid), Some(pid));
        let mut program = Self { pid, begin, ended: false };
        watch(pid)?;
        program.begin = monotonic();
        rustix::io::write(&opened, &[1]).map_err(failed)?;
        match failure_in(&failure) {
            None => Ok(program),
            Some(error @ (Errno::NOENT | Errno::ACCESS)) => Err(skip(format!("{name}: {}", describe(error)))),
            Some(error) => Err(failed(error)),
        }
    }

    /// Its number.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Waits for its end, and asks it to end after this time or at a signal. `look` is called at least once in each `period` meanwhile, with the
    /// time since the start.
    ///
    /// # Errors
    ///
    /// What wait4(2) or `look` says.
    pub fn wait(
        mut self,
        limit: Option<Duration>,
        period: Duration,
        signals: &Signals,
        look: &mut dyn FnMut(Duration) -> Result<(), Report>,
    ) -> Result<End, Report> {
        let (mut asked, mut interrupted) = (None, false);
        loop {
            if let Some(end) = self.reap()? {
                return Ok(End { interrupted, ..end });
            }
            interrupted |= signals.wait(period) == Woken::Interrupted;
            let now = Duration::from_nanos(monotonic() - self.begin);
            look(now)?;
            match asked {
                None if interrupted || limit.is_some_and(|limit| now >= limit) => {
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

    /// How it ended, once it has.
    fn reap(&mut self) -> Result<Option<End>, Report> {
        let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
        // SAFETY: both are valid for writing.
        let ended =
            unsafe { libc::wait4(self.pid.as_raw_pid(), &raw mut status, libc::WNOHANG, usage.as_mut_ptr()) };
        let elapsed_ns = (monotonic() - self.begin).max(1);
        match ended {
            0 => return Ok(None),
            -1 => return Err(broken(format!("wait4: {}", io::Error::last_os_error()))),
            _ => self.ended = true,
        }
        // What it has left behind.
        self.send(Signal::KILL);
        // SAFETY: zeroed, and filled by the kernel.
        let usage = unsafe { usage.assume_init() };
        Ok(Some(End { elapsed_ns, usage, status, interrupted: false }))
    }
}

impl End {
    /// The exit status, unless a signal ended it.
    #[must_use]
    pub fn code(&self) -> Option<u8> {
        let status = libc::WIFEXITED(self.status).then(|| libc::WEXITSTATUS(self.status));
        status.and_then(|status| u8::try_from(status).ok())
    }

    /// The signal that ended it.
    #[must_use]
    pub fn signal(&self) -> Option<u8> {
        let signal = libc::WIFSIGNALED(self.status).then(|| libc::WTERMSIG(self.status));
        signal.and_then(|signal| u8::try_from(signal).ok())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if !self.ended {
            self.send(Signal::KILL);
            // SAFETY: asks for nothing but the end.
            unsafe { libc::waitpid(self.pid.as_raw_pid(), std::ptr::null_mut(), 0) };
        }
    }
}

/// Waits for the gate to open and executes the program.
fn become_program(
    parent: Pid,
    prepare: impl FnOnce() -> Result<(), Errno>,
    gate: &OwnedFd,
    words: &[CString],
) -> Result<Infallible, Errno> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() != Some(parent) {
        return Err(Errno::INTR);
    }
    rustix::process::setpgid(None, None)?;
    unblock_all()?;
    dup2_stdin(rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)?;
    // The instrument's own standard output is for its report.
    dup2_stdout(stderr())?;
    prepare()?;
    rustix::io::retry_on_intr(|| rustix::io::read(gate, &mut [0]))?;
    let pointers: Vec<_> = words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect();
    // SAFETY: the list ends with a null pointer, and all words outlive the call.
    unsafe { libc::execvp(pointers[0], pointers.as_ptr()) };
    Err(last_error())
}

/// Why a program was not executed; nothing if it was, which closes the pipe.
fn failure_in(pipe: &OwnedFd) -> Option<Errno> {
    let mut bytes = [0; 4];
    let read = rustix::io::retry_on_intr(|| rustix::io::read(pipe, &mut bytes));
    (read == Ok(bytes.len())).then(|| Errno::from_raw_os_error(i32::from_ne_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::ReportKind;

    fn start(words: &[&str]) -> Result<Program, Report> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        Program::start(&words, || Ok(()), |_| Ok(()))
    }

    fn wait(program: Program, limit: Duration) -> End {
        let signals = Signals::block().expect("they are blocked");
        program.wait(Some(limit), Duration::from_millis(10), &signals, &mut |_| Ok(())).expect("it ends")
    }

    #[test]
    fn a_program_ends_by_itself_or_when_its_time_is_over() {
        let end = wait(start(&["sh", "-c", "exit 7"]).expect("it is there"), Duration::from_secs(60));
        assert_eq!((end.code(), end.signal(), end.interrupted), (Some(7), None, false));
        let end = wait(start(&["sleep", "600"]).expect("it is there"), Duration::from_millis(1));
        assert_eq!((end.code(), end.signal()), (None, Some(15)));
    }

    #[test]
    fn what_is_no_program_is_named() {
        let refused = start(&["/nowhere/at-all"]).expect_err("it is not there");
        assert!(
            refused.kind == ReportKind::Skip && refused.text.starts_with("/nowhere/at-all: "),
            "{refused:?}"
        );
        assert_eq!(start(&[]).expect_err("no name").kind, ReportKind::Broken);
    }

    #[test]
    fn it_is_watched_before_its_first_instruction() {
        let words = ["sh", "-c", "exit 0"].map(str::to_owned);
        let comm =
            |pid: Pid| std::fs::read_to_string(format!("/proc/{}/comm", pid.as_raw_pid())).expect("it lives");
        let watch =
            |pid| (comm(pid) != "sh\n").then_some(()).ok_or_else(|| broken("it is the program already"));
        let program = Program::start(&words, || Ok(()), watch).expect("it waits");
        wait(program, Duration::from_secs(60));
        let refused =
            Program::start(&words, || Ok(()), |_| Err(skip("no"))).expect_err("the watcher refuses");
        assert_eq!(refused.text, "no");
    }
}
