//! Shows what happens to all processes, or to those of a program.

use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use observe::{Connector, Ending, Event, Job, Kind, Processes, What, process};
use report::observe::events;

use crate::cli::{EventChoice, Forks};
use crate::failure::{WrongUsage, complain};
use crate::listeners::standard_output;
use crate::signals;

/// How long the kernel may keep events before they are shown.
const INTERVAL: Duration = Duration::from_millis(50);

/// Shows events and gives the exit code: that of the program, if there is one.
pub(super) fn forks(args: &Forks) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let deadline = args.duration.map(|time| Instant::now() + time);
    // It listens before the program begins.
    let mut connector = Connector::new()?;
    let begin = process::now();
    let processes = Processes::now();
    let mut program = (!args.program.is_empty()).then(|| start(args)).transpose()?;
    let first = program.as_ref().and_then(|child| i32::try_from(child.id()).ok());
    let job = first.map_or_else(Job::default, |first| Job::new(first, begin));
    let mut shown = Shown { args, processes, job, first, begin, has_ended: false };
    // The terminal tells a program of an interrupt itself. The event of its end may be lost.
    let is_over = || {
        deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || match &mut program {
                Some(child) => !matches!(child.try_wait(), Ok(None)),
                None => interrupt.load(Ordering::Relaxed),
            }
    };
    standard_output(|out| shown.follow(&mut connector, is_over, out))?;
    let status = program.map(end).transpose()?;
    shown.finish(connector.lost());
    Ok(status.map_or(0, |status| Ending::of_status(status.into_raw()).code()))
}

fn start(args: &Forks) -> Result<Child> {
    let name = || args.program[0].display().to_string();
    let mut command = super::command(&args.program)?;
    Ok(command.spawn().map_err(|error| WrongUsage(format!("{}: {error}", name())))?)
}

/// Ends a program that still runs: the time is over, or nobody reads what is shown.
fn end(mut child: Child) -> io::Result<ExitStatus> {
    child.kill()?;
    child.wait()
}

/// What is shown of what happens.
struct Shown<'a> {
    args: &'a Forks,
    processes: Processes,
    /// The program, or all that is shown at the end.
    job: Job,
    /// The process of the program.
    first: Option<i32>,
    begin: u64,
    /// The program has ended.
    has_ended: bool,
}

impl Shown<'_> {
    fn follow(
        &mut self,
        connector: &mut Connector,
        mut is_over: impl FnMut() -> bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let is_list = self.is_list();
        if is_list && !self.args.json {
            writeln!(out, "{}", events::head())?;
        }
        let mut last = false;
        while !self.has_ended && !last {
            // What has happened until then is shown.
            last = is_over();
            connector.wait(INTERVAL)?;
            while let Some(event) = connector.next_event()? {
                if self.see(&event) && is_list {
                    self.show(&event, out)?;
                }
                self.processes.forget(&event);
            }
            out.flush()?;
        }
        Ok(())
    }

    /// Events are shown, and not what they were at the end.
    fn is_list(&self) -> bool {
        !self.args.end.tree && !self.args.end.stats
    }

    /// Learns from an event and says whether it is to be shown.
    fn see(&mut self, event: &Event) -> bool {
        self.processes.see(event);
        let belongs = self.first.is_none() || self.job.has(event.process);
        if self.first.is_none() && !self.is_list() {
            self.job.meet(event);
        }
        self.job.see(event);
        self.has_ended |= self.first == Some(event.thread) && matches!(event.what, What::Exit(_));
        belongs && is_wanted(&self.args.events, event)
    }

    fn show(&self, event: &Event, out: &mut dyn Write) -> io::Result<()> {
        if self.args.json {
            writeln!(out, "{}", events::json(event, &self.processes))
        } else {
            writeln!(out, "{}", events::line(event, &self.processes, self.begin))
        }
    }

    fn finish(&self, lost: u64) {
        super::show(&self.args.end, &self.job);
        if lost > 0 {
            complain(&format!("{lost} events were lost: the kernel had no room for them"));
        }
    }
}

/// Threads come and go in numbers: they are shown if somebody asks for them.
fn is_wanted(wanted: &[EventChoice], event: &Event) -> bool {
    let is_thread = event.process != event.thread;
    let is_end = matches!(event.what, What::Exit(_));
    if wanted.is_empty() {
        return event.what.kind() != Kind::Clone && !(is_thread && is_end);
    }
    wanted.iter().any(|wanted| match wanted {
        EventChoice::Kind(kind) => *kind == event.what.kind() && !(is_thread && is_end),
        EventChoice::Failures => {
            !is_thread && matches!(&event.what, What::Exit(ending) if !ending.is_success())
        }
    })
}
