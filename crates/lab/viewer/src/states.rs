//! What threads and CPUs do from event to event.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use ctf::Event;
use serde::{Deserialize, Serialize};

use crate::field::{number, text};
use crate::interval::{Interval, State, Waker, What};
use crate::kind::{Kind, Kinds};
use crate::rows::ROWS_MAX;

/// `TRACE_FLAG_HARDIRQ` and `TRACE_FLAG_SOFTIRQ` of the kernel.
const HARDIRQ: u8 = 0x08;
const SOFTIRQ: u8 = 0x10;

/// The state of all threads and CPUs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct States {
    /// When the first event of the kernel was: what was there before has no time.
    begin: Option<u64>,
    /// Threads by their numbers, without those that do nothing on a CPU.
    pub threads: BTreeMap<i32, Thread>,
    /// CPUs by their numbers.
    pub cpus: BTreeMap<u32, Cpu>,
    /// What devices work on, by device and sector.
    requests: HashMap<(i128, i128), Open>,
    /// Names are there once.
    #[serde(skip)]
    names: HashSet<Rc<str>>,
    #[serde(skip)]
    kinds: Kinds,
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// What it does; nothing if no event said so yet.
    pub state: Option<State>,
    /// Since when.
    pub since: u64,
    /// Where it was last.
    pub cpu: u32,
    /// Who made it runnable.
    pub waker: Option<Waker>,
    /// The system call that it is in.
    pub call: Option<Open>,
}

/// A CPU.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The thread that is on it, and since when; nothing if no event said so yet.
    pub thread: Option<(i32, u64)>,
    /// The interrupt that it handles.
    pub hard: Option<Open>,
    /// The soft interrupt that it handles.
    pub soft: Option<Open>,
}

/// What has begun and not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// What it is called.
    pub name: Rc<str>,
    /// Since when.
    pub since: u64,
    thread: i32,
    cpu: u32,
}

impl Open {
    fn ended(self, end: u64, is_whole: bool, what: impl FnOnce(Rc<str>) -> What) -> Interval {
        let Self { name, since: begin, thread, cpu } = self;
        Interval { thread, cpu, begin, end, is_whole, what: what(name) }
    }
}

impl States {
    /// Learns from an event; adds to `ended` what ended with it.
    pub fn see(&mut self, event: &Event<'_>, ended: &mut Vec<Interval>) {
        let kind = self.kinds.of(event.class);
        if event.thread.is_some() {
            self.begin.get_or_insert(event.time);
        }
        match kind {
            Kind::Other => {}
            Kind::Switch => self.switch(event, ended),
            Kind::Wake(field) => ended.extend(number(event, field).and_then(|woken| self.wake(event, woken))),
            Kind::Exit => ended.extend(self.end(event)),
            Kind::Enter(call) => self.enter(event, call),
            Kind::EnterNumber => {
                let call = event.field("id").and_then(|id| id.number());
                let call = self.name(&call.map_or_else(String::new, |call| format!("#{call}")));
                self.enter(event, call);
            }
            Kind::Leave => ended.extend(self.leave(event)),
            Kind::Interrupt => {
                let open = self.open(event, &text(event, "name").unwrap_or_default());
                self.cpus.entry(event.cpu).or_default().hard = Some(open);
            }
            Kind::SoftInterrupt => {
                let vector = event.field("vec").and_then(|vector| vector.number()).unwrap_or(-1);
                let open = self.open(event, &format!("softirq {}", softirq(vector)));
                self.cpus.entry(event.cpu).or_default().soft = Some(open);
            }
            Kind::InterruptEnd => {
                let open = self.cpus.get_mut(&event.cpu).and_then(|cpu| cpu.hard.take());
                ended.extend(open.and_then(|open| handled(open, event)));
            }
            Kind::SoftInterruptEnd => {
                let open = self.cpus.get_mut(&event.cpu).and_then(|cpu| cpu.soft.take());
                ended.extend(open.and_then(|open| handled(open, event)));
            }
            Kind::Issue => self.issue(event),
            Kind::Complete => ended.extend(self.complete(event)),
        }
    }

