//! What a thread waited for, and what that waited for in turn.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::interval::{Interval, State, What};
use crate::look::View;
use crate::threads::Threads;

/// States that are kept at most.
const STATES_MAX: usize = 10_000_000;

/// Threads that wait for each other at most.
const DEPTH_MAX: usize = 100;

/// Parts of a path at most.
const PARTS_MAX: usize = 1_000_000;

/// The states of all threads, of which each thread has a critical path.
#[derive(Debug, Clone, Default)]
pub struct History {
    threads: BTreeMap<i32, Vec<Span>>,
    /// What threads were called last.
    names: BTreeMap<i32, String>,
    count: usize,
}

/// A state of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    begin: u64,
    end: u64,
    state: State,
    call: Option<Rc<str>>,
    /// The thread that ended it.
    waker: Option<i32>,
    /// The interrupt that did.
    interrupt: Option<Rc<str>>,
}

/// A part of a critical path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The thread.
    pub thread: i32,
    /// When it began, in nanoseconds on the clock of the trace.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
    /// What the thread did.
    pub state: State,
    /// In which system call, if the thread waited.
    pub call: Option<Rc<str>>,
    /// The interrupt that ended it, if the thread waited.
    pub interrupt: Option<Rc<str>>,
}

impl View for History {
    fn interval(&mut self, interval: &Interval, threads: &Threads) {
        let What::State { state, call, waker } = &interval.what else { return };
        if interval.thread == 0 || self.count >= STATES_MAX {
            return;
        }
        self.count += 1;
        if let Some(name) = threads.name(interval.thread)
            && self.names.get(&interval.thread).is_none_or(|known| known != name)
        {
            self.names.insert(interval.thread, name.to_owned());
        }
        let waits = !matches!(state, State::Running | State::Runnable);
        let waker = waker.as_ref().filter(|_| waits);
        let interrupt = waker.and_then(|waker| waker.interrupt.clone());
        self.threads.entry(interval.thread).or_default().push(Span {
            begin: interval.begin,
            end: interval.end,
            state: *state,
            call: call.clone().filter(|_| waits),
            waker: waker.map(|waker| waker.thread).filter(|thread| *thread != 0 && interrupt.is_none()),
            interrupt,
        });
    }
}

impl History {
    /// What a thread was called last.
    #[must_use]
    pub fn name(&self, thread: i32) -> Option<&str> {
        self.names.get(&thread).map(String::as_str)
    }

    /// The threads with this number or this name.
    #[must_use]
    pub fn named(&self, text: &str) -> Vec<i32> {
        let number = text.parse::<i32>().ok();
        let is_it = |thread: &i32| number == Some(*thread) || self.name(*thread) == Some(text);
        self.threads.keys().copied().filter(is_it).collect()
    }

    /// The critical path of a thread, the latest part last: where the thread waited, it goes on with the thread that woke it, back to when
    /// the waiting began. As in Dagenais et al., "Wait analysis of distributed systems using kernel tracing" (2016).
    #[must_use]
    pub fn path(&self, thread: i32) -> Vec<Part> {
        let ends =
            self.threads.get(&thread).and_then(|spans| Some((spans.first()?.begin, spans.last()?.end)));
        let Some((begin, mut time)) = ends else { return Vec::new() };
        // Who waits for the one before, and since when.
        let mut waiting = vec![(thread, begin)];
        let mut parts = Vec::new();
        while let Some((thread, since)) = waiting.last().copied() {
            if time <= since || parts.len() >= PARTS_MAX {
                waiting.pop();
                continue;
            }
            let Some(span) = self.before(thread, time) else {
                // Of who woke the one before nothing more is known.
                waiting.pop();
                if let Some((waiter, _)) = waiting.last() {
                    let waits = self.before(*waiter, time);
                    let state = waits.map_or(State::Sleeping, |span| span.state);
                    let call = waits.and_then(|span| span.call.clone());
                    parts.push(Part {
                        thread: *waiter,
                        begin: since,
                        end: time,
                        state,
                        call,
                        interrupt: None,
                    });
                    time = since;
                }
                continue;
            };
            let begin = span.begin.max(since);
            let waker = span.waker.filter(|waker| {
                span.end == time
                    && waiting.len() < DEPTH_MAX
                    && waiting.iter().all(|(other, _)| other != waker)
            });
            if let Some(waker) = waker {
                waiting.push((waker, begin));
                continue;
            }
            let Span { state, call, interrupt, .. } = span.clone();
            parts.push(Part { thread, begin, end: time, state, call, interrupt });
            time = begin;
        }
        parts.reverse();
        parts
    }

    /// What a thread did just before a time.
    fn before(&self, thread: i32, time: u64) -> Option<&Span> {
        let spans = self.threads.get(&thread)?;
        let place = spans.partition_point(|span| span.begin < time).checked_sub(1)?;
        spans.get(place).filter(|span| span.begin < time && span.end >= time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{It, on, viewed};

    /// A client that asks a server, which waits for a device.
    fn history() -> History {
        let handler = [("name", It::Text("disk"))];
        let events = [
            on(0, 0, 7).enter_read(),
            on(1, 0, 0).wake(9),
            on(1, 9, 0).switch(0, 8),
            on(1, 10, 8).switch(1, 0),
            on(0, 19, 7).wake(8),
            on(0, 20, 7).switch(1, 0),
            on(1, 22, 0).switch(0, 8),
            on(1, 40, 8).switch(2, 0),
            on(1, 55, 0).event("irq:irq_handler_entry", &handler),
            on(1, 56, 0).wake(8),
            on(1, 57, 0).event("irq:irq_handler_exit", &[("ret", It::Number(1))]),
            on(1, 58, 0).switch(0, 8),
            on(1, 60, 8).wake(7),
            on(1, 61, 8).switch(1, 0),
            on(0, 65, 0).switch(0, 7),
            on(0, 70, 7).switch(1, 0),
        ];
        viewed(&events, None)
    }

    #[test]
    fn a_path_goes_through_those_that_were_waited_for() {
        let found = history();
        assert_eq!((found.named("seven"), found.named("8"), found.named("no")), (vec![7], vec![8], vec![]));
        let parts: Vec<_> = found
            .path(7)
            .into_iter()
            .map(|part| {
                (part.thread, part.begin, part.end, part.state, part.interrupt.as_deref().map(str::to_owned))
            })
            .collect();
        let disk = Some("disk".to_owned());
        let expected = [
            (7, 0, 20, State::Running, None),
            (8, 20, 22, State::Runnable, None),
            (8, 22, 40, State::Running, None),
            (8, 40, 56, State::Blocked, disk),
            (8, 56, 58, State::Runnable, None),
            (8, 58, 60, State::Running, None),
            (7, 60, 65, State::Runnable, None),
            (7, 65, 70, State::Running, None),
        ];
        assert_eq!(parts, expected);
        assert_eq!(found.path(12345), []);
    }
}
