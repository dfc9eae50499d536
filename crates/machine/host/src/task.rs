//! Runs one program to its end, with a limit on the waiting and an ear for the user's wish to stop.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, setrlimit};
use thiserror::Error;

use crate::contain;
use crate::subordinate::with_subordinate_ids;

/// Most of each output that is given back, in bytes: more than apt prints about all kernels that there are. What
/// is longer is cut off here.
pub const OUTPUT_MAX: usize = 16 << 20;

/// Time for a program to end by itself after it was asked to.
const GRACE: Duration = Duration::from_secs(5);

/// A program that runs to its end before anything else is done.
#[derive(Debug)]
pub struct Task<'a> {
    command: Command,
    name: String,
    limit: Duration,
    interrupt: &'a AtomicBool,
    log: Option<File>,
}

/// What a program left behind.
#[derive(Debug)]
pub struct Finished {
    /// It exited with status 0.
    pub success: bool,
    /// Its standard output; empty if it went to a log.
    pub output: String,
    /// Its standard error; empty if it went to a log.
    pub complaint: String,
}

/// Why a program did not come to its end.
#[derive(Debug, Error)]
pub enum Failure {
    /// It is not installed.
    #[error("{0} is not installed")]
    Missing(String),
    /// The user wanted to stop.
    #[error("interrupted")]
    Interrupted {
        /// It ended when it was asked to; otherwise it was killed over its work.
        by_itself: bool,
    },
    /// It took longer than anything reasonable.
    #[error("{program}: still running after {seconds} seconds")]
    Endless {
        /// The program.
        program: String,
        /// How long it had.
        seconds: u64,
    },
    /// The host refused something.
    #[error("{program}: {source}")]
    Host {
        /// The program.
        program: String,
        /// The refusal.
        source: io::Error,
    },
}

impl<'a> Task<'a> {
    /// A program with its arguments; it speaks English and reads nothing.
    pub fn new(program: &str, arguments: &[&str], interrupt: &'a AtomicBool) -> Self {
        let mut command = Command::new(program);
        command.args(arguments);
        contain(&mut command);
        Self::of(command, program, interrupt)
    }

    /// The same as root over user ids of its own: [`with_subordinate_ids`].
    pub fn as_root(program: &str, arguments: &[&str], interrupt: &'a AtomicBool) -> Self {
        Self::of(with_subordinate_ids(program, arguments), program, interrupt)
    }

    fn of(mut command: Command, program: &str, interrupt: &'a AtomicBool) -> Self {
        command.env("LC_ALL", "C").stdin(Stdio::null());
        Self { command, name: program.to_owned(), limit: Duration::from_secs(60), interrupt, log: None }
    }

    /// Where it runs.
    #[must_use]
    pub fn within(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// How long it may take instead of a minute.
    #[must_use]
    pub fn limit(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// Where both outputs go, instead of coming back.
    #[must_use]
    pub fn log(self, log: File) -> Self {
        Self { log: Some(log), ..self }
    }

    /// No file that it writes, its output among them, grows beyond so many bytes: `RLIMIT_FSIZE` of getrlimit(2).
    #[must_use]
    pub fn writes_at_most(mut self, bytes: u64) -> Self {
        let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
        let set = move || Ok(setrlimit(Resource::Fsize, limit)?);
        // SAFETY: between fork and exec only a system call is made and nothing is allocated.
        unsafe { self.command.pre_exec(set) };
        self
    }

    /// Without a network, and with nothing of the user's own files but the directories that it may write to and those
    /// that it may read: [`sandbox()`](crate::sandbox()).
    ///
    /// # Errors
    ///
    /// When a path holds a zero byte.
    pub fn sandboxed(mut self, written: &[&Path], read: &[&Path]) -> io::Result<Self> {
        crate::sandbox(&mut self.command, written, read)?;
        Ok(self)
    }

    /// Changes the environment or what else a command has.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Command)) -> Self {
        change(&mut self.command);
        self
    }

    /// Runs it to its end; `tick` is called several times a second.
    ///
    /// # Errors
    ///
    /// When it cannot be started or does not end; when `interrupt` is set, after it was asked to stop.
    pub fn run(mut self, tick: &mut dyn FnMut()) -> Result<Finished, Failure> {
        let program = self.name.clone();
        let refused = |source: io::Error| Failure::Host { program: program.clone(), source };
        // Files take any amount of output without a thread that reads.
        let (output, complaint) = self.outputs().map_err(refused)?;
        let child = self.spawn(&output, &complaint)?;
        let status = self.wait(child, tick)?;
        let is_log = self.log.is_some();
        let text = |file| if is_log { Ok(String::new()) } else { text_of(file).map_err(refused) };
        Ok(Finished { success: status.success(), output: text(output)?, complaint: text(complaint)? })
    }

    fn outputs(&self) -> io::Result<(File, File)> {
        match &self.log {
            Some(log) => Ok((log.try_clone()?, log.try_clone()?)),
            None => Ok((nameless()?, nameless()?)),
        }
    }

    fn spawn(&mut self, output: &File, complaint: &File) -> Result<Child, Failure> {
        let refused = |source| Failure::Host { program: self.name.clone(), source };
        let (output, complaint) =
            output.try_clone().and_then(|output| Ok((output, complaint.try_clone()?))).map_err(refused)?;
        let spawned = self.command.stdout(output).stderr(complaint).spawn();
        spawned.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound if self.directory_exists() => Failure::Missing(self.name.clone()),
            _ => Failure::Host { program: self.name.clone(), source: error },
        })
    }

    /// A missing directory is reported by the same error as a missing program.
    fn directory_exists(&self) -> bool {
        self.command.get_current_dir().is_none_or(Path::is_dir)
    }

    fn wait(&self, mut child: Child, tick: &mut dyn FnMut()) -> Result<ExitStatus, Failure> {
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            let refused = |source| Failure::Host { program: self.name.clone(), source };
            if let Some(status) = child.try_wait().map_err(refused)? {
                return Ok(status);
            }
            if self.interrupt.load(Ordering::Relaxed) {
                return Err(Failure::Interrupted { by_itself: end(&mut child) });
            }
            if start.elapsed() > self.limit {
                end(&mut child);
                return Err(Failure::Endless { program: self.name.clone(), seconds: self.limit.as_secs() });
            }
            tick();
            sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }
}

