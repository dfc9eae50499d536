//! What a lab script has started: programs and files, any number at a time.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;

use harness::check::{Stop, describe};
use harness::child::{exit, fork};
use harness::modules::{load_with, unload};
use protocol::job::{Order, PIECE_MAX, Task};
use protocol::trace::TraceRequest;
use protocol::{Command, FromAgent};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::MemfdFlags;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, wait};
use rustix::system::{RebootCommand, reboot};

use crate::processes::{NOT_EXECUTABLE, NOT_FOUND, end_of, status_of, unblock_signals};
use crate::session::Session;
use crate::system::load_kernel;
use crate::wake::set_clock;
use crate::{interface, marks, root};

/// Jobs at a time.
const JOBS_MAX: usize = 256;

/// All jobs that have not ended.
#[derive(Debug, Default)]
pub(crate) struct Jobs(Vec<Job>);

#[derive(Debug)]
struct Job {
    number: u32,
    pid: Pid,
    /// What it writes; nothing once all writers are gone.
    pipe: Option<File>,
    /// How much of it is still passed on.
    left: usize,
}

impl Jobs {
    /// The pipes of all jobs that may still write.
    pub(crate) fn pipes(&self) -> Vec<BorrowedFd<'_>> {
        self.0.iter().filter_map(|job| Some(job.pipe.as_ref()?.as_fd())).collect()
    }

    /// Does what a script wants, and answers.
    pub(crate) fn perform(&mut self, session: &mut Session, number: u32, order: Order) {
        let done = match order {
            Order::Start { task, input, output_max } => self.start(number, &task, &input, output_max),
            Order::Signal { job, signal } => self.signal(job, signal),
            Order::Load { path, parameters } => load_with(Path::new(&path), &parameters).map_err(text),
            Order::Unload { name } => unload(&name).map_err(describe_error),
            Order::Interface(interface) => interface::configure(&interface),
            Order::Clock { now_us } => set_clock(now_us).map_err(describe_error),
            Order::Restart => reboot(RebootCommand::Restart).map_err(describe_error),
            Order::LoadKernel { parameters } => load_kernel(&parameters).map_err(|error| error.to_string()),
            Order::Record(request) => self.record(session, &request),
            Order::EndRecording => {
                session.stop_recording();
                Ok(())
            }
            Order::Mark { text } => {
                marks::mark(&text);
                Ok(())
            }
            Order::Kexec => reboot(RebootCommand::Kexec).map_err(describe_error),
        };
        session.send(&FromAgent::Answer { number, trouble: done.err() });
    }

    fn start(&mut self, number: u32, task: &Task, input: &[u8], output_max: u64) -> Result<(), String> {
        if self.0.len() >= JOBS_MAX {
            return Err(format!("more than {JOBS_MAX} commands at a time"));
        }
        if let Some(why) = root::lost_services() {
            return Err(why);
        }
        let (pid, pipe) = spawn(task, input).map_err(|error| error.to_string())?;
        let left = usize::try_from(output_max).unwrap_or(usize::MAX);
        self.0.push(Job { number, pid, pipe: Some(pipe), left });
        Ok(())
    }

    /// Jobs that end until events are recorded are reported then.
    fn record(&mut self, session: &mut Session, request: &TraceRequest) -> Result<(), String> {
        let recorded = session.record(request);
        self.follow(session, &[]);
        recorded
    }

    fn signal(&self, number: u32, signal: i32) -> Result<(), String> {
        let Some(job) = self.0.iter().find(|job| job.number == number) else { return Ok(()) };
        let signal = Signal::from_named_raw(signal).ok_or_else(|| format!("there is no signal {signal}"))?;
        match kill_process_group(job.pid, signal) {
            // It has ended and waits to be seen.
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(describe_error(error)),
        }
    }

    /// Passes on what jobs wrote, those whose pipes are `readable` by their places in [`Jobs::pipes`], and reports those that
    /// have ended. Orphans end here, too.
    pub(crate) fn follow(&mut self, session: &mut Session, readable: &[usize]) {
        let writing = self.0.iter_mut().filter(|job| job.pipe.is_some()).enumerate();
        for (_, job) in writing.filter(|(place, _)| readable.contains(place)) {
            job.forward(session);
        }
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            let Some(place) = self.0.iter().position(|job| job.pid == pid) else { continue };
            let mut job = self.0.swap_remove(place);
            job.drain(session);
            session.send(&FromAgent::JobEnded { job: job.number, end: end_of(status) });
        }
    }
}

