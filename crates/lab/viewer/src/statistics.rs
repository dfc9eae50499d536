//! How many events there are of each kind, how long threads run, and how long system calls and interrupts take.

use std::collections::{BTreeMap, HashMap};

use ctf::{Event, Value};

use crate::spread::Spread;
use crate::walk::Seen;

/// Threads of which something is counted.
const THREADS_MAX: usize = 100_000;

/// What there is in a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// All events.
    pub events: u64,
    /// From the first to the last, in nanoseconds.
    pub span: u64,
    /// Events by their names.
    pub names: BTreeMap<String, u64>,
    /// Threads by their numbers; those that do nothing on a CPU are 0.
    pub threads: BTreeMap<i32, Thread>,
    /// CPUs.
    pub cpus: BTreeMap<u32, Cpu>,
    /// How long system calls took, by their names.
    pub calls: BTreeMap<String, Call>,
    /// How long the handlers of interrupts took, by their names.
    pub interrupts: BTreeMap<String, Spread>,
    open: Open,
}

/// What a thread did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thread {
    /// What it was called last.
    pub comm: String,
    /// Events in it.
    pub events: u64,
    /// Nanoseconds on a CPU, as far as both ends were recorded.
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

/// What has begun.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Open {
    /// Since when each CPU has had its thread.
    switched: HashMap<u32, u64>,
    /// The system call of each thread, and since when.
    calls: HashMap<i32, (String, u64)>,
    /// The interrupt on each CPU, and since when.
    interrupts: HashMap<u32, (String, u64)>,
}

impl Statistics {
    /// Counts an event.
    pub fn add(&mut self, seen: &Seen<'_>) {
        let event = &seen.event;
        self.events += 1;
        self.span = self.span.max(seen.since_begin());
        count(&mut self.names, &event.class.name);
        self.cpus.entry(event.cpu).or_default().events += u64::from(event.thread.is_some());
        if let Some(number) = event.thread
            && let Some(thread) = self.thread(number)
        {
            thread.events += 1;
            if let Some(comm) = seen.comm.filter(|comm| *comm != thread.comm) {
                comm.clone_into(&mut thread.comm);
            }
        }
        self.times(event);
    }

    fn thread(&mut self, number: i32) -> Option<&mut Thread> {
        let has_room = self.threads.len() < THREADS_MAX || self.threads.contains_key(&number);
        has_room.then(|| self.threads.entry(number).or_default())
    }

    fn times(&mut self, event: &Event<'_>) {
        let Some((system, name)) = event.class.name.split_once(':') else { return };
        match (system, name) {
            ("sched", "sched_switch") => self.switch(event),
            ("syscalls", name) => match (name.strip_prefix("sys_enter_"), name.strip_prefix("sys_exit_")) {
                (Some(call), _) => self.enter(event, call.to_owned()),
                (_, Some(_)) => self.exit(event),
                _ => {}
            },
            ("raw_syscalls", "sys_enter") => {
                let number = event.field("id").and_then(|id| id.number());
                self.enter(event, number.map_or_else(String::new, |number| format!("#{number}")));
            }
            ("raw_syscalls", "sys_exit") => self.exit(event),
            ("irq", "irq_handler_entry") => {
                let handler = event.field("name").as_ref().and_then(Value::text);
                let handler = handler.map_or_else(String::new, std::borrow::Cow::into_owned);
                self.open.interrupts.insert(event.cpu, (handler, event.time));
            }
            ("irq", "softirq_entry") => {
                let vector = event.field("vec").and_then(|vector| vector.number()).unwrap_or(-1);
                self.open.interrupts.insert(event.cpu, (format!("softirq {}", softirq(vector)), event.time));
            }
            ("irq", "irq_handler_exit" | "softirq_exit") => {
                if let Some((name, since)) = self.open.interrupts.remove(&event.cpu) {
                    self.interrupts.entry(name).or_default().add(event.time.saturating_sub(since));
                }
            }
            _ => {}
        }
    }

    fn switch(&mut self, event: &Event<'_>) {
        let Some(since) = self.open.switched.insert(event.cpu, event.time) else { return };
        let time = event.time.saturating_sub(since);
        let previous = event.field("prev_pid").and_then(|pid| pid.number());
        let cpu = self.cpus.entry(event.cpu).or_default();
        if previous == Some(0) {
            cpu.idle += time;
            return;
        }
        cpu.busy += time;
        if let Some(thread) = event.thread.and_then(|number| self.thread(number)) {
            thread.running += time;
        }
    }

    fn enter(&mut self, event: &Event<'_>, call: String) {
        if let Some(thread) = event.thread.filter(|_| self.open.calls.len() < THREADS_MAX) {
            self.open.calls.insert(thread, (call, event.time));
        }
    }

    fn exit(&mut self, event: &Event<'_>) {
        let begun = event.thread.and_then(|thread| self.open.calls.remove(&thread));
        let Some((call, since)) = begun else { return };
        let call = self.calls.entry(call).or_default();
        call.took.add(event.time.saturating_sub(since));
        let result = event.field("ret").and_then(|result| result.number());
        // `MAX_ERRNO` of the kernel.
        call.failed += u64::from(result.is_some_and(|result| (-4095..0).contains(&result)));
    }
}

fn count(counts: &mut BTreeMap<String, u64>, name: &str) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => drop(counts.insert(name.to_owned(), 1)),
    }
}

/// The name of a vector of `enum` in include/linux/interrupt.h.
fn softirq(vector: i128) -> String {
    const NAMES: [&str; 10] =
        ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];
    let name = usize::try_from(vector).ok().and_then(|vector| NAMES.get(vector));
    name.map_or_else(|| vector.to_string(), ToString::to_string)
}
