//! A worker from its start to its end.

use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::Ordering;

use harness::check::{Checked, Stop, broken, describe, name};
use harness::child::{conclude, exit, fork};
use harness::page;
use harness::random::mix;
use harness::sys::{default_action, succeeded};
use protocol::results::Page;
use protocol::stress::report::REPORTS_MAX;
use protocol::stress::{Rate, StressRequest, WorkerReport};
use protocol::{End, Report, ReportKind};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, chdir, getpid, getppid, kill_process_group, set_parent_process_death_signal, setpgid,
};

use super::plan::Plan;
use super::signals;
use crate::board::{Board, Desk};
use crate::coverage::Traces;
use crate::placement;
use crate::strays::whereabouts;
use crate::worker::Worker;

/// What a worker is started with.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) request: &'a StressRequest,
    pub(super) plan: &'a Plan,
    pub(super) board: &'a Board,
    pub(super) desk: &'a Desk,
    pub(super) directory: &'a Path,
    /// Where the kernel is to record what it reaches.
    pub(super) traces: Option<&'a Traces>,
    /// Among the workers of its instance.
    pub(super) number: u32,
}

/// A worker as the engine sees it.
#[derive(Debug)]
pub(super) struct Process {
    pid: Option<Pid>,
    /// What it was doing when its time to stop was over.
    late: Option<String>,
    end: Option<End>,
    user_ns: u64,
    system_ns: u64,
}

impl Process {
    /// Starts a worker in a process group of its own.
    pub(super) fn start(job: Job<'_>) -> Self {
        let parent = getpid();
        let (pid, end) = match fork() {
            Ok(Some(pid)) => (Some(pid), None),
            Ok(None) => exit(live(job, parent)),
            Err(error) => (None, Some(End::NotStarted(describe(error)))),
        };
        if let Some(pid) = pid {
            // It does the same: whoever comes first. It may have ended already.
            let _ = setpgid(Some(pid), Some(pid));
        }
        Self { pid, late: None, end, user_ns: 0, system_ns: 0 }
    }

    /// Whether there is nothing more to wait for.
    pub(super) fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// While it runs.
    fn pid(&self) -> Option<Pid> {
        self.pid.filter(|_| self.end.is_none())
    }

    /// Looks whether it has ended.
    pub(super) fn poll(&mut self) {
        let Some(pid) = self.pid() else { return };
        let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
        // SAFETY: both are valid for writing.
        let ended =
            unsafe { libc::wait4(pid.as_raw_pid(), &raw mut status, libc::WNOHANG, usage.as_mut_ptr()) };
        if ended != pid.as_raw_pid() {
            return;
        }
        // SAFETY: zeroed, and filled by the kernel.
        let usage = unsafe { usage.assume_init() };
        (self.user_ns, self.system_ns) = (nanoseconds(usage.ru_utime), nanoseconds(usage.ru_stime));
        self.end = Some(self.end_of(status));
    }

    fn end_of(&mut self, status: libc::c_int) -> End {
        match self.late.take() {
            Some(stacks) if libc::WIFSIGNALED(status) => End::TimedOut { stacks, killed: true },
            _ if libc::WIFSIGNALED(status) => End::Signalled(libc::WTERMSIG(status)),
            _ => End::Exited(libc::WEXITSTATUS(status)),
        }
    }

    /// Its time to stop is over: sends SIGTERM to it and to all that it started.
    pub(super) fn terminate(&mut self) {
        let Some(pid) = self.pid().filter(|_| self.late.is_none()) else { return };
        self.late = Some(whereabouts(pid));
        self.send(Signal::TERM);
    }

    /// Sends SIGKILL to it and to all that it started.
    pub(super) fn kill(&self) {
        self.send(Signal::KILL);
    }

    fn send(&self, signal: Signal) {
        if let Some(pid) = self.pid() {
            // Nobody may be left.
            let _ = kill_process_group(pid, signal);
        }
    }

    /// It cannot be killed.
    pub(super) fn give_up(&mut self) {
        if self.pid().is_some() {
            let stacks = self.late.take().unwrap_or_default();
            self.end = Some(End::TimedOut { stacks, killed: false });
        }
    }

