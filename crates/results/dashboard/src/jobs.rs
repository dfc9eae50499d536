//! What browsers had started: calls of kiln that end with the server.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::process::{Pid, Signal, kill_process};

/// Calls at a time, and calls that are remembered.
pub(crate) const RUNNING_MAX: usize = 4;
const JOBS_MAX: usize = 50;

/// Bytes of the end of its output that are kept of each.
const OUTPUT_MAX: usize = 64 << 10;

/// How soon an order is noticed, or the end of a call.
const INTERVAL: Duration = Duration::from_millis(100);

/// How long calls may take to end when the server does.
const GRACE: Duration = Duration::from_secs(10);

/// A call of kiln.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) id: u64,
    /// What follows `kiln`.
    pub(crate) words: Vec<String>,
    pub(crate) started: Timestamp,
    /// Whether it runs, or how it ended.
    pub(crate) state: State,
    output: Arc<Mutex<VecDeque<u8>>>,
}

/// Where a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Running,
    /// It was asked to stop.
    Stopping,
    /// With this exit code; none if a signal ended it.
    Ended(Option<i32>),
}

/// What is wanted of the thread that has the calls: they would die with any other.
enum Order {
    Start(Vec<String>, Sender<io::Result<()>>),
    Stop(u64),
}

/// All calls.
#[derive(Debug, Clone)]
pub(crate) struct Jobs {
    orders: Sender<Order>,
    all: Arc<Mutex<Vec<Job>>>,
    changes: Arc<AtomicU64>,
}

/// Why a call is not started.
#[derive(Debug)]
pub(crate) enum Refused {
    /// As many run as may.
    Busy,
    /// The host refuses.
    Host(io::Error),
}

impl Job {
    /// The end of what it printed.
    pub(crate) fn output(&self) -> String {
        let bytes: Vec<u8> = locked(&self.output).iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Jobs {
    /// Starts none yet; all that are started end when `stop` is set. The thread ends with them.
    pub(crate) fn new(
        program: PathBuf,
        stop: Arc<AtomicBool>,
    ) -> io::Result<(Self, std::thread::JoinHandle<()>)> {
        let (orders, received) = channel();
        let all = Arc::new(Mutex::new(Vec::new()));
        let changes = Arc::default();
        let mut keeper = Keeper {
            program: program.into(),
            all: Arc::clone(&all),
            changes: Arc::clone(&changes),
            running: Vec::new(),
        };
        let thread = std::thread::Builder::new()
            .name("jobs".to_owned())
            .spawn(move || keeper.keep(&received, &stop))?;
        Ok((Self { orders, all, changes }, thread))
    }

    /// Starts a call.
    pub(crate) fn start(&self, words: Vec<String>) -> Result<(), Refused> {
        let running = self.all().iter().filter(|job| !matches!(job.state, State::Ended(_))).count();
        if running >= RUNNING_MAX {
            return Err(Refused::Busy);
        }
        let gone = || Refused::Host(io::ErrorKind::BrokenPipe.into());
        let (answer, answered) = channel();
        self.orders.send(Order::Start(words, answer)).map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())?.map_err(Refused::Host)
    }

    /// Asks a call to stop, as Ctrl-C does.
    pub(crate) fn stop(&self, id: u64) {
        // Without the thread nothing runs.
        let _ = self.orders.send(Order::Stop(id));
    }

    /// How often one was started, was asked to stop, or has ended.
    pub(crate) fn changes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.changes)
    }

    /// All that are remembered, the newest first.
    pub(crate) fn all(&self) -> Vec<Job> {
        locked(&self.all).iter().rev().cloned().collect()
    }
}

/// The thread that has the calls.
struct Keeper {
    program: OsString,
    all: Arc<Mutex<Vec<Job>>>,
    changes: Arc<AtomicU64>,
    running: Vec<(u64, Child)>,
}

