//! The QEMU process. It cannot outlive kiln: the kernel kills it when the thread that started it dies,
//! and that thread does nothing but wait for it.

use std::io::Read;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, SyncSender, channel};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::Raw;
use crate::error::Error;

/// What is kept of QEMU's own messages, in bytes.
const STDERR_MAX: u64 = 16 * 1024;

/// A running QEMU.
#[derive(Debug)]
pub(super) struct Process {
    pidfd: OwnedFd,
}

impl Process {
    /// Starts `command` with `inherited` open; its end is told to `events`.
    pub(super) fn start(
        command: Command,
        inherited: Vec<OwnedFd>,
        events: SyncSender<Raw>,
    ) -> Result<Self, Error> {
        let (sender, receiver) = channel();
        std::thread::spawn(move || keep(command, inherited, &sender, &events));
        let gone = || std::io::Error::other("the thread that starts QEMU died");
        receiver.recv().map_err(|_| Error::host("starting QEMU", gone()))?.map(|pidfd| Self { pidfd })
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

/// The life of the thread that owns QEMU.
fn keep(
    mut command: Command,
    inherited: Vec<OwnedFd>,
    started: &Sender<Result<OwnedFd, Error>>,
    events: &SyncSender<Raw>,
) {
    let outcome = spawn(&mut command, &inherited);
    // QEMU has its own copies now; ours would keep its sockets from closing with it.
    drop(inherited);
    let mut child = match outcome {
        Ok((child, pidfd)) => {
            // Whoever asked is waiting for the answer.
            let _ = started.send(Ok(pidfd));
            child
        }
        Err(error) => {
            let _ = started.send(Err(error));
            return;
        }
    };
    let text = messages(&mut child);
    let status = child.wait();
    let ended = Raw::Exited(status.map_or_else(|error| error.to_string(), |status| describe(status, &text)));
    // A machine that was dropped needs no event.
    let _ = events.send(ended);
}

fn spawn(command: &mut Command, inherited: &[OwnedFd]) -> Result<(Child, OwnedFd), Error> {
    let numbers: Vec<i32> = inherited.iter().map(AsRawFd::as_raw_fd).collect();
    let parent = std::process::id();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    // SAFETY: between fork and exec only system calls are made and nothing is allocated.
    unsafe {
        command
            .pre_exec(move || die_with(parent).and_then(|()| numbers.iter().try_for_each(|&fd| pass_on(fd))))
    };
    let child = command.spawn().map_err(|source| Error::host("starting QEMU", source))?;
    let pid = Pid::from_child(&child);
    let pidfd = pidfd_open(pid, PidfdFlags::empty()).map_err(|source| Error::host("pidfd_open", source))?;
    Ok((child, pidfd))
}

/// The kernel kills this process when its parent thread dies: PR_SET_PDEATHSIG(2const).
fn die_with(parent: u32) -> std::io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have died before the order took effect.
    let now = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs());
    if now == parent { Ok(()) } else { Err(std::io::ErrorKind::NotFound.into()) }
}

/// Lets the descriptor survive exec, in this process only.
fn pass_on(number: i32) -> std::io::Result<()> {
    // SAFETY: the parent keeps the descriptor open until spawn has returned.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    Ok(rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::empty())?)
}

/// What QEMU says about itself, up to its end. More than is kept is read too, so that it never waits.
fn messages(child: &mut Child) -> String {
    let mut bytes = Vec::new();
    if let Some(mut stderr) = child.stderr.take() {
        // What could be read is all there is.
        let _ = stderr.by_ref().take(STDERR_MAX).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut stderr, &mut std::io::sink());
    }
    String::from_utf8_lossy(&bytes).trim().to_string()
}

/// One line about an end of QEMU.
fn describe(status: ExitStatus, messages: &str) -> String {
    let how = match (status.code(), status.signal()) {
        (_, Some(signal)) => format!("ended by signal {signal}"),
        (Some(code), None) => format!("exit status {code}"),
        (None, None) => "ended".to_string(),
    };
    let said = messages.lines().last().unwrap_or_default().trim_start_matches("qemu-system-x86_64: ");
    if said.is_empty() { how } else { format!("{said} ({how})") }
}
