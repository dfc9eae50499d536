//! What an instrument looks at, while it runs.

use std::time::Duration;

use protocol::Report;
use protocol::workload::Workload;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, getrlimit, pidfd_open, setrlimit};

use crate::check::describe;
use crate::clock::monotonic;
use crate::instrument::{broken, skip};
use crate::program::{End, Program};
use crate::signals::{Signals, Woken};

/// How often what is known so far is told.
const TOLD: Duration = Duration::from_secs(1);

/// How often it is asked whether a process that was not started here has ended.
const ASKED: Duration = Duration::from_millis(10);

/// How it ended.
#[derive(Debug)]
pub struct Over {
    /// How long it ran.
    pub elapsed: Duration,
    /// How the program ended, if there was one.
    pub end: Option<End>,
}

impl Over {
    /// The exit status of the program, if it had one.
    #[must_use]
    pub fn status(&self) -> Option<u8> {
        self.end.as_ref()?.code()
    }

    /// The signal that ended the program, if one did.
    #[must_use]
    pub fn signal(&self) -> Option<u8> {
        self.end.as_ref()?.signal()
    }
}

/// The threads that a process has now.
///
/// # Errors
///
/// `skip` if there is none.
pub fn threads(process: Pid) -> Result<Vec<Pid>, Report> {
    let number = process.as_raw_nonzero();
    let folder = std::fs::read_dir(format!("/proc/{number}/task")).into_iter().flatten().flatten();
    let thread = |name: std::ffi::OsString| Pid::from_raw(name.to_str()?.parse().ok()?);
    let threads: Vec<Pid> = folder.filter_map(|entry| thread(entry.file_name())).collect();
    if threads.is_empty() { Err(no_process(number)) } else { Ok(threads) }
}

fn no_process(number: impl std::fmt::Display) -> Report {
    skip(format!("there is no process {number}"))
}

/// Lets a workload run: `begin` is called when its program is there but has executed nothing yet, or with the process that runs already; `look`
/// at least once in each `period` and once at the end, with the time since the start; `tell` after it once in each second.
///
/// # Errors
///
/// `skip` if there is no such program; what `begin` or `look` says.
pub fn run<T>(
    workload: &Workload,
    period: Duration,
    begin: impl FnOnce(Option<Pid>) -> Result<T, Report>,
    mut look: impl FnMut(&mut T, Duration) -> Result<(), Report>,
    mut tell: impl FnMut(&mut T, Duration),
) -> Result<(T, Over), Report> {
    let mut told = Duration::ZERO;
    let mut look = |begun: &mut T, now: Duration| {
        look(begun, now)?;
        if now.saturating_sub(told) >= TOLD {
            told = now;
            tell(begun, now);
        }
        Ok(())
    };
    let signals = Signals::block().map_err(|error| broken(format!("sigprocmask: {error}")))?;
    let limit = workload.duration_ms.map(Duration::from_millis);
    if let Some(number) = workload.process {
        let (process, end) = attach(number)?;
        let mut pause = |until, now| pause_beside(&end, until, now, &signals);
        return wait(begin(Some(process))?, limit, period, &mut pause, look);
    }
    if workload.command.is_empty() {
        let mut pause = |until, now| signals.wait(until - now) == Woken::Interrupted;
        return wait(begin(None)?, limit, period, &mut pause, look);
    }
    let mut begun = None;
    let watch = |process| {
        begun = Some(begin(Some(process))?);
        Ok(())
    };
    let program = Program::start(&workload.command, || Ok(()), watch)?;
    let mut begun = begun.ok_or_else(|| broken("nothing was watched"))?;
    let end = program.wait(limit, period, &signals, &mut |now| look(&mut begun, now))?;
    let elapsed = Duration::from_nanos(end.elapsed_ns);
    look(&mut begun, elapsed)?;
    Ok((begun, Over { elapsed, end: Some(end) }))
}

