//! The process that watches a race, which runs in a process of its own: a section that does not return is ended, and what
//! was counted is kept.
//!
//! * [`directory`]: where the race works; [`taint`]: what the kernel says of itself

mod directory;
mod taint;

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use harness::check::{Checked, Stop, broken, describe};
use harness::child::{exit, fork};
use harness::signals::{Signals, Woken};
use protocol::race::{Ended, RaceReport};
use protocol::{Report, ReportKind};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, chdir, getpid, getppid, kill_process_group,
    set_parent_process_death_signal, setpgid, waitpid,
};
use rustix::stdio::{dup2_stdout, stderr};

use crate::clock::Clock;
use crate::plan::Plan;
use crate::runner::Runner;
use crate::stuck;
use crate::tally::Tally;
use crate::whereabouts::{Doing, Whereabouts};
use directory::Directory;

/// How often it looks.
const TICK: Duration = Duration::from_millis(250);

/// How often it says what is known so far.
const SAID: Duration = Duration::from_secs(1);

/// After this time without the end of a round the kernel hangs.
const HANG: Duration = Duration::from_secs(10);

/// How long the preparation of a race and what follows its rounds may take.
const AROUND: Duration = Duration::from_secs(60);

/// How long a race may go on after a signal.
const INTERRUPTED: Duration = Duration::from_secs(2);

/// How long a process may take to end after SIGKILL.
const KILLED: Duration = Duration::from_secs(5);

/// Runs `body` in a process of its own, in an empty directory that is removed afterwards, and tells `so_far` what is
/// known about once a second.
///
/// This process must have one thread. SIGINT and SIGTERM end the race early.
///
/// # Errors
///
/// Why the body did not come to its end, unless the race has shown a fault before.
pub fn supervise(
    plan: &Plan,
    body: impl FnOnce(&Runner) -> Checked,
    mut so_far: impl FnMut(&RaceReport),
) -> Checked<RaceReport> {
    let failed = |error: Errno| Stop(text_of(ReportKind::Broken, &describe(error)));
    let tally = Tally::shared().map_err(failed)?;
    let directory = Directory::new()?;
    let signals = Signals::block().map_err(failed)?;
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).map_err(failed)?;
    let supervisor = getpid();
    let Some(process) = fork().map_err(failed)? else {
        drop(reader);
        let ran = prepare(supervisor, directory.path()).map_err(Stop::from);
        let ran = ran.and_then(|()| body(&Runner::new(*plan, Clock::best(), tally)));
        exit(said(ran, File::from(writer)))
    };
    drop(writer);
    let mut watch = Watch::new(process, plan, tally);
    let status = watch.until_it_ends(&signals, &mut so_far);
    if taint::has_grown_since(watch.taint) {
        tally.end_with(Ended::Taint);
    }
    let report = RaceReport { detail: watch.detail, ..tally.report(plan) };
    let result = watch.cause.map_or_else(|| outcome(File::from(reader), status), Err);
    match result {
        Err(Stop(why)) if report.is_fault() => {
            Ok(RaceReport { detail: report.detail.or(Some(why.text)), ..report })
        }
        // It may have been killed for it.
        _ if watch.is_interrupted => Ok(report),
        result => result.map(|()| report),
    }
}

fn text_of(kind: ReportKind, text: &str) -> Report {
    Report { kind, text: text.to_string() }
}

/// Makes a process that of a race: it dies with its supervisor, and leaves nothing elsewhere.
fn prepare(supervisor: Pid, directory: &Path) -> Result<(), Errno> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() != Some(supervisor) {
        exit(1); // It has died before.
    }
    setpgid(None, None)?;
    // The supervisor's output has a form.
    dup2_stdout(stderr())?;
    chdir(directory)
}

/// Says why a race did not come to its end; gives the exit status of its process.
fn said(ran: Checked, mut writer: File) -> i32 {
    let Err(Stop(report)) = ran else { return 0 };
    let text = serde_json::to_vec(&report).unwrap_or_default();
    i32::from(writer.write_all(&text).is_err())
}

/// What the process of a race has said before it ended.
fn outcome(mut reader: File, status: Option<WaitStatus>) -> Checked {
    let mut text = Vec::new();
    // A program that it has left may keep the pipe open: what is there is enough.
    let _ = reader.read_to_end(&mut text);
    match serde_json::from_slice(&text) {
        Ok(report) => Err(Stop(report)),
        Err(_) if status.is_some_and(|status| status.exit_status() == Some(0)) => Ok(()),
        Err(_) => match status.and_then(WaitStatus::terminating_signal) {
            Some(signal) => broken(&format!("signal {signal} ended the process of the race")),
            None => broken("the process of the race ended before its time"),
        },
    }
}

