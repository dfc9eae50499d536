//! A script of bpftrace.
//!
//! bpftrace starts a program of its own once all probes are attached, and looks until that ends: this one, which says so and waits for the
//! end. The program that is looked at is started after that, and misses no probe.

mod losses;

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitCode, Stdio};
use std::time::Duration;

use bpf::Watch;
use harness::clock::monotonic;
use harness::instrument::{broken, skip};
use harness::rcu::Expedited;
use harness::sys::unblock_all;
use harness::tracefs::mount_for_programs;
use protocol::Report;
use protocol::probe::{Found, Missing, OUTPUT_MAX};
use protocol::results::cut;
use rustix::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Signal, set_parent_process_death_signal};

use self::losses::{Losses, lost};
use super::Tool;

/// The argument with which this program is what bpftrace starts.
const COMPANION: &str = "--companion-of-bpftrace";

/// How long it may take to compile and attach a script, and to print what it has found.
const TIMEOUT: Duration = Duration::from_secs(300);

/// How often it is looked at meanwhile.
const PERIOD: Duration = Duration::from_millis(5);

/// Bytes of the end of its output, which are shown while it grows.
const SO_FAR: usize = 8 << 10;

/// Bytes of what it says beside its output, and of the reason that is given when it does not take a script.
const SAID_MAX: usize = 64 << 10;
const ERROR_MAX: usize = 800;

/// Warnings that are reported, and bytes of one.
const WARNINGS_MAX: usize = 16;
const WARNING_MAX: usize = 300;

pub(super) struct Bpftrace {
    child: Child,
    output: ChildStdout,
    errors: ChildStderr,
    /// As long as this is open, the companion waits.
    hold: Option<OwnedFd>,
    printed: Vec<u8>,
    said: Vec<u8>,
    omitted: u64,
    losses: Losses,
}

impl Bpftrace {
    pub(super) fn begin(script: &str, json: bool, watch: &Watch) -> Result<Self, Report> {
        let failed = |error: io::Error| broken(format!("bpftrace: {error}"));
        let program = program().ok_or_else(|| skip("bpftrace is not installed here (package bpftrace)"))?;
        let (attached, says) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| failed(error.into()))?;
        let (waits, hold) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| failed(error.into()))?;
        let this = std::process::id();
        let companion = format!("/proc/{this}/exe {COMPANION} {} {}", says.as_raw_fd(), waits.as_raw_fd());
        let mut command = Command::new(program);
        command.args(["-B", "line", "-f", if json { "json" } else { "text" }]);
        command.args(["-c", &companion, "-e", script]);
        command.args(watch.program.map(|program| program.as_raw_pid().to_string()));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let kept = [says.as_raw_fd(), waits.as_raw_fd()];
        // SAFETY: between fork and exec only system calls are made and nothing is allocated.
        unsafe { command.pre_exec(move || prepare(kept)) };
        let mut child = command.spawn().map_err(failed)?;
        let (Some(output), Some(errors)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(broken("bpftrace has no output"));
        };
        let mut begun = Self {
            child,
            output,
            errors,
            hold: Some(hold),
            printed: Vec::new(),
            said: Vec::new(),
            omitted: 0,
            losses: Losses::default(),
        };
        drop((says, waits));
        begun.wait_until_attached(File::from(attached)).map_err(failed)?.map_or(Ok(begun), Err)
    }

    /// Gives why it is not attached, if it is not.
    fn wait_until_attached(&mut self, mut attached: File) -> io::Result<Option<Report>> {
        for file in [self.output.as_fd(), self.errors.as_fd(), attached.as_fd()] {
            fcntl_setfl(file, OFlags::NONBLOCK)?;
        }
        let is_attached = self.wait(|_| match attached.read(&mut [0]) {
            Ok(count) => Ok(Some(count > 0)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        });
        match is_attached? {
            Some(true) => return Ok(None),
            Some(false) => {}
            None => {
                let why = format!("bpftrace takes more than {TIMEOUT:?} to attach its probes");
                return Ok(Some(broken(why)));
            }
        }
        self.child.wait()?;
        self.take()?;
        let said = String::from_utf8_lossy(&self.said);
        Ok(Some(skip(format!("bpftrace does not take the script: {}", cut(said.trim(), ERROR_MAX)))))
    }

    /// Looks again and again until there is something, and takes meanwhile what is printed; nothing if that takes too long.
    fn wait<T>(
        &mut self,
        mut look: impl FnMut(&mut Child) -> io::Result<Option<T>>,
    ) -> io::Result<Option<T>> {
        let begin = monotonic();
        loop {
            self.take()?;
            if let Some(found) = look(&mut self.child)? {
                return Ok(Some(found));
            }
            if Duration::from_nanos(monotonic() - begin) > TIMEOUT {
                return Ok(None);
            }
            std::thread::sleep(PERIOD);
        }
    }

    /// Takes what it has printed.
    fn take(&mut self) -> io::Result<()> {
        take(&mut self.output, |bytes| {
            self.losses.read(bytes);
            self.omitted += keep(bytes, &mut self.printed, OUTPUT_MAX);
        })?;
        take(&mut self.errors, |bytes| _ = keep(bytes, &mut self.said, SAID_MAX))
    }

    /// Has it print what it has found.
    fn finish(&mut self) -> io::Result<bool> {
        // It takes its probes away before it prints.
        let _expedited = Expedited::in_machine();
        self.hold = None;
        let has_ended = self.wait(Child::try_wait)?.is_some();
        self.take()?;
        Ok(has_ended)
    }
}

