//! Whose the time between two events is.

use std::collections::{BTreeMap, BTreeSet};

use protocol::results::cut;
use protocol::steal::{CAUSES_MAX, Cause, Polls, TEXT_MAX, ThreadTime, Trace};

use super::event::{Event, Line};
use crate::gaps::scaled;

/// Interrupts in softirqs in interrupts at most.
const NESTED_MAX: usize = 16;

/// Names and threads at most; those beyond have no place.
const NAMES_MAX: usize = 1 << 16;

/// The number of the idle task.
const IDLE: u32 = 0;

/// Time of a cause in ticks, in all and while a victim was the current task.
#[derive(Debug, Clone, Copy, Default)]
struct Ticks {
    count: u64,
    all: u64,
    charged: u64,
}

/// A kind of cause: what is it that interrupts?
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Interrupt,
    Softirq,
}

/// Adds events up.
#[derive(Debug)]
pub(super) struct Attribution {
    victims: BTreeSet<u32>,
    /// Victims that could run and do not.
    waiting: BTreeSet<u32>,
    first: Option<u64>,
    last: u64,
    current: u32,
    /// What interrupts the current task, the innermost at the end.
    nested: Vec<(Kind, Vec<u8>)>,
    causes: BTreeMap<(Kind, Vec<u8>), Ticks>,
    threads: BTreeMap<u32, (Vec<u8>, u64)>,
    victim: u64,
    waited: u64,
    polls: Polls,
    unread: u64,
}

impl Attribution {
    pub(super) fn new(victims: BTreeSet<u32>) -> Self {
        Self {
            victims,
            waiting: BTreeSet::new(),
            first: None,
            last: 0,
            current: IDLE,
            nested: Vec::new(),
            causes: BTreeMap::new(),
            threads: BTreeMap::new(),
            victim: 0,
            waited: 0,
            polls: Polls::default(),
            unread: 0,
        }
    }

    /// A line that is no event.
    pub(super) fn unread(&mut self) {
        self.unread += 1;
    }

    /// The next event.
    pub(super) fn add(&mut self, line: &Line<'_>) {
        if self.first.is_none() {
            self.first = Some(line.at);
            self.last = line.at;
        }
        self.current = line.pid;
        self.pass(line.at.saturating_sub(self.last));
        self.last = self.last.max(line.at);
        match line.event {
            Event::Switch { could_run, next, name } => self.switch(could_run, next, name),
            Event::Fork { child } if self.victims.contains(&line.pid) && self.victims.len() < NAMES_MAX => {
                self.victims.insert(child);
            }
            Event::Fork { .. } => {}
            Event::Interrupt(name) => self.begin(Kind::Interrupt, name),
            Event::Softirq(name) => self.begin(Kind::Softirq, name),
            Event::InterruptEnd => self.end(Kind::Interrupt),
            Event::SoftirqEnd => self.end(Kind::Softirq),
            Event::Poll { packets, budget } => {
                self.polls.count += 1;
                self.polls.packets = self.polls.packets.saturating_add(packets);
                self.polls.full += u64::from(packets >= budget);
            }
        }
    }

    /// So many ticks have passed since the last event.
    fn pass(&mut self, ticks: u64) {
        let is_victim = self.victims.contains(&self.current);
        if let Some(cause) = self.nested.last().and_then(|cause| self.causes.get_mut(cause)) {
            cause.all = cause.all.saturating_add(ticks);
            cause.charged = cause.charged.saturating_add(if is_victim { ticks } else { 0 });
        }
        if is_victim {
            self.victim = self.victim.saturating_add(ticks);
        } else if self.current != IDLE {
            if let Some((_, sum)) = self.threads.get_mut(&self.current) {
                *sum = sum.saturating_add(ticks);
            }
            if !self.waiting.is_empty() {
                self.waited = self.waited.saturating_add(ticks);
            }
        }
    }

