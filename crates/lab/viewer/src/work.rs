//! What is compared of a recording.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::interval::Interval;
use crate::latency::Latencies;
use crate::look::View;
use crate::rows::ROWS_MAX;
use crate::seen::Seen;
use crate::threads::Threads;

/// Events whose order is kept.
const ORDERED_MAX: usize = 50_000_000;

/// What happened in a recording.
#[derive(Debug, Clone, Default)]
pub struct Work {
    /// How many events there are.
    pub events: u64,
    /// Of all events: what they are, where they were, and their fields.
    pub(crate) content: DefaultHasher,
    /// The same with the times since the begin.
    pub(crate) exact: DefaultHasher,
    /// Threads in the order in which they were seen.
    pub(crate) sequences: Vec<Sequence>,
    /// Names of events.
    pub(crate) names: Vec<String>,
    /// How long things took.
    pub(crate) latencies: Latencies,
    threads: HashMap<i32, usize>,
    ordered: usize,
}

/// What happened in a thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sequence {
    /// What it was called last.
    pub(crate) comm: String,
    /// Its events, by the places of their names.
    pub(crate) events: Vec<u16>,
}

/// What the kernel's own threads of all CPUs have in common.
pub(crate) fn family(comm: &str) -> &str {
    comm.split_once('/').map_or(comm, |(family, _)| family)
}

impl View for Work {
    fn event(&mut self, seen: &Seen<'_>) {
        self.events += 1;
        self.hash(seen);
        let Some(thread) = seen.event.thread.filter(|_| self.ordered < ORDERED_MAX) else { return };
        self.ordered += 1;
        let class = seen.event.class;
        let name = usize::from(class.id);
        if self.names.len() <= name {
            self.names.resize(name + 1, String::new());
        }
        if self.names[name].is_empty() {
            self.names[name].clone_from(&class.name);
        }
        let place = self.threads.get(&thread).copied().unwrap_or(self.sequences.len());
        if place == self.sequences.len() && place < ROWS_MAX {
            self.threads.insert(thread, place);
            self.sequences.push(Sequence::default());
        }
        let Some(sequence) = self.sequences.get_mut(place) else { return };
        sequence.events.push(class.id);
        seen.comm.into_iter().for_each(|comm| comm.clone_into(&mut sequence.comm));
    }

    fn interval(&mut self, interval: &Interval, threads: &Threads) {
        self.latencies.interval(interval, threads);
    }
}

impl Work {
    fn hash(&mut self, seen: &Seen<'_>) {
        let event = &seen.event;
        seen.since_begin().hash(&mut self.exact);
        let mut both = Both([&mut self.content, &mut self.exact]);
        // A hasher takes everything.
        let _ = write!(both, "{} {:?} {}", event.cpu, event.thread, event.class.name);
        for (_, value) in event.fields() {
            let _ = write!(both, " {value}");
        }
    }
}

/// Hashes what is written.
struct Both<'a>([&'a mut DefaultHasher; 2]);

impl Write for Both<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.iter_mut().for_each(|hasher| hasher.write(text.as_bytes()));
        Ok(())
    }
}
