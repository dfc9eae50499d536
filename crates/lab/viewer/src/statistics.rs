//! How many events there are of each kind, how long threads run, and how long system calls and interrupts take.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::interval::{Interval, State, What};
use crate::look::View;
use crate::rows::row;
use crate::seen::Seen;
use crate::spread::Spread;
use crate::threads::Threads;

/// What there is in a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// All events.
    pub events: u64,
    /// From the first to the last, in nanoseconds.
    pub span: u64,
    /// Events by the numbers of their classes, with their names.
    classes: BTreeMap<u16, (String, u64)>,
    /// Threads by their numbers; those that do nothing on a CPU are 0.
    pub threads: BTreeMap<i32, Thread>,
    /// CPUs.
    pub cpus: BTreeMap<u32, Cpu>,
    /// How long system calls took, by their names.
    pub calls: BTreeMap<Rc<str>, Call>,
    /// How long the handlers of interrupts took, by their names.
    pub interrupts: BTreeMap<Rc<str>, Spread>,
}

/// What a thread did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thread {
    /// What it was called last.
    pub comm: String,
    /// Events in it.
    pub events: u64,
    /// Nanoseconds on a CPU.
    pub running: u64,
}

/// What a CPU did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cpu {
    /// Events on it.
    pub events: u64,
    /// Nanoseconds with a thread on it.
    pub busy: u64,
    /// Nanoseconds with none.
    pub idle: u64,
}

/// How a system call went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Call {
    /// How long it took.
    pub took: Spread,
    /// How often it gave an error.
    pub failed: u64,
}

impl View for Statistics {
    fn event(&mut self, seen: &Seen<'_>) {
        let event = &seen.event;
        self.events += 1;
        self.span = self.span.max(seen.since_begin());
        let class = || (event.class.name.clone(), 0);
        self.classes.entry(event.class.id).or_insert_with(class).1 += 1;
        self.cpus.entry(event.cpu).or_default().events += u64::from(event.thread.is_some());
        if let Some(thread) = event.thread.and_then(|number| self.thread(number, seen.comm)) {
            thread.events += 1;
        }
    }

    fn interval(&mut self, interval: &Interval, threads: &Threads) {
        let length = interval.length();
        match &interval.what {
            What::State { state: State::Running, .. } => {
                let cpu = self.cpus.entry(interval.cpu).or_default();
                *(if interval.thread == 0 { &mut cpu.idle } else { &mut cpu.busy }) += length;
                let comm = threads.name(interval.thread);
                let thread = self.thread(interval.thread, comm).filter(|_| interval.thread != 0);
                thread.into_iter().for_each(|thread| thread.running += length);
            }
            What::Call { name, failed } if interval.is_whole => {
                let Some(call) = row(&mut self.calls, Rc::clone(name)) else { return };
                call.took.add(length);
                call.failed += u64::from(*failed);
            }
            What::Interrupt { name } => {
                row(&mut self.interrupts, Rc::clone(name)).into_iter().for_each(|took| took.add(length));
            }
            What::State { .. } | What::Call { .. } | What::Request { .. } => {}
        }
    }
}

impl Statistics {
    /// Events by their names.
    #[must_use]
    pub fn names(&self) -> BTreeMap<&str, u64> {
        let mut names = BTreeMap::new();
        self.classes.values().for_each(|(name, count)| *names.entry(name.as_str()).or_default() += count);
        names
    }

    fn thread(&mut self, number: i32, comm: Option<&str>) -> Option<&mut Thread> {
        let thread = row(&mut self.threads, number)?;
        comm.into_iter().for_each(|comm| comm.clone_into(&mut thread.comm));
        Some(thread)
    }
}
