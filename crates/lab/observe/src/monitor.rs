//! A program and all that it starts, through ptrace(2): nothing is lost, and what crashes is stopped at the instruction.
//!
//! * [`launch`]: from the first instruction on
//! * [`mod@ptrace`]: requests, and what wait(2) reports
//! * [`mod@delivery`]: signals that are about to be delivered
//! * [`all_stop`]: the other threads of a process

mod all_stop;
mod delivery;
mod launch;
pub(crate) mod ptrace;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::io;
use std::process::Command;

use crate::ending::Ending;
use crate::error::Error;
use crate::event::{Event, What};
use crate::process;
use crate::signal::Signal;
use ptrace::Report;

pub use ptrace::Usage;

/// What listens to a [`Monitor`].
pub trait Listener {
    /// Something happened. A process that made another, runs another program or crashes is stopped meanwhile.
    fn event(&mut self, event: &Event);

    /// A thread is about to die of what its program did. It is stopped at the instruction.
    fn crash(&mut self, crash: &Crash) -> Fate;

    /// A process ended.
    fn ended(&mut self, process: i32, usage: &Usage);
}

/// A thread before its death.
#[derive(Debug, Clone)]
pub struct Crash {
    /// The process.
    pub process: i32,
    /// The thread.
    pub thread: i32,
    /// What it dies of.
    pub signal: Signal,
    /// Its registers.
    pub registers: libc::user_regs_struct,
    /// The other threads of the process, which are stopped meanwhile; without those that did not stop.
    pub others: Vec<i32>,
}

/// What becomes of a thread that crashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It dies.
    Die,
    /// Its process is stopped and left to debuggers, as SIGSTOP does; after SIGCONT it dies.
    Hold,
}

/// How the observation of a job ended.
#[derive(Debug, Clone)]
pub struct Observed {
    /// How its first process ended.
    pub ending: Ending,
    /// Processes of it that still run.
    pub left: Vec<i32>,
    /// Those that were left to debuggers and are still there.
    pub held: Vec<i32>,
}

/// A job that is observed.
struct Monitor<'a> {
    listener: &'a mut dyn Listener,
    /// The processes of the threads that are traced.
    threads: HashMap<i32, i32>,
    /// Processes that are left to debuggers.
    held: HashSet<i32>,
    /// New threads that are stopped until those that made them have reported that.
    early: HashSet<i32>,
    /// What threads have reported that is not followed up yet.
    reported: VecDeque<(i32, Report)>,
}

/// Runs a program to its end and observes it and all that it starts. What still runs then goes on.
///
/// # Errors
///
/// When it does not start or cannot be traced.
pub fn observe(command: Command, listener: &mut dyn Listener) -> Result<Observed, Error> {
    let first = launch::launch(command)?;
    let threads = HashMap::from([(first, first)]);
    let (held, early, reported) = (HashSet::new(), HashSet::new(), VecDeque::new());
    let mut monitor = Monitor { listener, threads, held, early, reported };
    let mut ending = None;
    while ending.is_none()
        && let Some((thread, report)) = monitor.next()?
    {
        ending = monitor.see(thread, report).filter(|_| thread == first);
    }
    let held = monitor.held.iter().copied().collect();
    let left = monitor.release()?;
    Ok(Observed { ending: ending.unwrap_or(Ending::Code(0)), left, held })
}