impl Job {
    /// Passes on what can be read at once; whether there was something.
    fn forward(&mut self, session: &mut Session) -> bool {
        let Some(pipe) = &mut self.pipe else { return false };
        let mut buffer = vec![0; PIECE_MAX];
        let count = match pipe.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return false,
            Err(_) => 0,
        };
        if count == 0 {
            self.pipe = None;
            return false;
        }
        buffer.truncate(count.min(self.left));
        self.left -= buffer.len();
        if !buffer.is_empty() {
            session.send(&FromAgent::JobOutput { job: self.number, bytes: buffer });
        }
        true
    }

    /// Passes on what is left in the pipe; a process that the job has left behind may go on writing for ever.
    fn drain(&mut self, session: &mut Session) {
        for _ in 0..64 {
            if !self.forward(session) {
                return;
            }
        }
    }
}

fn text(stop: Stop) -> String {
    stop.0.text
}

fn describe_error(error: Errno) -> String {
    describe(error).to_string()
}

/// Starts a process for a task, with this standard input; gives its id and the pipe with its output.
fn spawn(task: &Task, input: &[u8]) -> std::io::Result<(Pid, File)> {
    let input = in_memory(input)?;
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    rustix::io::ioctl_fionbio(&writer, false)?;
    match fork()? {
        Some(pid) => Ok((pid, reader.into())),
        None => exit(in_child(task, &input, writer)),
    }
}

/// A file without a name that holds `content`, to be read from its beginning.
fn in_memory(content: &[u8]) -> std::io::Result<OwnedFd> {
    let mut file = File::from(rustix::fs::memfd_create("input", MemfdFlags::CLOEXEC)?);
    file.write_all(content)?;
    std::io::Seek::rewind(&mut file)?;
    Ok(file.into())
}

fn in_child(task: &Task, input: &OwnedFd, output: OwnedFd) -> i32 {
    let is_for_agent = matches!(task, Task::Write { for_agent: true, .. });
    let prepared = isolate(input, output).map_err(describe_error).and_then(|()| match is_for_agent {
        true => Ok(()),
        false => root::enter().map_err(text),
    });
    if let Err(why) = prepared {
        // The script shows what a job wrote.
        let _ = writeln!(std::io::stdout(), "{why}");
        return NOT_EXECUTABLE;
    }
    let done = match task {
        Task::Program(command) => return program(command),
        Task::Read { path } => read(path),
        Task::Write { path, append, permissions, .. } => write(path, *append, *permissions),
    };
    done.map_or_else(|error| error.raw_os_error().unwrap_or(libc::EIO), |()| 0)
}

/// A session and standard streams of its own; the signals of a fresh process.
fn isolate(input: &OwnedFd, output: OwnedFd) -> Result<(), Errno> {
    rustix::process::setsid()?;
    unblock_signals();
    rustix::stdio::dup2_stdin(input)?;
    rustix::stdio::dup2_stdout(&output)?;
    rustix::stdio::dup2_stderr(&output)?;
    // Standard output holds the pipe from here on.
    drop(output);
    Ok(())
}

fn program(command: &Command) -> i32 {
    let Some((program, arguments)) = command.argv.split_first() else { return NOT_FOUND };
    let directory = if command.directory.is_empty() { "/" } else { &command.directory };
    let variables = command.environment.iter().map(|(name, value)| (name, value));
    let error =
        std::process::Command::new(program).args(arguments).envs(variables).current_dir(directory).exec();
    // The script shows what a job wrote.
    let _ = writeln!(std::io::stdout(), "{program}: {error}");
    status_of(&error)
}

fn read(path: &str) -> std::io::Result<()> {
    let mut output = std::io::stdout();
    std::io::copy(&mut File::open(path)?, &mut output)?;
    // The child exits without running destructors, and standard output holds back what comes after the last line feed.
    output.flush()
}

fn write(path: &str, append: bool, permissions: u32) -> std::io::Result<()> {
    let mut options = File::options();
    let options =
        options.create(true).append(append).write(true).truncate(!append).mode(permissions & 0o7777);
    std::io::copy(&mut std::io::stdin(), &mut options.open(path)?).map(drop)
}