    fn switch(&mut self, could_run: bool, next: u32, name: &[u8]) {
        // Nothing is nested in a task that gives way: the ends were not seen.
        self.unread += self.nested.len() as u64;
        self.nested.clear();
        if could_run && self.victims.contains(&self.current) {
            self.waiting.insert(self.current);
        }
        self.waiting.remove(&next);
        self.current = next;
        if next != IDLE && !self.victims.contains(&next) && self.threads.len() < NAMES_MAX {
            // It may have taken another name.
            let thread = self.threads.entry(next).or_default();
            thread.0 = name.to_vec();
        }
    }

    fn begin(&mut self, kind: Kind, name: &[u8]) {
        if self.nested.len() >= NESTED_MAX || self.causes.len() >= NAMES_MAX {
            return self.unread();
        }
        let cause = (kind, name.to_vec());
        self.causes.entry(cause.clone()).or_default().count += 1;
        self.nested.push(cause);
    }

    fn end(&mut self, kind: Kind) {
        match self.nested.last() {
            Some((last, _)) if *last == kind => drop(self.nested.pop()),
            // It began before the trace did, or its beginning is lost.
            _ => self.unread(),
        }
    }

    /// Where the time went, with a tick of so many nanoseconds.
    pub(super) fn trace(&self, tick_ns: f64, dropped: u64) -> Trace {
        let ns = |ticks| scaled(ticks, tick_ns);
        Trace {
            traced_ns: ns(self.last.saturating_sub(self.first.unwrap_or(self.last))),
            victim_ns: ns(self.victim),
            waited_ns: ns(self.waited),
            interrupts: self.causes(Kind::Interrupt, tick_ns),
            softirqs: self.causes(Kind::Softirq, tick_ns),
            threads: self.threads(tick_ns),
            polls: self.polls,
            dropped,
            unread: self.unread,
        }
    }

    fn causes(&self, kind: Kind, tick_ns: f64) -> Vec<Cause> {
        let causes = self.causes.iter().filter(|((it, _), _)| *it == kind);
        let mut causes: Vec<Cause> = causes
            .map(|((_, name), ticks)| Cause {
                name: text(name),
                count: ticks.count,
                ns: scaled(ticks.all, tick_ns),
                charged_ns: scaled(ticks.charged, tick_ns),
            })
            .collect();
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.ns));
        causes.truncate(CAUSES_MAX);
        causes
    }

    fn threads(&self, tick_ns: f64) -> Vec<ThreadTime> {
        let threads = self.threads.values().filter(|(_, ticks)| *ticks > 0);
        ThreadTime::longest(threads.map(|(name, ticks)| ThreadTime {
            name: text(name),
            ns: scaled(*ticks, tick_ns),
            at_most: false,
        }))
    }
}