/// Asks the program to stop, since make then removes what it has half made, and kills it if it does not.
/// True if it stopped by itself.
fn end(child: &mut Child) -> bool {
    let start = Instant::now();
    // It may end at any time; then there is nothing to signal.
    let _ = rustix::process::kill_process_group(Pid::from_child(child), Signal::INT);
    while matches!(child.try_wait(), Ok(None)) {
        if start.elapsed() > GRACE {
            let _ = child.kill();
            let _ = child.wait();
            return false;
        }
        sleep(Duration::from_millis(10));
    }
    true
}

/// A file in memory that nobody else can see.
///
/// # Errors
///
/// When the host refuses it.
pub fn nameless() -> io::Result<File> {
    Ok(rustix::fs::memfd_create("output", rustix::fs::MemfdFlags::CLOEXEC)?.into())
}

fn text_of(mut file: File) -> io::Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(OUTPUT_MAX as u64).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    static NEVER: AtomicBool = AtomicBool::new(false);

    fn shell(script: &str) -> Task<'static> {
        Task::new("sh", &["-c", script], &NEVER).within(Path::new("/"))
    }

    #[test]
    fn gives_both_outputs_and_the_success() {
        let done = shell("pwd; echo no $LC_ALL >&2; exit 3").run(&mut || {}).unwrap();
        assert_eq!((done.success, done.output.as_str(), done.complaint.as_str()), (false, "/\n", "no C\n"));
        assert!(shell("true").run(&mut || {}).unwrap().success);
    }

    #[test]
    fn an_endless_output_ends() {
        let done = shell("exec yes").writes_at_most(1 << 20).run(&mut || {}).unwrap();
        assert_eq!((done.success, done.output.len()), (false, 1 << 20));
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = Task::new("no-such-program-here", &[], &NEVER).run(&mut || {}).unwrap_err();
        assert!(matches!(&error, Failure::Missing(program) if program == "no-such-program-here"), "{error}");
        let nowhere = shell("true").within(Path::new("/no/such/directory")).run(&mut || {}).unwrap_err();
        assert!(matches!(nowhere, Failure::Host { .. }), "{nowhere}");
    }

    #[test]
    fn waiting_ends() {
        let error = shell("sleep 60").limit(Duration::from_millis(100)).run(&mut || {}).unwrap_err();
        assert!(error.to_string().contains("still running after"), "{error}");
    }

    #[test]
    fn who_is_interrupted_may_tidy_up_first() {
        // As in the background of a script, where programs must be interrupted all the same.
        // SAFETY: a plain system call; no other test is interrupted.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
        let directory = tempfile::tempdir().unwrap();
        let stop = AtomicBool::new(false);
        let script = "trap 'rm half; exit 1' INT; touch half; while :; do sleep 0.01; done";
        let task = Task::new("sh", &["-c", script], &stop).within(directory.path());
        let half = directory.path().join("half");
        let mut was_there = false;
        let error = task.run(&mut || {
            was_there |= half.exists();
            stop.store(was_there, Ordering::Relaxed);
        });
        assert!(matches!(error, Err(Failure::Interrupted { by_itself: true })));
        assert!(was_there && !half.exists());
    }

    #[test]
    fn a_log_gets_both_outputs_while_the_program_runs() {
        let mut log = tempfile::tempfile().unwrap();
        let done = shell("echo a; echo b >&2").log(log.try_clone().unwrap()).run(&mut || {}).unwrap();
        let mut text = String::new();
        log.rewind().unwrap();
        log.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), done.output.as_str()), ("a\nb\n", ""));
    }
}