/// A process, and what can be read when it has ended. A counter of each thread on each CPU may take more descriptors than usual.
fn attach(number: u32) -> Result<(Pid, OwnedFd), Report> {
    let process = i32::try_from(number).ok().and_then(Pid::from_raw);
    let process = process.ok_or_else(|| broken("no number of a process"))?;
    let end = pidfd_open(process, PidfdFlags::empty()).map_err(|error| match error {
        Errno::SRCH => no_process(number),
        other => skip(format!("pidfd_open: {}", describe(other))),
    })?;
    let maximum = getrlimit(Resource::Nofile).maximum;
    // Without, few threads are looked at as well.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    Ok((process, end))
}

/// Waits from now until then, both from the start on; says whether the process has ended meanwhile, or a signal asks for the end.
fn pause_beside(process: &OwnedFd, until: Duration, now: Duration, signals: &Signals) -> bool {
    let mut left = until - now;
    while !left.is_zero() {
        let part = left.min(ASKED);
        if signals.wait(part) == Woken::Interrupted || has_ended(process) {
            return true;
        }
        left -= part;
    }
    false
}

fn has_ended(process: &OwnedFd) -> bool {
    poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// Looks at what was not started here for a time, or until `pause`, which waits until then, says that it is over.
fn wait<T>(
    mut begun: T,
    limit: Option<Duration>,
    period: Duration,
    pause: &mut dyn FnMut(Duration, Duration) -> bool,
    mut look: impl FnMut(&mut T, Duration) -> Result<(), Report>,
) -> Result<(T, Over), Report> {
    let begin = monotonic();
    loop {
        let now = Duration::from_nanos(monotonic() - begin);
        look(&mut begun, now)?;
        let next = limit.map_or(now + period, |limit| limit.min(now + period));
        if next <= now || pause(next, now) {
            let elapsed = Duration::from_nanos(monotonic() - begin);
            look(&mut begun, elapsed)?;
            return Ok((begun, Over { elapsed, end: None }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(workload: &Workload) -> (usize, Over) {
        let begin = |_| Ok(0);
        let look = |times: &mut usize, _| {
            *times += 1;
            Ok(())
        };
        run(workload, Duration::from_millis(5), begin, look, |_, _| {}).expect("it runs")
    }

    #[test]
    fn it_is_looked_at_until_its_program_or_its_time_ends() {
        let program =
            Workload { command: ["sh", "-c", "exit 3"].map(str::to_owned).to_vec(), ..Workload::default() };
        let (looked, over) = times(&program);
        assert!(looked > 0);
        assert_eq!((over.status(), over.signal()), (Some(3), None));
        let (looked, over) = times(&Workload { duration_ms: Some(20), ..Workload::default() });
        assert!(looked > 1 && over.end.is_none() && over.elapsed >= Duration::from_millis(20));
    }

    #[test]
    fn a_process_is_looked_at_until_it_or_its_time_ends() {
        let mut child = std::process::Command::new("sleep").arg("0.1").spawn().expect("it starts");
        let attached = Workload { process: Some(child.id()), ..Workload::default() };
        // A process that nobody has waited for has ended, too.
        let (looked, over) = times(&attached);
        assert!(looked > 1 && over.end.is_none());
        child.wait().expect("it is ours");
        let begin = |_| Ok(());
        let gone = run(&attached, Duration::ZERO, begin, |(), _| Ok(()), |(), _| {});
        assert_eq!(gone.expect_err("it is gone").text, format!("there is no process {}", child.id()));
        let own =
            Workload { process: Some(std::process::id()), duration_ms: Some(20), ..Workload::default() };
        assert!(times(&own).1.elapsed >= Duration::from_millis(20));
    }

    #[test]
    fn threads_of_a_process_are_all_that_it_has() {
        let this = rustix::process::getpid();
        let (told, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || wait.recv());
        let own = rustix::thread::gettid();
        let found = threads(this).expect("it is there");
        assert!(found.len() > 1 && found.contains(&own), "{found:?}");
        drop(told);
        assert!(thread.join().expect("it ends").is_err());
        assert!(threads(Pid::from_raw(i32::MAX).expect("a number")).is_err());
    }

    #[test]
    fn who_begins_may_refuse() {
        let program = Workload { command: vec!["true".to_owned()], ..Workload::default() };
        let refused =
            run(&program, Duration::ZERO, |_| Err::<(), _>(broken("no")), |(), _| Ok(()), |(), _| {});
        assert_eq!(refused.expect_err("it is refused").text, "no");
    }
}
