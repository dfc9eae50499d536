//! Shows what happens to all processes, or to those of a program.

use std::io::{self, Write};
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use observe::{Connector, Ending, Event, Job, Kind, Processes, What, process};
use report::observe::{events, job};

use crate::cli::{EventChoice, Forks};
use crate::failure::{WrongUsage, complain};
use crate::listeners::standard_output;
use crate::signals;

/// How long the kernel may keep events before they are shown.
const INTERVAL: Duration = Duration::from_millis(50);

/// Shows events and gives the exit code: that of the program, if there is one.
pub(super) fn forks(args: &Forks) -> Result<u8> {
    let interrupt = signals::interrupt_or_deadline(args.duration).context("signals")?;
    // It listens before the program begins.
    let mut connector = Connector::new()?;
    let begin = process::now();
    let processes = Processes::now();
    let program = (!args.program.is_empty()).then(|| start(args)).transpose()?;
    let first = program.as_ref().and_then(|child| i32::try_from(child.id()).ok());
    let job = first.map_or_else(Job::default, |first| Job::new(first, begin));
    let mut shown = Shown { args, processes, job, first, begin, ending: None };
    standard_output(|out| shown.follow(&mut connector, &interrupt, out))?;
    reap(program)?;
    shown.finish(connector.lost());
    Ok(shown.ending.map_or(0, Ending::code))
}

fn start(args: &Forks) -> Result<Child> {
    let name = || args.program[0].display().to_string();
    let mut command = super::command(&args.program)?;
    Ok(command.spawn().map_err(|error| WrongUsage(format!("{}: {error}", name())))?)
}

/// A program that still runs when the time is over is not kiln's to end.
fn reap(program: Option<Child>) -> io::Result<()> {
    program.map_or(Ok(()), |mut child| child.try_wait().map(drop))
}

/// What is shown of what happens.
struct Shown<'a> {
    args: &'a Forks,
    processes: Processes,
    /// The program, or whatever happens to be made.
    job: Job,
    /// The process of the program.
    first: Option<i32>,
    begin: u64,
    /// How the program ended.
    ending: Option<Ending>,
}

impl Shown<'_> {
    fn follow(
        &mut self,
        connector: &mut Connector,
        interrupt: &Arc<AtomicBool>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let is_list = !self.args.end.tree && !self.args.end.stats;
        if is_list && !self.args.json {
            writeln!(out, "{}", events::head())?;
        }
        while !interrupt.load(Ordering::Relaxed) && self.ending.is_none() {
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

    /// Learns from an event and says whether it is to be shown.
    fn see(&mut self, event: &Event) -> bool {
        self.processes.see(event);
        let belongs = self.first.is_none() || self.job.has(event.process);
        if self.first.is_none() {
            self.job.meet(event);
        }
        self.job.see(event);
        if let (true, What::Exit(ending)) = (self.first == Some(event.thread), &event.what) {
            self.ending = Some(*ending);
        }
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
        if self.args.end.tree {
            complain(&format!("processes\n{}", job::tree(&self.job)));
        }
        if self.args.end.stats {
            complain(&format!("programs{}", job::statistics(&self.job)));
        }
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