    /// What has not ended at the end of the trace.
    #[must_use]
    pub fn finish(self, end: u64) -> Vec<Interval> {
        let mut ended = Vec::new();
        for (number, cpu) in &self.cpus {
            if let Some((thread, begin)) = cpu.thread {
                let call = self.threads.get(&thread).and_then(|thread| thread.call.as_ref());
                let call = call.map(|call| Rc::clone(&call.name));
                let what = What::State { state: State::Running, call, waker: None };
                ended.push(Interval { thread, cpu: *number, begin, end, is_whole: false, what });
            }
        }
        for (number, thread) in self.threads {
            if let Some(open) = thread.call.clone() {
                ended.push(open.ended(end, false, |name| What::Call { name, failed: false }));
            }
            let waiting = thread.leave(number, end).filter(|_| thread.state != Some(State::Running));
            ended.extend(waiting.map(|waiting| Interval { is_whole: false, ..waiting }));
        }
        ended
    }

    fn thread(&mut self, number: i32) -> Option<&mut Thread> {
        let has_room = self.threads.len() < ROWS_MAX || self.threads.contains_key(&number);
        let since = self.begin.unwrap_or_default();
        let new = || Thread { state: None, since, cpu: 0, waker: None, call: None };
        (number != 0 && has_room).then(|| self.threads.entry(number).or_insert_with(new))
    }

    fn name(&mut self, name: &str) -> Rc<str> {
        if let Some(known) = self.names.get(name) {
            return Rc::clone(known);
        }
        let new: Rc<str> = name.into();
        if self.names.len() < ROWS_MAX {
            self.names.insert(Rc::clone(&new));
        }
        new
    }

    fn open(&mut self, event: &Event<'_>, name: &str) -> Open {
        opened(event, self.name(name))
    }

    fn switch(&mut self, event: &Event<'_>, ended: &mut Vec<Interval>) {
        let (Some(previous), Some(next)) = (number(event, "prev_pid"), number(event, "next_pid")) else {
            return;
        };
        let left =
            State::left(event.field("prev_state").and_then(|state| state.number()).unwrap_or_default());
        ended.push(self.leave_cpu(event, previous));
        if let Some(thread) = self.thread(previous) {
            (thread.state, thread.since, thread.cpu, thread.waker) =
                (Some(left), event.time, event.cpu, None);
            // What it was in, such as exit_group, does not end.
            thread.call = thread.call.take().filter(|_| left != State::Ended);
        }
        if let Some(thread) = self.thread(next) {
            ended.extend(thread.leave(next, event.time));
            thread.state = Some(State::Running);
            (thread.since, thread.cpu, thread.waker) = (event.time, event.cpu, None);
        }
        self.cpus.entry(event.cpu).or_default().thread = Some((next, event.time));
    }

    /// The time that a thread was on a CPU, from which it goes now.
    fn leave_cpu(&mut self, event: &Event<'_>, previous: i32) -> Interval {
        let known = self.cpus.get(&event.cpu).and_then(|cpu| cpu.thread);
        // If events were lost, another thread was seen on it last.
        let since = known.filter(|(thread, _)| *thread == previous).map(|(_, since)| since);
        let call = self.threads.get(&previous).and_then(|thread| thread.call.as_ref());
        let what =
            What::State { state: State::Running, call: call.map(|call| Rc::clone(&call.name)), waker: None };
        let unknown = self.begin.filter(|_| known.is_none()).unwrap_or(event.time);
        let (begin, is_whole) = (since.unwrap_or(unknown), since.is_some());
        Interval { thread: previous, cpu: event.cpu, begin, end: event.time, is_whole, what }
    }

    fn wake(&mut self, event: &Event<'_>, woken: i32) -> Option<Interval> {
        let interrupt = self.interrupted(event);
        let waker = event.thread.map(|thread| Waker { thread, interrupt });
        let thread = self.thread(woken)?;
        if matches!(thread.state, Some(State::Running | State::Runnable)) {
            return None;
        }
        thread.waker = waker;
        let ended = thread.leave(woken, event.time);
        (thread.state, thread.since) = (Some(State::Runnable), event.time);
        ended
    }

