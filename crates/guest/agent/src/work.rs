//! Runs one case or program and says how it ended.

use std::io::Read;
use std::time::{Duration, Instant};

use harness::plain::plain;
use protocol::message::TEXT_MAX;
use protocol::results::{PAGE_SIZE, Page};
use protocol::{End, FromAgent, Leftover, ReportKind, RunRequest, ToAgent, Work};
use rustix::fd::{AsFd, OwnedFd};
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, wait};

use crate::session::Session;
use crate::system::{power_off, taint};
use crate::{launch, leftovers, marks, processes, results, root, settle};

/// How long a clean-up may take.
const CLEANUP_LIMIT: Duration = Duration::from_secs(10);

/// Longest time for which a kernel settles after a case, in milliseconds.
const SETTLE_MAX_MS: u64 = 24 * 3600 * 1000;

/// How long a killed process may take to be gone before it counts as stuck.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// When the time of a process is over.
#[derive(Debug, Clone, Copy)]
struct Until {
    deadline: Option<Instant>,
    /// Or when the host ends this run.
    run: Option<u32>,
}

impl Until {
    fn over(limit: Duration) -> Self {
        Self { deadline: Instant::now().checked_add(limit), run: None }
    }
}

/// Runs `request` and sends everything about it.
pub(crate) fn run(session: &mut Session, request: &RunRequest) {
    session.forward_whole_log();
    let taint_before = taint();
    let start = Instant::now();
    let (end, processes, page) = match results::create() {
        Ok((file, page)) => {
            let (end, processes) = execute(session, request, page, &file);
            (end, processes, Some(page))
        }
        Err(error) => (End::NotStarted(format!("{error}")), Vec::new(), None),
    };
    let duration = start.elapsed();
    let leftovers = leftovers::remove(processes, session.mounts());
    session.restore_port();
    if request.settle_ms > 0 {
        session.send(&FromAgent::Settling { run: request.run });
        settle::settle(session, Duration::from_millis(request.settle_ms.min(SETTLE_MAX_MS)));
    }
    session.forward_whole_log();
    send_reports(session, request.run, page);
    session.send(&FromAgent::Finished {
        run: request.run,
        end,
        counts: page.map(Page::counts).unwrap_or_default(),
        duration_us: u64::try_from(duration.as_micros()).unwrap_or(u64::MAX),
        taint_before,
        taint_after: taint(),
        leftovers,
    });
}

/// Runs the work and its clean-up; gives the end of the work, and the processes that it left behind.
fn execute(
    session: &mut Session,
    request: &RunRequest,
    page: &'static Page,
    file: &OwnedFd,
) -> (End, Vec<Leftover>) {
    if let Some(trace) = &request.trace
        && let Err(text) = session.record(trace)
    {
        session.send(&FromAgent::Trouble { text });
    }
    let name = name(&request.work);
    marks::mark(&format!("kiln: {name} begins"));
    let until = Until { run: Some(request.run), ..Until::over(Duration::from_millis(request.limit_ms)) };
    let main = launch::Task::Main(request);
    let end = supervise(session, request, until, || launch::start(&main, page, file));
    marks::mark(&format!("kiln: {name} ends: {}", plain(&end)));
    session.stop_recording();
    if let Some(why) = root::lost_services() {
        page.report(ReportKind::Broken, &why);
    }
    let processes = leftovers::remove_processes();
    // Anyone in the case could cut the file off, and reading a page beyond its end would be our death.
    if let Err(error) = rustix::fs::ftruncate(file, PAGE_SIZE as u64) {
        return (End::NotStarted(format!("results page: {error}")), processes);
    }
    if let Work::Case(name) = &request.work
        && let Some(cleanup) = cases::find(name).and_then(|case| case.cleanup)
    {
        let task = launch::Task::Cleanup(cleanup);
        let until = Until::over(CLEANUP_LIMIT);
        let end = supervise(session, request, until, || launch::start(&task, page, file));
        if end != End::Exited(0) && page.counts().broken == 0 {
            page.report(ReportKind::Broken, &format!("the clean-up ended with {}", plain(&end)));
        }
    }
    (end, processes)
}

