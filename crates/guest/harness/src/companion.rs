//! An instrument that another instrument runs.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use protocol::Report;
use protocol::instrument::{Line, scheme, variable};
use protocol::results::{DESCRIPTOR_VARIABLE, PATH_VARIABLE};
use rustix::process::{Pid, Signal, getppid, kill_process, set_parent_process_death_signal};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::instrument::broken;
use crate::sys::{default_action, unblock_all};

/// Lines that wait to be heard.
const LINES: usize = 16;

/// The stack of the thread that reads them.
const STACK: usize = 256 << 10;

/// How long an instrument may take to undo what it did, once it was asked to end.
const END: Duration = Duration::from_secs(30);

/// An instrument that reports a `T`. It ends in order when this value is dropped or the thread that started it ends,
/// for whatever reason.
#[derive(Debug)]
pub struct Companion<T> {
    name: &'static str,
    child: Child,
    lines: Receiver<Line<T>>,
    so_far: Option<T>,
    last: Option<Result<T, Report>>,
}

impl<T: DeserializeOwned + Send + 'static> Companion<T> {
    /// Starts the instrument with this name.
    ///
    /// # Errors
    ///
    /// As execve(2) says.
    pub fn start(name: &'static str, request: &impl Serialize) -> io::Result<Self> {
        let mut command = Command::new(program(name));
        command.arg0(name).arg(serde_json::to_string(request)?).stdin(Stdio::null()).stdout(Stdio::piped());
        // The page is for the conclusion of the one that runs it.
        command.env_remove(PATH_VARIABLE).env_remove(DESCRIPTOR_VARIABLE);
        let parent = std::process::id();
        // SAFETY: between fork and exec only system calls are made and nothing is allocated.
        unsafe { command.pre_exec(move || prepare(parent)) };
        let mut child = command.spawn()?;
        let output = child.stdout.take();
        let (sender, lines) = sync_channel(LINES);
        let companion = Self { name, child, lines, so_far: None, last: None };
        // Small, since an instrument that measures locks its memory.
        let reader = Builder::new().stack_size(STACK);
        reader.spawn(move || output.map(|output| pass_on(output, &sender)))?;
        Ok(companion)
    }

    /// Hears what it writes, until it has ended or the time is over. Whether it still runs.
    pub fn hear(&mut self, at_most: Duration) -> bool {
        let end = Instant::now() + at_most;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(Line::SoFar(report)) => self.so_far = Some(report),
                Ok(Line::Done(report)) => self.last = Some(Ok(report)),
                Ok(Line::Stopped(why)) => self.last = Some(Err(why)),
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    /// The last that it has reported while it runs.
    #[must_use]
    pub fn so_far(&self) -> Option<&T> {
        self.so_far.as_ref()
    }

    /// Its last word, once it has ended.
    ///
    /// # Errors
    ///
    /// Why it did not do what it was asked for.
    pub fn finish(mut self) -> Result<T, Report> {
        let has_ended = !self.hear(END);
        let last = self.last.take();
        match last {
            Some(last) if has_ended => last,
            _ if has_ended => Err(broken(format!("{}: it ended without a report", self.name))),
            _ => Err(broken(format!("{}: it does not end", self.name))),
        }
    }
}

impl<T> Companion<T> {
    /// Has it end early.
    pub fn interrupt(&self) {
        self.send(Signal::INT);
    }

    fn send(&self, signal: Signal) {
        // It may have ended by itself.
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }
}

impl<T> Drop for Companion<T> {
    fn drop(&mut self) {
        let end = Instant::now() + END;
        self.interrupt();
        // The lines end with the process.
        while Instant::now() < end
            && self.lines.recv_timeout(end.saturating_duration_since(Instant::now())).is_ok()
        {}
        self.send(Signal::KILL);
        let _ = self.child.wait();
    }
}

/// Where the program of an instrument is.
fn program(name: &str) -> OsString {
    std::env::var_os(variable(name)).unwrap_or_else(|| scheme(name).into())
}

/// What the new process does before it becomes the instrument.
fn prepare(parent: u32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::TERM))?;
    let now = getppid().map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs());
    if now != parent {
        return Err(io::ErrorKind::NotFound.into());
    }
    // What a shell runs in the background has it ignored.
    default_action(libc::SIGINT)?;
    Ok(unblock_all()?)
}

/// Passes on each line, until there are no more or nobody hears them.
fn pass_on<T: DeserializeOwned>(output: impl Read, lines: &SyncSender<Line<T>>) {
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        // The C library or the kernel may speak in between.
        let Ok(line) = serde_json::from_str(&line) else { continue };
        if lines.send(line).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_not_started() {
        let error = Companion::<u32>::start("nothing", &()).expect_err("there is no such program");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
