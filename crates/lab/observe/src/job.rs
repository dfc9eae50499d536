//! A program and all that it started: who made whom, how long each lived, and how it ended.

use std::collections::HashMap;
use std::time::Duration;

use crate::ending::Ending;
use crate::event::{Event, What};
use crate::monitor::Usage;
use crate::process;
use crate::signal::Signal;

/// Most processes that are remembered one by one; others are counted.
pub const LIVES_MAX: usize = 1_000_000;

/// A process of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Life {
    /// Its number.
    pub process: i32,
    /// The place of the process that made it among all of the job.
    pub parent: Option<usize>,
    /// The last program that it ran, with its arguments; empty if it ran that of its parent.
    pub command: String,
    /// How many programs it ran.
    pub programs: u32,
    /// How many threads it made.
    pub threads: u32,
    /// When it was made: nanoseconds of `CLOCK_MONOTONIC`.
    pub began: u64,
    /// When and how it ended, if it did.
    pub end: Option<End>,
    /// What it used, with the children for which it waited, if that is known.
    pub usage: Usage,
    /// The signal that killed it, with its cause.
    pub signal: Option<Signal>,
}

/// The end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// When: nanoseconds of `CLOCK_MONOTONIC`.
    pub time: u64,
    /// How.
    pub ending: Ending,
}

impl Life {
    /// How long it lived; nothing if it still does.
    #[must_use]
    pub fn duration(&self) -> Option<Duration> {
        Some(Duration::from_nanos(self.end?.time.saturating_sub(self.began)))
    }
}

/// A program and all that it started.
#[derive(Debug, Default)]
pub struct Job {
    lives: Vec<Life>,
    alive: HashMap<i32, usize>,
    /// Processes that are not remembered.
    others: u64,
}

impl Job {
    /// A job of one process that has just been made.
    #[must_use]
    pub fn new(first: i32, began: u64) -> Self {
        let mut job = Self::default();
        job.add(first, None, began);
        job
    }

    fn add(&mut self, process: i32, parent: Option<usize>, began: u64) {
        if self.lives.len() == LIVES_MAX {
            self.others += 1;
            return;
        }
        self.alive.insert(process, self.lives.len());
        let (usage, command) = (Usage::default(), String::new());
        self.lives.push(Life {
            process,
            parent,
            command,
            programs: 0,
            threads: 0,
            began,
            end: None,
            usage,
            signal: None,
        });
    }

    /// Whether a process belongs to it.
    #[must_use]
    pub fn has(&self, process: i32) -> bool {
        self.alive.contains_key(&process)
    }

    /// Makes a process that is not known yet part of it.
    pub fn meet(&mut self, event: &Event) {
        if !self.has(event.process) && !matches!(event.what, What::Exit(_)) {
            self.add(event.process, None, event.time);
        }
    }

    /// Learns from an event of one of its processes; those of others are no matter.
    pub fn see(&mut self, event: &Event) {
        let Some(&at) = self.alive.get(&event.process) else { return };
        let life = &mut self.lives[at];
        match &event.what {
            What::Fork { child } => self.add(*child, Some(at), event.time),
            What::Clone { .. } => life.threads += 1,
            What::Exec => {
                life.programs += 1;
                let command = process::command(event.process);
                // One that is gone already keeps its last name.
                if !command.is_empty() {
                    life.command = command;
                }
            }
            What::Signal(signal) if signal.is_fatal => life.signal = Some(*signal),
            What::Exit(ending) if event.process == event.thread => {
                life.end = Some(End { time: event.time, ending: *ending });
                self.alive.remove(&event.process);
            }
            _ => {}
        }
    }

    /// What a process used that has ended.
    pub fn used(&mut self, process: i32, usage: &Usage) {
        if let Some(life) = self.lives.iter_mut().rev().find(|life| life.process == process) {
            life.usage = *usage;
        }
    }

    /// Its processes in the order in which they were made.
    #[must_use]
    pub fn lives(&self) -> &[Life] {
        &self.lives
    }

    /// How many more there were.
    #[must_use]
    pub fn others(&self) -> u64 {
        self.others
    }

    /// For each process the places of those that it made.
    #[must_use]
    pub fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.lives.len()];
        for (at, life) in self.lives.iter().enumerate() {
            life.parent.into_iter().for_each(|parent| children[parent].push(at));
        }
        children
    }

    /// The program that a process ran: its own, or that of the nearest process above it that ran one.
    #[must_use]
    pub fn command(&self, at: usize) -> &str {
        let mut life = &self.lives[at];
        while life.command.is_empty()
            && let Some(parent) = life.parent
        {
            life = &self.lives[parent];
        }
        &life.command
    }
}
