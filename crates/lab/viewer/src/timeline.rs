//! What CPUs and threads did over time, to be drawn.

use std::collections::{BTreeMap, HashMap};

use crate::field::text;
use crate::interval::{Interval, State, What};
use crate::look::View;
use crate::seen::Seen;
use crate::threads::Threads;

/// Intervals, calls and events at most: a browser has to hold them.
const ITEMS_MAX: usize = 4_000_000;

/// What programs say.
const MARK: &str = "ftrace:print";

/// What is drawn.
#[derive(Debug, Clone, Default)]
pub struct Timeline {
    /// CPUs and threads.
    pub lanes: BTreeMap<Place, Lane>,
    /// Texts, by the numbers that items have.
    pub labels: Vec<String>,
    /// Items for which there was no room.
    pub left_out: u64,
    known: HashMap<String, u32>,
    items: usize,
}

/// Where something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// On a CPU.
    Cpu(u32),
    /// In a thread.
    Thread(i32),
}

/// What was there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lane {
    /// What a thread was called last.
    pub comm: String,
    /// States: one after the other.
    pub states: Vec<Item>,
    /// System calls of a thread and interrupts of a CPU: one after the other.
    pub calls: Vec<Item>,
    /// Times and labels of events.
    pub events: Vec<(u64, u32)>,
}

/// Something that lasted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// When it began, in nanoseconds on the clock of the trace.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
    /// What it is.
    pub kind: Kind,
    /// More about it.
    pub label: u32,
}

/// What is told apart by its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A state of a thread; of a CPU whether something runs.
    State(State),
    /// A CPU has nothing to do.
    Idle,
    /// A system call.
    Call,
    /// An interrupt.
    Interrupt,
}

impl View for Timeline {
    fn event(&mut self, seen: &Seen<'_>) {
        let event = &seen.event;
        let place = match event.thread {
            Some(0) => Place::Cpu(event.cpu),
            Some(thread) => Place::Thread(thread),
            None => return,
        };
        let mark = (event.class.name == MARK).then(|| text(event, "buf")).flatten();
        let label = self.label(mark.as_deref().map_or(&event.class.name, str::trim_end));
        if let Some(lane) = self.lane(place) {
            lane.events.push((event.time, label));
        }
    }

    fn interval(&mut self, interval: &Interval, threads: &Threads) {
        let Interval { thread, cpu, begin, end, .. } = *interval;
        let comm = threads.name(thread).unwrap_or("?");
        match &interval.what {
            What::State { state: State::Running, .. } => {
                let label = self.label(&format!("{comm}-{thread}"));
                let kind = if thread == 0 { Kind::Idle } else { Kind::State(State::Running) };
                self.state(Place::Cpu(cpu), Item { begin, end, kind, label });
                let label = self.label(&format!("CPU {cpu}"));
                self.thread(interval, comm, Kind::State(State::Running), label);
            }
            What::State { state, call, .. } => {
                let label = self.label(call.as_deref().unwrap_or_default());
                self.thread(interval, comm, Kind::State(*state), label);
            }
            What::Call { name, .. } => {
                let label = self.label(name);
                if let Some(lane) = self.lane(Place::Thread(thread)) {
                    lane.calls.push(Item { begin, end, kind: Kind::Call, label });
                }
            }
            What::Interrupt { name } => {
                let label = self.label(name);
                if let Some(lane) = self.lane(Place::Cpu(cpu)) {
                    lane.add_interrupt(Item { begin, end, kind: Kind::Interrupt, label });
                }
            }
            What::Request { .. } => {}
        }
    }
}

impl Timeline {
    fn thread(&mut self, interval: &Interval, comm: &str, kind: Kind, label: u32) {
        if interval.thread == 0 {
            return;
        }
        let place = Place::Thread(interval.thread);
        self.state(place, Item { begin: interval.begin, end: interval.end, kind, label });
        self.lanes.get_mut(&place).into_iter().for_each(|lane| comm.clone_into(&mut lane.comm));
    }

    fn state(&mut self, place: Place, item: Item) {
        if let Some(lane) = self.lane(place) {
            lane.states.push(item);
        }
    }

