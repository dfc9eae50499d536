//! The process of a machine's program. It cannot outlive kiln: its command says so, and the thread that
//! starts it does nothing but wait for it.

use std::io::Read;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{SyncSender, channel};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::Raw;
use crate::error::Error;

/// What is kept of the program's own messages, in bytes.
const STDERR_MAX: u64 = 16 * 1024;

/// What fails when a program does not start.
const STARTING: &str = "starting the machine";

/// A running program.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) id: u32,
    pidfd: OwnedFd,
}

/// How a program ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Exit {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// The last line of what it said on standard error, if that was read.
    pub(crate) message: String,
}

impl Process {
    /// Starts `command`, which must end with this thread, with `inherited` open; its end is told to `events`.
    pub(crate) fn start(
        command: Command,
        inherited: Vec<OwnedFd>,
        events: SyncSender<Raw>,
    ) -> Result<Self, Error> {
        let program = command.get_program().to_string_lossy().into_owned();
        let wait = move |child| {
            // A machine that was dropped needs no event.
            let _ = events.send(Raw::Exited(end_of(child, &program)));
        };
        start_in_thread(STARTING, move || spawn(command, inherited), wait)
    }

    /// Ends it at once.
    pub(super) fn kill(&self) {
        // It may have ended already; then there is nothing to kill.
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Makes the program of `command` die with the thread that starts it.
pub(crate) fn end_with_kiln(command: &mut Command) {
    ::host::end_with_thread(command, Signal::KILL);
}

/// Starts a program in a thread that then waits for its end: the program dies with the thread that starts it. Gives what
/// `spawn` gives besides.
pub(super) fn start_in_thread<T: Send + 'static>(
    action: &str,
    spawn: impl FnOnce() -> Result<(Child, T), Error> + Send + 'static,
    wait: impl FnOnce(Child) + Send + 'static,
) -> Result<T, Error> {
    let (sender, receiver) = channel();
    // Whoever asked is waiting for the answer.
    std::thread::spawn(move || match spawn() {
        Ok((child, started)) => {
            let _ = sender.send(Ok(started));
            wait(child);
        }
        Err(error) => {
            let _ = sender.send(Err(error));
        }
    });
    let gone = |_| Error::host(action, std::io::Error::other("the thread that starts it died"));
    receiver.recv().map_err(gone)?
}

/// The program has its own copies of what it inherits then; ours would keep its sockets from closing with it.
fn spawn(mut command: Command, inherited: Vec<OwnedFd>) -> Result<(Child, Process), Error> {
    let numbers: Vec<i32> = inherited.iter().map(AsRawFd::as_raw_fd).collect();
    // SAFETY: between fork and exec only system calls are made and nothing is allocated.
    unsafe { command.pre_exec(move || numbers.iter().try_for_each(|&fd| pass_on(fd))) };
    let child = command.spawn().map_err(|source| Error::host(STARTING, source))?;
    drop((inherited, command));
    let pid = Pid::from_child(&child);
    let pidfd = pidfd_open(pid, PidfdFlags::empty()).map_err(|source| Error::host("pidfd_open", source))?;
    let process = Process { id: child.id(), pidfd };
    Ok((child, process))
}

/// Waits for the end of a program; what it says until then is part of that.
fn end_of(mut child: Child, program: &str) -> Exit {
    let text = messages(&mut child);
    child.wait().map_or_else(
        |error| Exit { message: error.to_string(), ..Exit::default() },
        |status| Exit::new(status, &text, program),
    )
}

/// Lets the descriptor survive exec, in this process only.
fn pass_on(number: i32) -> std::io::Result<()> {
    // SAFETY: the parent keeps the descriptor open until spawn has returned.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    Ok(rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::empty())?)
}

/// What the program says about itself, up to its end. More than is kept is read too, so that it never waits.
fn messages(child: &mut Child) -> String {
    let mut bytes = Vec::new();
    if let Some(mut stderr) = child.stderr.take() {
        // What could be read is all there is.
        let _ = stderr.by_ref().take(STDERR_MAX).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut stderr, &mut std::io::sink());
    }
    String::from_utf8_lossy(&bytes).trim().to_string()
}

impl Exit {
    fn new(status: ExitStatus, messages: &str, program: &str) -> Self {
        let name = program.rsplit('/').next().unwrap_or_default();
        // QEMU warns of much that ends nothing.
        let last = messages.lines().rfind(|line| !line.contains(": warning: ")).unwrap_or_default();
        let message = last.strip_prefix(name).and_then(|text| text.strip_prefix(": ")).unwrap_or(last);
        Self { code: status.code(), signal: status.signal(), message: message.to_string() }
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let how = match (self.code, self.signal) {
            (_, Some(signal)) => format!("ended by signal {signal}"),
            (Some(code), None) => format!("exit status {code}"),
            (None, None) => "ended".to_string(),
        };
        if self.message.is_empty() { f.write_str(&how) } else { write!(f, "{} ({how})", self.message) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_program_is_one_line_without_its_name() {
        let exit = |raw, text| Exit::new(ExitStatus::from_raw(raw), text, "/usr/bin/qemu").to_string();
        assert_eq!(exit(9, ""), "ended by signal 9");
        assert_eq!(exit(9, "qemu: warning: of something"), "ended by signal 9");
        assert_eq!(exit(1 << 8, "a warning\nqemu: no such thing"), "no such thing (exit status 1)");
    }
}