/// What the supervisor knows of a race.
struct Watch<'a> {
    process: Pid,
    plan: &'a Plan,
    tally: &'a Tally,
    taint: u64,
    began: Option<Instant>,
    said: Instant,
    /// When it looked last.
    looked: Instant,
    rounds: u64,
    /// Time without the end of a round. It does not grow while this process is stopped, too.
    silent: Duration,
    is_interrupted: bool,
    detail: Option<String>,
    /// Why it was ended, where that says nothing about the kernel.
    cause: Option<Stop>,
}

impl<'a> Watch<'a> {
    fn new(process: Pid, plan: &'a Plan, tally: &'a Tally) -> Self {
        let now = Instant::now();
        Self {
            process,
            plan,
            tally,
            taint: taint::now(),
            began: None,
            said: now,
            looked: now,
            rounds: 0,
            silent: Duration::ZERO,
            is_interrupted: false,
            detail: None,
            cause: None,
        }
    }

    /// Watches the process until it ends, and ends it where it must be. Gives its status unless it cannot be killed.
    fn until_it_ends(
        &mut self,
        signals: &Signals,
        so_far: &mut dyn FnMut(&RaceReport),
    ) -> Option<WaitStatus> {
        loop {
            if signals.wait(TICK) == Woken::Interrupted {
                self.tally.end(Ended::Signal);
                self.is_interrupted = true;
            }
            if let Ok(Some((_, status))) = waitpid(Some(self.process), WaitOptions::NOHANG) {
                // Programs that it has started.
                let _ = kill_process_group(self.process, Signal::KILL);
                return Some(status);
            }
            self.look();
            if self.must_end() {
                return self.kill(signals);
            }
            if self.said.elapsed() >= SAID && self.tally.has_begun() {
                self.said = Instant::now();
                if taint::has_grown_since(self.taint) {
                    self.tally.end_with(Ended::Taint);
                }
                so_far(&self.tally.report(self.plan));
            }
        }
    }

    /// Looks for progress.
    fn look(&mut self) {
        let passed = self.looked.elapsed().min(2 * TICK);
        self.looked = Instant::now();
        let rounds = self.tally.rounds();
        let begins = self.began.is_none() && self.tally.has_begun();
        self.silent = if rounds == self.rounds && !begins { self.silent + passed } else { Duration::ZERO };
        self.rounds = rounds;
        if begins {
            self.began = Some(self.looked);
        }
        // It ends itself, unless its clock is odd.
        if self.began.is_some_and(|began| began.elapsed() > self.plan.time + SAID) {
            self.tally.end(Ended::Time);
        }
    }

    /// Whether the process must be killed; then it says why.
    fn must_end(&mut self) -> bool {
        let doing = self.tally.sides().map(Whereabouts::doing);
        let limit = match (self.is_interrupted, self.began, doing) {
            (true, ..) => INTERRUPTED,
            (false, None, _) | (false, _, [Doing::Gone, Doing::Gone]) => AROUND,
            (false, Some(_), _) => HANG,
        };
        if self.silent < limit {
            return false;
        }
        let where_it_is = stuck::describe(self.process.as_raw_nonzero().get(), self.tally);
        if self.is_interrupted {
            self.detail = Some(where_it_is);
        } else if self.began.is_none() {
            self.cause = broken::<()>("the preparation of the race does not end").err();
        } else if doing == [Doing::Waiting; 2] {
            self.cause = broken::<()>(&where_it_is).err();
        } else {
            self.tally.end_with(Ended::Hang);
            self.detail = Some(where_it_is);
        }
        true
    }

    /// Ends the process and all that it has started.
    fn kill(&mut self, signals: &Signals) -> Option<WaitStatus> {
        let _ = kill_process_group(self.process, Signal::KILL);
        let killed = Instant::now();
        while killed.elapsed() < KILLED {
            if let Ok(Some((_, status))) = waitpid(Some(self.process), WaitOptions::NOHANG) {
                return Some(status);
            }
            let _ = signals.wait(TICK);
        }
        if let Some(detail) = &mut self.detail {
            detail.push_str("; it cannot be killed");
        }
        None
    }
}

#[cfg(test)]
mod tests;