fn text(bytes: &[u8]) -> String {
    cut(&String::from_utf8_lossy(bytes), TEXT_MAX).to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const VICTIM: u32 = 7;

    fn added(events: &[(u32, u64, Event<'_>)]) -> Trace {
        let mut attribution = Attribution::new(BTreeSet::from([VICTIM]));
        for (pid, at, event) in events {
            attribution.add(&Line { pid: *pid, at: *at, event: event.clone() });
        }
        attribution.trace(1.0, 0)
    }

    fn cause(name: &str, count: u64, ns: u64, charged_ns: u64) -> Cause {
        Cause { name: name.to_owned(), count, ns, charged_ns }
    }

    #[test]
    fn time_belongs_to_the_innermost_cause_and_is_charged_to_the_current_task() {
        let trace = added(&[
            (VICTIM, 100, Event::Interrupt(b"eth0")),
            (VICTIM, 110, Event::InterruptEnd),
            (VICTIM, 112, Event::Softirq(b"NET_RX")),
            (VICTIM, 120, Event::Poll { packets: 64, budget: 64 }),
            (VICTIM, 130, Event::Interrupt(b"local_timer")),
            (VICTIM, 134, Event::InterruptEnd),
            (VICTIM, 140, Event::Poll { packets: 27, budget: 64 }),
            (VICTIM, 150, Event::SoftirqEnd),
            (VICTIM, 200, Event::Switch { could_run: true, next: 18, name: b"ksoftirqd/1" }),
            (18, 205, Event::Softirq(b"NET_RX")),
            (18, 235, Event::SoftirqEnd),
            (18, 240, Event::Switch { could_run: false, next: VICTIM, name: b"probe" }),
            (VICTIM, 300, Event::Interrupt(b"local_timer")),
        ]);
        assert_eq!((trace.traced_ns, trace.victim_ns, trace.waited_ns, trace.unread), (200, 160, 40, 0));
        assert_eq!(trace.interrupts, [cause("eth0", 1, 10, 10), cause("local_timer", 2, 4, 4)]);
        assert_eq!(trace.softirqs, [cause("NET_RX", 2, 64, 34)]);
        assert_eq!((trace.threads.len(), trace.threads[0].ns), (1, 40));
        assert_eq!(trace.polls, Polls { count: 2, packets: 91, full: 1 });
        assert_eq!(trace.charged_ns(), 48);
    }

    #[test]
    fn a_victim_that_sleeps_waits_for_nobody_and_its_children_are_victims() {
        let trace = added(&[
            (VICTIM, 0, Event::Fork { child: 8 }),
            (VICTIM, 10, Event::Switch { could_run: false, next: 20, name: b"other" }),
            (20, 30, Event::Switch { could_run: false, next: 0, name: b"swapper/1" }),
            (0, 50, Event::Switch { could_run: true, next: 8, name: b"child" }),
            (8, 60, Event::Switch { could_run: true, next: 20, name: b"other" }),
            (20, 65, Event::Switch { could_run: true, next: 8, name: b"child" }),
        ]);
        assert_eq!((trace.traced_ns, trace.victim_ns, trace.waited_ns), (65, 20, 5));
        assert_eq!((trace.threads.len(), trace.threads[0].ns), (1, 25));
    }

    #[test]
    fn beginnings_and_ends_that_are_missing_are_counted() {
        let trace = added(&[
            (VICTIM, 0, Event::SoftirqEnd),
            (VICTIM, 1, Event::Interrupt(b"x")),
            (VICTIM, 2, Event::SoftirqEnd),
            (VICTIM, 3, Event::Switch { could_run: true, next: 9, name: b"y" }),
        ]);
        assert_eq!(trace.unread, 3);
        let deep: Vec<_> = (0..20).map(|at| (VICTIM, at, Event::Interrupt(b"x"))).collect();
        assert_eq!(added(&deep).unread, 4);
    }

    fn any_event() -> impl Strategy<Value = Event<'static>> {
        prop_oneof![
            (any::<bool>(), 0_u32..9).prop_map(|(could_run, next)| Event::Switch {
                could_run,
                next,
                name: b"t"
            }),
            (0_u32..9).prop_map(|child| Event::Fork { child }),
            Just(Event::Interrupt(b"i")),
            Just(Event::InterruptEnd),
            Just(Event::Softirq(b"s")),
            Just(Event::SoftirqEnd),
            (any::<u64>(), any::<u64>()).prop_map(|(packets, budget)| Event::Poll { packets, budget }),
        ]
    }

    proptest! {
        #[test]
        fn no_time_is_counted_twice(
            events in proptest::collection::vec((0_u32..9, 0_u64..1000, any_event()), 0..60)
        ) {
            let trace = added(&events);
            let threads: u64 = trace.threads.iter().map(|thread| thread.ns).sum();
            let causes: u64 = trace.interrupts.iter().chain(&trace.softirqs).map(|cause| cause.ns).sum();
            prop_assert!(trace.victim_ns + threads <= trace.traced_ns);
            prop_assert!(causes <= trace.traced_ns && trace.waited_ns <= trace.traced_ns - trace.victim_ns);
            prop_assert!(trace.charged_ns() <= trace.victim_ns);
        }
    }
}