    /// The time on its CPU of a thread that ends. A recording of some processes does not have the switch that follows: the kernel has
    /// forgotten this one.
    fn end(&mut self, event: &Event<'_>) -> Option<Interval> {
        let thread = event.thread?;
        let on_cpu = &mut self.cpus.get_mut(&event.cpu)?.thread;
        let (_, begin) = on_cpu.filter(|(running, _)| *running == thread)?;
        *on_cpu = Some((thread, event.time));
        if let Some(thread) = self.threads.get_mut(&thread) {
            (thread.state, thread.call) = (Some(State::Ended), None);
        }
        let what = What::State { state: State::Running, call: None, waker: None };
        Some(Interval { thread, cpu: event.cpu, begin, end: event.time, is_whole: true, what })
    }

    /// The interrupt in which an event was.
    fn interrupted(&mut self, event: &Event<'_>) -> Option<Rc<str>> {
        let cpu = self.cpus.get(&event.cpu);
        let [hard, soft] = [cpu.and_then(|cpu| cpu.hard.as_ref()), cpu.and_then(|cpu| cpu.soft.as_ref())];
        let [hard, soft] = [hard, soft].map(|open| open.map(|open| Rc::clone(&open.name)));
        // Those of the local timer and of other CPUs are local: of their handlers there are no events of irq.
        let is_in = |flag| event.flags() & flag != 0;
        match (hard, soft) {
            (Some(hard), _) => Some(hard),
            (None, _) if is_in(HARDIRQ) => Some(self.name("local")),
            (None, Some(soft)) => Some(soft),
            (None, None) if is_in(SOFTIRQ) => Some(self.name("softirq")),
            (None, None) => None,
        }
    }

    fn enter(&mut self, event: &Event<'_>, call: Rc<str>) {
        let open = opened(event, call);
        if let Some(thread) = event.thread.and_then(|number| self.thread(number)) {
            thread.call = Some(open);
        }
    }

    fn leave(&mut self, event: &Event<'_>) -> Option<Interval> {
        let open = self.threads.get_mut(&event.thread?)?.call.take()?;
        let result = event.field("ret").and_then(|result| result.number());
        // `MAX_ERRNO` of the kernel.
        let failed = result.is_some_and(|result| (-4095..0).contains(&result));
        let ended = open.ended(event.time, true, |name| What::Call { name, failed });
        Some(Interval { cpu: event.cpu, ..ended })
    }

    fn issue(&mut self, event: &Event<'_>) {
        let Some(place) = place(event).filter(|_| self.requests.len() < ROWS_MAX) else { return };
        let open = self.open(event, &request(place.0, event));
        self.requests.insert(place, open);
    }

    fn complete(&mut self, event: &Event<'_>) -> Option<Interval> {
        let open = self.requests.remove(&place(event)?)?;
        Some(open.ended(event.time, true, |name| What::Request { name }))
    }
}

/// What begins with an event.
fn opened(event: &Event<'_>, name: Rc<str>) -> Open {
    Open { name, since: event.time, thread: event.thread.unwrap_or_default(), cpu: event.cpu }
}

impl Thread {
    /// The time in its state, which ends now; nothing if it had none.
    fn leave(&self, number: i32, end: u64) -> Option<Interval> {
        let state = self.state.filter(|state| *state != State::Ended)?;
        let call = self.call.as_ref().map(|call| Rc::clone(&call.name));
        let what = What::State { state, call, waker: self.waker.clone() };
        Some(Interval { thread: number, cpu: self.cpu, begin: self.since, end, is_whole: true, what })
    }
}

fn handled(open: Open, event: &Event<'_>) -> Option<Interval> {
    Some(open.ended(event.time, true, |name| What::Interrupt { name }))
}

/// Where a request is: the device and the sector.
fn place(event: &Event<'_>) -> Option<(i128, i128)> {
    Some((event.field("dev")?.number()?, event.field("sector")?.number()?))
}

/// What a request of a device is called: `254:0 WS`.
fn request(device: i128, event: &Event<'_>) -> String {
    /// `MINORBITS` of include/linux/kdev_t.h.
    const MINOR_BITS: u32 = 20;
    let kind = text(event, "rwbs").unwrap_or_default();
    let (major, minor) = (device >> MINOR_BITS, device & ((1 << MINOR_BITS) - 1));
    format!("{major}:{minor} {kind}")
}