impl Monitor<'_> {
    /// What a thread has reported; nothing when there is none left.
    fn next(&mut self) -> io::Result<Option<(i32, Report)>> {
        match self.reported.pop_front() {
            None => ptrace::wait(),
            some => Ok(some),
        }
    }

    /// Follows up what a thread reported; gives how it ended if it did.
    fn see(&mut self, thread: i32, report: Report) -> Option<Ending> {
        if report == Report::Trap && !self.threads.contains_key(&thread) {
            self.early.insert(thread);
            return None;
        }
        let process = *self.threads.entry(thread).or_insert_with(|| process::of_thread(thread));
        // A thread may be killed at any time; what is asked of it then fails, and its end is reported next.
        let _ = match report {
            Report::Made { is_clone } => self.made(process, thread, is_clone),
            Report::Exec => self.exec(thread),
            Report::Delivery(signal) => self.deliver(process, thread, signal),
            Report::Stopped if self.held.contains(&process) => self.leave(thread),
            Report::Stopped => ptrace::listen(thread),
            Report::Trap => ptrace::resume(thread, 0),
            Report::Ended(ending, usage) => {
                self.end(process, thread, ending, usage);
                return Some(ending);
            }
        };
        None
    }

    fn made(&mut self, process: i32, thread: i32, is_clone: bool) -> io::Result<()> {
        let child = ptrace::message(thread)?;
        let is_thread = is_clone && process::has_thread(process, child);
        self.threads.insert(child, if is_thread { process } else { child });
        self.tell(process, thread, if is_thread { What::Clone { child } } else { What::Fork { child } });
        if self.early.remove(&child) {
            ptrace::resume(child, 0)?;
        }
        ptrace::resume(thread, 0)
    }

    /// The thread has the number of its process now; the others are gone or on their way.
    fn exec(&mut self, thread: i32) -> io::Result<()> {
        let before = ptrace::message(thread)?;
        if before != thread {
            self.threads.remove(&before);
        }
        self.resume_orphans(thread);
        self.tell(thread, thread, What::Exec);
        ptrace::resume(thread, 0)
    }

    fn deliver(&mut self, process: i32, thread: i32, number: i32) -> io::Result<()> {
        let signal = delivery::signal(thread, number)?;
        self.tell(process, thread, What::Signal(signal));
        if signal.is_crash() {
            let registers = ptrace::registers(thread)?;
            let stopped = self.stop_others(process, thread);
            let others = stopped.threads.clone();
            let fate = self.listener.crash(&Crash { process, thread, signal, registers, others });
            stopped.resume();
            if fate == Fate::Hold {
                self.held.insert(process);
                self.threads.remove(&thread);
                // The instruction is executed again when the process goes on.
                return ptrace::detach(thread, libc::SIGSTOP);
            }
        }
        if number == libc::SIGCHLD && !self.held.is_empty() {
            self.end_of_held(&ptrace::signal_info(thread)?);
        }
        ptrace::resume(thread, number)
    }

    /// Another thread of a process that is left to debuggers.
    fn leave(&mut self, thread: i32) -> io::Result<()> {
        self.threads.remove(&thread);
        ptrace::detach(thread, 0)
    }

    /// A parent hears of a child: perhaps of one that was left to debuggers. Signals that come close together are one.
    fn end_of_held(&mut self, info: &libc::siginfo_t) {
        let reported = delivery::child_ended(info);
        for process in self.held.clone() {
            let known = || reported.filter(|(child, _)| *child == process).map(|(_, ending)| ending);
            if let Some(ending) = process::ending(process, known) {
                self.held.remove(&process);
                self.end(process, process, ending, Usage::default());
            }
        }
    }

    fn end(&mut self, process: i32, thread: i32, ending: Ending, usage: Usage) {
        self.threads.remove(&thread);
        self.resume_orphans(process);
        let event = Event { time: process::now(), process, thread, what: What::Exit(ending) };
        self.listener.event(&event);
        if thread == process {
            self.listener.ended(process, &usage);
        }
    }

    /// A thread that is killed does not report what it made. That of others of its process waits in vain only if they are gone.
    fn resume_orphans(&mut self, parent: i32) {
        let is_orphan = |thread: &i32| {
            let Some(status) = process::status(*thread) else { return true };
            let maker = if status.tgid == *thread { status.ppid } else { status.tgid };
            maker == parent || !self.threads.values().any(|&process| process == maker)
        };
        let orphans: Vec<i32> = self.early.iter().copied().filter(is_orphan).collect();
        for orphan in orphans {
            self.early.remove(&orphan);
            self.threads.insert(orphan, process::of_thread(orphan));
            let _ = ptrace::resume(orphan, 0);
        }
    }

    fn tell(&mut self, process: i32, thread: i32, what: What) {
        self.listener.event(&Event { time: process::now(), process, thread, what });
    }

    /// Traces nothing any more; gives the processes that still run.
    fn release(mut self) -> io::Result<Vec<i32>> {
        let mut left = BTreeSet::new();
        self.threads.keys().for_each(|&thread| drop(ptrace::interrupt(thread)));
        self.early.iter().for_each(|&thread| drop(ptrace::detach(thread, 0)));
        while !self.threads.is_empty() {
            let Some((thread, report)) = self.next()? else { break };
            let process = *self.threads.entry(thread).or_insert(thread);
            if let Report::Ended(ending, usage) = report {
                self.end(process, thread, ending, usage);
                continue;
            }
            if let (Report::Made { .. }, Ok(child)) = (report, ptrace::message(thread)) {
                // It is traced, and stopped or about to be.
                self.threads.entry(child).or_insert(child);
            }
            self.threads.remove(&thread);
            let signal = if let Report::Delivery(signal) = report { signal } else { 0 };
            if ptrace::detach(thread, signal).is_ok() {
                left.insert(process);
            }
        }
        Ok(left.into_iter().collect())
    }
}
