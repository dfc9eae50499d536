//! The side of a run that is in its own process.

use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;

use harness::check::{Checked, Stop, broken, describe, skip};
use harness::child::{Child, child, conclude, exit, fork};
use harness::execute::not_executed;
use harness::modules::{is_shown, load};
use harness::needs::missing;
use harness::page;
use protocol::results::{DESCRIPTOR_VARIABLE, PATH_VARIABLE, Page};
use protocol::{Command, ReportKind, RunRequest, Work};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Pid;

use crate::environment::list_modules;
use crate::leftovers::TMP;
use crate::processes::unblock_signals;
use crate::{results, root};

/// The number under which programs of a case inherit the results page.
const RESULTS_DESCRIPTOR: i32 = 99;

/// What the new process does.
pub(crate) enum Task<'a> {
    /// Modules, needs, set-up and body, or the program.
    Main(&'a RunRequest),
    /// The clean-up of a case.
    Cleanup(fn() -> Checked),
}

/// The environment that all runs share, and what a panic of a case means.
pub(crate) fn prepare() {
    let descriptor = RESULTS_DESCRIPTOR.to_string();
    let variables = [
        ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
        ("HOME", "/root"),
        (PATH_VARIABLE, results::PATH),
        (DESCRIPTOR_VARIABLE, &descriptor),
    ];
    for (name, value) in variables {
        // SAFETY: process 1 has one thread.
        unsafe { std::env::set_var(name, value) };
    }
    std::panic::set_hook(Box::new(|info| page::report(ReportKind::Broken, &info.to_string())));
}

/// Forks a process that ends at once: what a kernel reports at its first fork counts for the boot, not for the first
/// case. With lockdep, User-Mode Linux 6.1 reports an RCU usage of its own there (`force_flush_all`).
pub(crate) fn fork_once() {
    // If this fails, the first case shows it.
    let _ = child(|| Ok(())).and_then(Child::wait);
}

/// Forks a process in a session of its own for `task`; gives its id and the pipe with its output.
pub(crate) fn start(task: &Task<'_>, page: &'static Page, file: &OwnedFd) -> std::io::Result<(Pid, OwnedFd)> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    rustix::io::ioctl_fionbio(&writer, false)?;
    match fork()? {
        Some(pid) => Ok((pid, reader)),
        None => exit(in_child(task, page, file, writer)),
    }
}

fn in_child(task: &Task<'_>, page: &'static Page, file: &OwnedFd, output: OwnedFd) -> i32 {
    perform(task, page, || isolate(file, output))
}

/// Does the task in this process, with the standard streams that it has.
pub(crate) fn in_foreground(task: &Task<'_>, page: &'static Page, file: &OwnedFd) -> i32 {
    perform(task, page, || pass_on(file).and_then(|()| rustix::process::chdir(TMP)))
}

fn perform(task: &Task<'_>, page: &'static Page, begin: impl FnOnce() -> Result<(), Errno>) -> i32 {
    page::adopt(page);
    if let Err(error) = begin() {
        page.report(ReportKind::Broken, &format!("starting the run: {}", describe(error)));
        return 1;
    }
    conclude(match task {
        Task::Main(request) => main(request),
        Task::Cleanup(cleanup) => cleanup().map_err(|stop| own_fault("clean-up", stop)),
    })
}

/// A session, standard streams and a directory of its own; the signals of a fresh process.
fn isolate(file: &OwnedFd, output: OwnedFd) -> Result<(), Errno> {
    rustix::process::setsid()?;
    unblock_signals();
    let null = rustix::fs::open("/dev/null", OFlags::RDONLY, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&output)?;
    rustix::stdio::dup2_stderr(&output)?;
    pass_on(file)?;
    // Standard output holds the pipe from here on.
    drop(output);
    rustix::process::chdir(TMP)
}

/// Lets programs of the case inherit the results page.
fn pass_on(file: &OwnedFd) -> Result<(), Errno> {
    // SAFETY: the number is not in use: everything else that is open here is below it.
    match unsafe { libc::dup2(file.as_raw_fd(), RESULTS_DESCRIPTOR) } {
        ..0 => Err(harness::child::last_error()),
        _ => Ok(()),
    }
}

fn main(request: &RunRequest) -> Checked {
    set_seed(request.seed);
    for path in &request.modules {
        load(Path::new(path))?;
    }
    if matches!(request.work, Work::Program(_)) {
        root::enter()?;
        rustix::process::chdir(TMP).or_else(|error| broken(&format!("{TMP}: {}", describe(error))))?;
    }
    if let Some(name) = request.unsure.iter().find(|name| !is_shown(name)) {
        return skip(&format!("needs module {name}, which this kernel does not show"));
    }
    if let Some(text) = request.needs.iter().find_map(|need| missing(need.borrowed())) {
        return skip(&text);
    }
    match &request.work {
        Work::Case(name) => run_case(name),
        Work::Program(command) => {
            list_modules(&request.modules).or_else(|error| broken(&format!("modules.dep: {error}")))?;
            run_program(command)
        }
    }
}

/// Lets the case and its programs know what random numbers shall come from.
fn set_seed(seed: u64) {
    // SAFETY: this process has one thread.
    unsafe { std::env::set_var("KILN_SEED", seed.to_string()) };
}

fn run_case(name: &str) -> Checked {
    let Some(case) = cases::find(name) else {
        return broken(&format!("the agent has no case {name}"));
    };
    if let Some(text) = case.needs.iter().find_map(|&need| missing(need)) {
        return skip(&text);
    }
    if let Some(setup) = case.setup {
        setup().map_err(|stop| own_fault("set-up", stop))?;
    }
    case.body.run()
}

/// What fails in a set-up or clean-up says nothing about the kernel.
fn own_fault(phase: &str, mut stop: Stop) -> Stop {
    if stop.0.kind == ReportKind::Fail {
        stop.0.kind = ReportKind::Broken;
        stop.0.text.insert_str(0, &format!("{phase}: "));
    }
    stop
}

fn run_program(command: &Command) -> Checked {
    let Some((program, arguments)) = command.argv.split_first() else {
        return broken("no program was named");
    };
    if !command.directory.is_empty()
        && let Err(error) = rustix::process::chdir(&command.directory)
    {
        return broken(&format!("cannot enter {}: {}", command.directory, describe(error)));
    }
    let variables = command.environment.iter().map(|(name, value)| (name, value));
    let error = std::process::Command::new(program).args(arguments).envs(variables).exec();
    not_executed(program, &error)
}