impl Keeper {
    fn keep(&mut self, orders: &Receiver<Order>, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            match orders.recv_timeout(INTERVAL) {
                // Who asked may be gone.
                Ok(Order::Start(words, answer)) => drop(answer.send(self.start(words))),
                Ok(Order::Stop(id)) => self.interrupt(|running| running == id),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.reap();
        }
        self.interrupt(|_| true);
        let begun = Instant::now();
        while !self.running.is_empty() && begun.elapsed() < GRACE {
            std::thread::sleep(INTERVAL);
            self.reap();
        }
        for (_, mut child) in self.running.drain(..) {
            // It may end at any time.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn start(&mut self, words: Vec<String>) -> io::Result<()> {
        let (mut reader, writer) = io::pipe()?;
        let mut command = Command::new(&self.program);
        command.args(&words).stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        host::end_with_thread(&mut command, Signal::INT);
        let child = command.spawn()?;
        drop(command);
        let output = Arc::new(Mutex::new(VecDeque::new()));
        let taken = Arc::clone(&output);
        std::thread::Builder::new().name("output".to_owned()).spawn(move || take(&mut reader, &taken))?;
        let mut all = locked(&self.all);
        let id = all.last().map_or(1, |last| last.id + 1);
        all.push(Job { id, words, started: Timestamp::now(), state: State::Running, output });
        let old = all.iter().position(|job| matches!(job.state, State::Ended(_)));
        if let Some(old) = old.filter(|_| all.len() > JOBS_MAX) {
            all.remove(old);
        }
        self.running.push((id, child));
        self.changes.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn interrupt(&self, is_wanted: impl Fn(u64) -> bool) {
        for (id, child) in self.running.iter().filter(|(id, _)| is_wanted(*id)) {
            // It may have ended, and is reaped by nobody else.
            let _ = kill_process(Pid::from_child(child), Signal::INT);
            self.note(*id, State::Stopping);
        }
    }

    fn reap(&mut self) {
        let mut ended = Vec::new();
        self.running.retain_mut(|(id, child)| match child.try_wait() {
            Ok(Some(status)) => {
                ended.push((*id, State::Ended(status.code())));
                false
            }
            _ => true,
        });
        ended.into_iter().for_each(|(id, state)| self.note(id, state));
    }

    fn note(&self, id: u64, state: State) {
        if let Some(job) = locked(&self.all).iter_mut().find(|job| job.id == id) {
            job.state = state;
            self.changes.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Reads an output to its end, of which the end is kept.
fn take(reader: &mut io::PipeReader, output: &Mutex<VecDeque<u8>>) {
    let mut bytes = [0; 4096];
    while let Ok(length @ 1..) = reader.read(&mut bytes) {
        let mut kept = locked(output);
        kept.extend(&bytes[..length]);
        let excess = kept.len().saturating_sub(OUTPUT_MAX);
        kept.drain(..excess);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jobs of a shell instead of kiln.
    fn shell() -> (Jobs, Arc<AtomicBool>, std::thread::JoinHandle<()>) {
        let stop = Arc::new(AtomicBool::new(false));
        let (jobs, thread) = Jobs::new("/bin/sh".into(), Arc::clone(&stop)).expect("a thread");
        (jobs, stop, thread)
    }

    fn words(script: &str) -> Vec<String> {
        vec!["-c".to_owned(), script.to_owned()]
    }

    /// Waits until this is true of a job.
    fn until(jobs: &Jobs, id: u64, is_so: impl Fn(&Job) -> bool) -> Job {
        loop {
            match jobs.all().into_iter().find(|job| job.id == id && is_so(job)) {
                Some(job) => return job,
                None => std::thread::sleep(INTERVAL),
            }
        }
    }

    #[test]
    fn a_call_runs_to_its_end_and_what_it_prints_is_kept() {
        let (jobs, stop, thread) = shell();
        jobs.start(words("echo out; echo err >&2; exit 3")).expect("started");
        until(&jobs, 1, |job| job.state == State::Ended(Some(3)) && job.output().contains("out\nerr\n"));
        jobs.start(words("yes | head -c 1000000")).expect("started");
        let long =
            until(&jobs, 2, |job| job.state == State::Ended(Some(0)) && job.output().len() == OUTPUT_MAX);
        assert!(long.output().ends_with("y\n"));
        stop.store(true, Ordering::Relaxed);
        thread.join().expect("no panic");
    }

    #[test]
    fn a_call_is_stopped_alone_and_all_with_the_server() {
        let (jobs, stop, thread) = shell();
        // The shell would wait for its child before it heeds the signal.
        for _ in 0..RUNNING_MAX {
            jobs.start(words("exec sleep 1000")).expect("started");
        }
        assert!(matches!(jobs.start(words("true")), Err(Refused::Busy)));
        jobs.stop(2);
        until(&jobs, 2, |job| job.state == State::Ended(None));
        assert_eq!(until(&jobs, 1, |_| true).state, State::Running);
        stop.store(true, Ordering::Relaxed);
        thread.join().expect("no panic");
        assert!(jobs.all().iter().all(|job| job.state == State::Ended(None)));
        assert!(matches!(jobs.start(words("true")), Err(Refused::Host(_))));
    }
}