    /// What it has done.
    pub(super) fn report(&self, plan: &Plan, desk: &Desk) -> WorkerReport {
        let (user_ns, system_ns) = self.pid().and_then(used).unwrap_or((self.user_ns, self.system_ns));
        let reports = desk.page.reports_from(0).into_iter();
        let figures = plan.stressor.rates.iter().enumerate();
        WorkerReport {
            operations: desk.counters.operations.load(Ordering::Relaxed),
            verified: desk.page.counts().pass.into(),
            wall_ns: desk.counters.wall_ns(),
            user_ns,
            system_ns,
            end: self.end.clone(),
            reports: reports.filter(|report| report.kind != ReportKind::Pass).take(REPORTS_MAX).collect(),
            rates: figures
                .filter_map(|(place, figure)| {
                    let value = desk.counters.rate(place)?;
                    let asked = plan.value_of(figure.asked_by).filter(|asked| *asked > 0);
                    let (name, unit) = (figure.name.to_string(), figure.unit.to_string());
                    Some(Rate { name, unit, value, asked: asked.map(|asked| asked as f64) })
                })
                .collect(),
        }
    }
}

/// CPU time in user mode and in the kernel of a process that has not been waited for and of its children, in
/// nanoseconds: proc_pid_stat(5).
fn used(pid: Pid) -> Option<(u64, u64)> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    // The field after the name is the third.
    let ticks = |field: usize| fields.split_whitespace().nth(field - 3)?.parse::<u64>().ok();
    let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second();
    Some(((ticks(14)? + ticks(16)?) * tick_ns, (ticks(15)? + ticks(17)?) * tick_ns))
}

fn nanoseconds(time: libc::timeval) -> u64 {
    time.tv_sec.unsigned_abs().saturating_mul(1_000_000_000) + time.tv_usec.unsigned_abs() * 1000
}

/// The life of a worker's process; gives its exit status.
fn live(job: Job<'_>, parent: Pid) -> i32 {
    // SAFETY: this process keeps the mapping of the board until it ends.
    page::adopt(unsafe { Page::at((&raw const job.desk.page).cast_mut().cast()) });
    abort_on_panic();
    let prepared = prepare(job, parent);
    if prepared.is_err() {
        return conclude(prepared);
    }
    job.board.control().wait_for_start();
    let counters = &job.desk.counters;
    let worker = Worker {
        number: job.number,
        verifies: job.request.verify,
        options: job.plan.stressor.options,
        figures: job.plan.stressor.rates,
        values: &job.plan.values,
        limit: job.plan.limit,
        seed: mix(job.plan.seed),
        control: job.board.control(),
        counters,
    };
    counters.begin();
    job.traces.inspect(|traces| traces.begin());
    let result = (job.plan.stressor.body)(&worker);
    job.traces.inspect(|traces| traces.end());
    counters.end();
    conclude(result.map_err(excuse))
}

/// What the machine has no more of says nothing about the kernel.
fn excuse(Stop(report): Stop) -> Stop {
    const EXHAUSTED: [Errno; 5] = [Errno::NOMEM, Errno::NOSPC, Errno::DQUOT, Errno::MFILE, Errno::NFILE];
    let is_exhausted =
        EXHAUSTED.iter().any(|&error| report.text.starts_with(&format!("unexpected {} ", name(error))));
    Stop(Report { kind: if is_exhausted { ReportKind::Broken } else { report.kind }, ..report })
}

/// A defect of a body ends its worker, and is reported as a death by SIGABRT.
fn abort_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        report(info);
        std::process::abort();
    }));
}

fn prepare(job: Job<'_>, parent: Pid) -> Checked {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() != Some(parent) {
        return broken("the engine has ended");
    }
    setpgid(None, None)?;
    signals::unblock()?;
    // Rust ignores the first, and has handlers for the others.
    [libc::SIGPIPE, libc::SIGSEGV, libc::SIGBUS].into_iter().try_for_each(default_action)?;
    no_terminal()?;
    placement::spare_the_others();
    chdir(job.directory)?;
    placement::place(job.request)
}

/// Nobody reads what a worker writes, and it must not mix with the reports.
fn no_terminal() -> Result<(), Errno> {
    let null = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDWR, rustix::fs::Mode::empty())?;
    for standard in [libc::STDIN_FILENO, libc::STDOUT_FILENO] {
        // SAFETY: replaces a descriptor that nothing in this process owns.
        succeeded(unsafe { libc::dup2(null.as_raw_fd(), standard) })?;
    }
    Ok(())
}