/// The name of a vector of `enum` in include/linux/interrupt.h.
fn softirq(vector: i128) -> String {
    const NAMES: [&str; 10] =
        ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];
    let name = usize::try_from(vector).ok().and_then(|vector| NAMES.get(vector));
    name.map_or_else(|| vector.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::look::View;
    use crate::testing::{Happened, It, comm, on, viewed};
    use crate::threads::Threads;

    #[derive(Debug, Default)]
    struct All(Vec<Interval>);

    impl View for All {
        fn interval(&mut self, interval: &Interval, _threads: &Threads) {
            self.0.push(interval.clone());
        }
    }

    /// What ended, as text.
    fn ended(events: &[Happened], filter: Option<&str>) -> Vec<String> {
        let line = |interval: &Interval| {
            let Interval { thread, cpu, begin, end, is_whole, .. } = interval;
            let part = if *is_whole { "" } else { " at least" };
            let what = match &interval.what {
                What::State { state, call, waker } => {
                    let call = call.as_ref().map(|call| format!(" in {call}")).unwrap_or_default();
                    let interrupt = |waker: &Waker| waker.interrupt.clone().unwrap_or_default();
                    let waker =
                        waker.as_ref().map(|waker| format!(" by {}{}", waker.thread, interrupt(waker)));
                    format!("{}{call}{}", state.name(), waker.unwrap_or_default())
                }
                What::Call { name, failed } => format!("call {name}{}", if *failed { " failed" } else { "" }),
                What::Interrupt { name } => format!("interrupt {name}"),
                What::Request { name } => format!("request {name}"),
            };
            format!("{thread} on {cpu}{part} {begin} to {end}: {what}")
        };
        viewed::<All>(events, filter).0.iter().map(line).collect()
    }

    #[test]
    fn a_thread_that_waits_in_a_call_is_followed_until_it_runs_again() {
        let events = [
            on(0, 1000, 7).enter_read(),
            on(0, 2000, 7).switch(1, 0),
            on(1, 5000, 8).wake(7),
            on(0, 6000, 0).switch(0, 7),
            on(0, 7000, 7).exit_read(-11),
            on(0, 8000, 7).switch(0x100, 8),
            on(0, 9000, 8).switch(2, 7),
        ];
        let expected = [
            "7 on 0 at least 1000 to 2000: running in read",
            "7 on 0 2000 to 5000: sleeping in read by 8",
            "0 on 0 2000 to 6000: running",
            "7 on 0 5000 to 6000: runnable in read by 8",
            "7 on 0 1000 to 7000: call read failed",
            "7 on 0 6000 to 8000: running",
            "8 on 0 8000 to 9000: running",
            "7 on 0 8000 to 9000: runnable",
            "7 on 0 at least 9000 to 9000: running",
            "8 on 0 at least 9000 to 9000: blocked",
        ];
        assert_eq!(ended(&events, None), expected);
        let of_eight = expected.into_iter().filter(|line| line.starts_with('8')).collect::<Vec<_>>();
        assert_eq!(ended(&events, Some("comm == eight")), of_eight);
    }

    #[test]
    fn interrupts_and_requests_of_devices_have_their_names() {
        let request =
            [("dev", It::Number(254 << 20 | 3)), ("sector", It::Number(4096)), ("rwbs", It::Text("WS"))];
        let events = [
            on(0, 1, 7).event("block:block_rq_issue", &request),
            on(0, 2, 0).event("irq:softirq_entry", &[("vec", It::Number(4))]),
            on(0, 3, 0)
                .event("irq:irq_handler_entry", &[("irq", It::Number(9)), ("name", It::Text("virtio0"))]),
            on(0, 4, 0).wake(7),
            on(0, 5, 0).wake(8),
            on(0, 6, 0).event("irq:irq_handler_exit", &[("irq", It::Number(9))]),
            on(0, 7, 0).event("block:block_rq_complete", &request),
            on(0, 8, 0).event("irq:softirq_exit", &[("vec", It::Number(4))]),
            on(1, 9, 0).switch(0, 8),
        ];
        let expected = [
            "0 on 0 3 to 6: interrupt virtio0",
            "7 on 0 1 to 7: request 254:3 WS",
            "0 on 0 2 to 8: interrupt softirq BLOCK",
            "0 on 1 at least 1 to 9: running",
            "8 on 0 5 to 9: runnable by 0virtio0",
            "8 on 1 at least 9 to 9: running",
            "7 on 0 at least 4 to 9: runnable by 0virtio0",
        ];
        assert_eq!(ended(&events, None), expected);
    }

    #[test]
    fn what_ended_and_its_number_came_again_is_another_thread() {
        let fork =
            [("parent_pid", It::Number(7)), ("child_pid", It::Number(8)), ("child_comm", It::Text(comm(8)))];
        let events = [
            on(0, 10, 8).event("syscalls:sys_enter_exit_group", &[("code", It::Number(0))]),
            on(0, 20, 8).switch(0x20, 7),
            on(0, 50, 7).event("sched:sched_process_fork", &fork),
            on(0, 60, 7).switch(1, 8),
        ];
        let expected = [
            "8 on 0 at least 10 to 20: running in exit_group",
            "7 on 0 20 to 60: running",
            "8 on 0 50 to 60: runnable by 7",
            "8 on 0 at least 60 to 60: running",
            "7 on 0 at least 60 to 60: sleeping",
        ];
        assert_eq!(ended(&events, None), expected);
    }

    #[test]
    fn a_thread_that_ends_ran_until_then_if_its_last_switch_is_missing() {
        let exit = [("comm", It::Text(comm(8)))];
        let events = [
            on(0, 10, 7).switch(1, 8),
            on(0, 20, 8).event("sched:sched_process_exit", &exit),
            on(0, 90, 0).switch(0, 7),
        ];
        let found = ended(&events, None);
        assert!(found.contains(&"8 on 0 10 to 20: running".to_owned()), "{found:?}");
        assert!(!found.iter().any(|line| line.starts_with("8 on") && line.contains("to 90")), "{found:?}");
    }

    /// Two CPUs that take threads 1 to 5, or nothing, from those that are on none; who is not on one may be woken.
    fn scheduled(steps: &[(bool, u8, u8)]) -> Vec<Happened> {
        let (mut events, mut running) = (Vec::new(), [0, 0]);
        for (time, (second, next, state)) in (1..).zip(steps) {
            let (cpu, next) = (usize::from(*second), i32::from(*next));
            let at = on(u32::from(*second), 10 * time, running[cpu]);
            if next == 0 || running.contains(&next) {
                events.push(at.switch(i64::from(*state), 0));
                running[cpu] = 0;
            } else if state % 2 == 0 {
                events.push(at.wake(next));
            } else {
                events.push(at.switch(i64::from(*state & 0xf), next));
                running[cpu] = next;
            }
        }
        events
    }

    proptest! {
        #[test]
        fn states_follow_each_other_without_gaps(steps in prop::collection::vec((any::<bool>(), 0..6_u8, 0..16_u8), 1..60)) {
            let events = scheduled(&steps);
            let mut states: BTreeMap<i32, Vec<Interval>> = BTreeMap::new();
            let mut cpus: BTreeMap<u32, Vec<Interval>> = BTreeMap::new();
            for interval in viewed::<All>(&events, None).0 {
                let What::State { state, .. } = interval.what else { continue };
                if state == State::Running {
                    cpus.entry(interval.cpu).or_default().push(interval.clone());
                }
                if interval.thread != 0 {
                    states.entry(interval.thread).or_default().push(interval);
                }
            }
            let (begin, end) = (events[0].time, events[events.len() - 1].time);
            for intervals in cpus.values().chain(states.values()) {
                prop_assert!(intervals.windows(2).all(|pair| pair[0].end == pair[1].begin), "{intervals:?}");
                prop_assert_eq!(intervals.last().map(|last| last.end), Some(end));
            }
            prop_assert!(cpus.values().all(|intervals| intervals[0].begin == begin));
        }
    }
}