impl Drop for Bpftrace {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Tool for Bpftrace {
    fn look(&mut self) -> Result<(), Report> {
        self.take().map_err(|error| broken(format!("bpftrace: {error}")))
    }

    fn end(&mut self) -> Result<(), Report> {
        match self.finish() {
            Ok(true) => Ok(()),
            Ok(false) => Err(broken(format!("bpftrace takes more than {TIMEOUT:?} to end"))),
            Err(error) => Err(broken(format!("bpftrace: {error}"))),
        }
    }

    fn found(&mut self) -> Result<Found, Report> {
        let text = String::from_utf8_lossy(&self.printed);
        // What is no text becomes longer.
        let text = cut(&text, OUTPUT_MAX).to_owned();
        Ok(Found::Output { text, omitted: self.omitted })
    }

    fn so_far(&mut self) -> Result<Found, Report> {
        let begin = self.printed.len().saturating_sub(SO_FAR);
        let last = String::from_utf8_lossy(&self.printed[begin..]);
        // From the beginning of a line on.
        let last = if begin == 0 { &last } else { last.split_once('\n').map_or("", |(_, rest)| rest) };
        let omitted = self.omitted + self.printed.len().saturating_sub(last.len()) as u64;
        Ok(Found::Output { text: last.to_owned(), omitted })
    }

    fn missing(&self) -> Vec<Missing> {
        let said = String::from_utf8_lossy(&self.said);
        let warnings = said.lines().filter(|line| !line.trim().is_empty() && lost(line) == 0);
        let missing =
            |line: &str| Missing { what: "bpftrace".to_owned(), why: cut(line, WARNING_MAX).to_owned() };
        warnings.take(WARNINGS_MAX).map(missing).collect()
    }

    fn lost(&self) -> Result<u64, Report> {
        // Later releases than 0.17 say it there.
        let said = String::from_utf8_lossy(&self.said);
        Ok(said.lines().map(lost).fold(self.losses.events(), u64::saturating_add))
    }
}

/// In the process that becomes bpftrace, which leaves two descriptors to its companion.
fn prepare(kept: [i32; 2]) -> io::Result<()> {
    unblock_all()?;
    // Without tracefs bpftrace says itself what it cannot do.
    let _ = mount_for_programs();
    set_parent_process_death_signal(Some(Signal::KILL))?;
    for number in kept {
        // SAFETY: the parent holds it open until this process has executed.
        let kept = unsafe { rustix::fd::BorrowedFd::borrow_raw(number) };
        fcntl_setfd(kept, FdFlags::empty())?;
    }
    Ok(())
}

/// Reads what is there.
fn take(from: &mut impl Read, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut bytes = [0; 16 << 10];
    loop {
        match from.read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(count) => each(&bytes[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Keeps `bytes`, up to `limit` in all; gives how many it did not keep.
fn keep(bytes: &[u8], into: &mut Vec<u8>, limit: usize) -> u64 {
    let kept = bytes.len().min(limit.saturating_sub(into.len()));
    into.extend_from_slice(&bytes[..kept]);
    (bytes.len() - kept) as u64
}

/// Where bpftrace is.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/sbin:/usr/bin:/sbin:/bin".into());
    std::env::split_paths(&path).map(|folder| folder.join("bpftrace")).find(|file| file.is_file())
}

/// If this process is what bpftrace starts: says that all is attached, and waits until nothing more is to be looked at.
#[must_use]
pub fn companion(arguments: &[String]) -> Option<ExitCode> {
    let [_, word, says, waits] = arguments else { return None };
    if word != COMPANION {
        return None;
    }
    let file = |number: &String| {
        let number = number.parse().ok().filter(|number| *number > 2)?;
        // SAFETY: whoever gives this argument has left these two, and nothing else here knows them.
        Some(unsafe { File::from_raw_fd(number) })
    };
    let (says, mut waits) = (file(says)?, file(waits)?);
    let said = rustix::io::write(&says, &[1]);
    let waited = waits.read(&mut [0]);
    Some(if said.is_ok() && waited.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let mut into = b"ab".to_vec();
        assert_eq!(keep(b"cdef", &mut into, 4), 2);
        assert_eq!(into, b"abcd");
        assert_eq!(keep(b"x", &mut into, 3), 1);
    }

    #[test]
    fn all_that_is_there_is_taken() {
        let (there, mut taken) = (vec![7; 40_000], Vec::new());
        take(&mut &there[..], |bytes| taken.extend_from_slice(bytes)).expect("it is read");
        assert_eq!(taken, there);
    }

    #[test]
    fn only_what_bpftrace_starts_is_a_companion() {
        for words in
            [&["probe"][..], &["probe", "{}"], &["probe", COMPANION, "1", "x"], &["probe", "x", "7", "8"]]
        {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            assert!(companion(&words).is_none(), "{words:?}");
        }
    }
}