    /// The place of one more item; nothing if there is no room.
    fn lane(&mut self, place: Place) -> Option<&mut Lane> {
        if self.items >= ITEMS_MAX {
            self.left_out += 1;
            return None;
        }
        self.items += 1;
        Some(self.lanes.entry(place).or_default())
    }

    fn label(&mut self, text: &str) -> u32 {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let new = u32::try_from(self.labels.len()).unwrap_or(u32::MAX);
        self.labels.push(text.to_owned());
        self.known.insert(text.to_owned(), new);
        new
    }
}

impl Lane {
    /// Adds an interrupt. A soft one is in pieces around the others that came in between, which ended before it did.
    fn add_interrupt(&mut self, whole: Item) {
        let inside = self.calls.partition_point(|item| item.begin < whole.begin);
        let others = self.calls.split_off(inside);
        let mut begin = whole.begin;
        for other in others {
            if begin < other.begin {
                self.calls.push(Item { begin, end: other.begin, ..whole });
            }
            begin = other.end;
            self.calls.push(other);
        }
        if begin < whole.end {
            self.calls.push(Item { begin, ..whole });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{It, on, viewed};

    #[test]
    fn a_cpu_has_its_threads_and_interrupts_and_a_thread_its_states_and_calls() {
        let vector = [("vec", It::Number(1))];
        let handler = [("name", It::Text("timer"))];
        let events = [
            on(0, 10, 7).enter_read(),
            on(0, 20, 7).event("irq:softirq_entry", &vector),
            on(0, 22, 7).event("irq:irq_handler_entry", &handler),
            on(0, 24, 7).event("irq:irq_handler_exit", &[("ret", It::Number(1))]),
            on(0, 30, 7).event("irq:softirq_exit", &vector),
            on(0, 40, 7).exit_read(0),
            on(0, 50, 7).switch(1, 0),
            on(0, 60, 0).wake(7),
        ];
        let found: Timeline = viewed(&events, None);
        let items = |items: &[Item]| -> Vec<_> {
            let label = |item: &Item| found.labels[usize::try_from(item.label).expect("small")].clone();
            items.iter().map(|item| (item.begin, item.end, item.kind, label(item))).collect()
        };
        let text = str::to_owned;
        let (cpu, thread) = (&found.lanes[&Place::Cpu(0)], &found.lanes[&Place::Thread(7)]);
        let running = Kind::State(State::Running);
        assert_eq!(
            items(&cpu.states),
            [(10, 50, running, text("seven-7")), (50, 60, Kind::Idle, text("swapper-0"))]
        );
        let irq = Kind::Interrupt;
        assert_eq!(
            items(&cpu.calls),
            [
                (20, 22, irq, text("softirq TIMER")),
                (22, 24, irq, text("timer")),
                (24, 30, irq, text("softirq TIMER"))
            ]
        );
        assert_eq!(items(&thread.calls), [(10, 40, Kind::Call, text("read"))]);
        assert_eq!((thread.comm.as_str(), thread.states.len(), thread.events.len()), ("seven", 3, 7));
        assert_eq!((cpu.events.len(), found.left_out), (1, 0));
    }

    proptest! {
        #[test]
        fn interrupts_of_a_cpu_do_not_overlap(lengths in prop::collection::vec((1..9_u64, 1..9_u64, 0..4_usize), 1..20)) {
            let (mut lane, mut time) = (Lane::default(), 0);
            let mut covered = 0;
            for (gap, length, inside) in lengths {
                let item = |begin, end| Item { begin, end, kind: Kind::Interrupt, label: 0 };
                let begin = time + gap;
                time = begin;
                for _ in 0..inside {
                    lane.add_interrupt(item(time + gap, time + gap + length));
                    time += gap + length;
                }
                time += length;
                lane.add_interrupt(item(begin, time));
                covered += time - begin;
            }
            prop_assert!(lane.calls.windows(2).all(|pair| pair[0].end <= pair[1].begin), "{:?}", lane.calls);
            prop_assert_eq!(lane.calls.iter().map(|item| item.end - item.begin).sum::<u64>(), covered);
        }
    }
}