/// What people call it.
fn name(work: &Work) -> &str {
    match work {
        Work::Case(name) => name,
        Work::Program(command) => command.argv.first().map_or("", String::as_str),
    }
}

/// Starts a process and follows it to its end.
fn supervise(
    session: &mut Session,
    request: &RunRequest,
    until: Until,
    start: impl FnOnce() -> std::io::Result<(Pid, OwnedFd)>,
) -> End {
    let (pid, pipe) = match start() {
        Ok(started) => started,
        Err(error) => return End::NotStarted(format!("fork: {error}")),
    };
    let left = usize::try_from(request.output_max).unwrap_or(usize::MAX);
    let mut output = Output { run: request.run, pipe: std::fs::File::from(pipe), open: true, left };
    let end = follow(session, pid, &mut output, until).unwrap_or_else(|| {
        let stacks = processes::stacks();
        marks::mark("kiln: its time is over");
        // It would be killed as well.
        session.stop_recording();
        kill(pid);
        let killed = follow(session, pid, &mut output, Until::over(KILL_PATIENCE)).is_some();
        End::TimedOut { stacks, killed }
    });
    output.drain(session);
    end
}

/// Kills a program whose time is over, and all that it may have left behind.
fn kill(pid: Pid) {
    if root::has_services() {
        // It leads a session, in which most of its processes are; if nobody is left there, all the better.
        let _ = kill_process_group(pid, Signal::KILL);
    } else {
        processes::kill_all();
    }
}

/// Waits for the end of `pid`; nothing if it is over first.
fn follow(session: &mut Session, pid: Pid, output: &mut Output, until: Until) -> Option<End> {
    loop {
        if let Some(end) = reap(pid) {
            return Some(end);
        }
        if until.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return None;
        }
        let pipe: Vec<_> = output.open.then(|| output.pipe.as_fd()).into_iter().collect();
        let ready = session.wait(&pipe, until.deadline);
        if !ready.readable.is_empty() {
            output.forward(session);
        }
        if ready.messages.contains(&ToAgent::PowerOff) {
            power_off();
        }
        if until.run.is_some_and(|run| ready.messages.contains(&ToAgent::TimeUp { run })) {
            return reap(pid);
        }
    }
}

/// Takes in every child that has ended, orphans too; gives the end of `pid` if it was among them.
pub(crate) fn reap(pid: Pid) -> Option<End> {
    let mut end = None;
    while let Ok(Some((ended, status))) = wait(WaitOptions::NOHANG) {
        if ended == pid {
            end = Some(processes::end_of(status));
        }
    }
    end
}

/// What a run writes.
struct Output {
    run: u32,
    pipe: std::fs::File,
    open: bool,
    left: usize,
}

impl Output {
    /// Passes on what can be read at once.
    fn forward(&mut self, session: &mut Session) {
        let mut buffer = [0; TEXT_MAX];
        let count = match self.pipe.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
            Err(_) => 0,
        };
        self.open = count > 0;
        let passed = count.min(self.left);
        self.left -= passed;
        if passed > 0 {
            let text = String::from_utf8_lossy(&buffer[..passed]).into_owned();
            session.send(&FromAgent::Output { run: self.run, text });
        }
    }

    /// Passes on what is left in the pipe after the writers are dead.
    fn drain(&mut self, session: &mut Session) {
        for _ in 0..64 {
            let before = self.left;
            if self.open {
                self.forward(session);
            }
            if self.left == before {
                return;
            }
        }
    }
}

fn send_reports(session: &mut Session, run: u32, page: Option<&Page>) {
    let reports = page.map(|page| page.reports_from(0)).unwrap_or_default();
    for report in reports {
        session.send(&FromAgent::Report { run, report });
    }
}
