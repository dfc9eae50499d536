//! An instrument on this host.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use protocol::instrument;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process};

use super::Instrument;
use crate::error::Error;

/// How soon an interrupt is passed on.
const INTERVAL: Duration = Duration::from_millis(50);

/// Lines that wait to be heard.
const LINES: usize = 64;

impl Instrument {
    /// Runs it on this host with a request in JSON and other instruments that it may start, and passes on each line that it
    /// writes. An interrupt has it end early; so does the end of kiln, and it undoes what it did in either case.
    ///
    /// # Errors
    ///
    /// When the host does not start it.
    pub fn run_here(
        &self,
        request: &str,
        others: &[&Self],
        interrupt: &AtomicBool,
        hear: &mut dyn FnMut(&str),
    ) -> Result<ExitStatus, Error> {
        let failed = |source| Error::host(self.name, source);
        let others = others.iter().map(|other| Ok((instrument::variable(other.name), other.file()?)));
        let mut child = self.start(request, &others.collect::<io::Result<Vec<_>>>().map_err(failed)?)?;
        let output = child.stdout.take();
        thread::scope(|scope| {
            let (sender, lines) = sync_channel(LINES);
            scope.spawn(move || output.map(|output| pass_on(output, &sender)));
            let mut asked = false;
            loop {
                match lines.recv_timeout(INTERVAL) {
                    Ok(line) => hear(&line),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if interrupt.load(Ordering::Relaxed) && !asked {
                    asked = true;
                    // One that has ended by itself needs no signal.
                    let _ = kill_process(Pid::from_child(&child), Signal::INT);
                }
            }
        });
        child.wait().map_err(failed)
    }

    /// Starts it, with a variable for each of the files that it inherits.
    pub(super) fn start(&self, request: &str, files: &[(String, File)]) -> Result<Child, Error> {
        let failed = |source| Error::host(self.name, source);
        let file = self.file().map_err(failed)?;
        let mut command = Command::new(path(&file));
        command.arg0(self.name).arg(request).stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
        command.envs(files.iter().map(|(variable, file)| (variable, path(file))));
        let parent = std::process::id();
        let inherited: Vec<RawFd> = files.iter().map(|(_, file)| file.as_raw_fd()).collect();
        // SAFETY: between fork and exec only system calls are made and nothing is allocated.
        unsafe {
            command.pre_exec(move || {
                inherited.iter().try_for_each(|file| leave_open(*file))?;
                ::host::end_with_parent(parent, Signal::TERM)
            })
        };
        command.spawn().map_err(failed)
    }

    /// Its program in a file without a name.
    fn file(&self) -> io::Result<File> {
        let mut file = ::host::nameless()?;
        file.write_all(self.content)?;
        Ok(file)
    }
}

/// Where a process that has inherited the file finds it.
fn path(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Lets the file outlive execve(2).
fn leave_open(file: RawFd) -> io::Result<()> {
    // SAFETY: it is open until then.
    let file = unsafe { BorrowedFd::borrow_raw(file) };
    Ok(fcntl_setfd(file, FdFlags::empty())?)
}

/// Passes on each line until there are no more, or nobody hears them.
fn pass_on(output: impl Read, lines: &SyncSender<String>) {
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        if lines.send(line).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instruments::ALL;

    #[test]
    fn an_argument_that_is_no_request_is_refused() {
        for instrument in ALL {
            let status =
                instrument.run_here("{", &[], &AtomicBool::new(false), &mut |_| {}).expect("it starts");
            assert_eq!(
                status.code(),
                Some(i32::from(protocol::instrument::WRONG_REQUEST)),
                "{}",
                instrument.name
            );
        }
    }
}
