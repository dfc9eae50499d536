//! How long it takes until something is done, and when it took longest.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::interval::{Interval, State, What};
use crate::look::View;
use crate::rows::row;
use crate::spread::Spread;
use crate::threads::Threads;

/// A kind of latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// From when a thread was woken to when it ran.
    Wakeup,
    /// From when a thread had to leave its CPU to when it ran again.
    Preemption,
    /// A system call.
    Call,
    /// The handler of an interrupt.
    Interrupt,
    /// A request to a block device.
    Request,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Wakeup, Self::Preemption, Self::Call, Self::Interrupt, Self::Request];

    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Wakeup => "wakeup",
            Self::Preemption => "preemption",
            Self::Call => "system call",
            Self::Interrupt => "interrupt",
            Self::Request => "block request",
        }
    }
}

/// Latencies of one kind and name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Latency {
    /// All of them.
    pub times: Spread,
    /// When the longest ended, in nanoseconds on the clock of the trace.
    pub at: u64,
    /// In which thread, and on which CPU.
    pub thread: i32,
    /// The CPU.
    pub cpu: u32,
}

/// The latencies in a trace, by their kinds and names; those of waiting for a CPU have the names of the threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Latencies {
    /// Rows.
    pub rows: BTreeMap<(Kind, Rc<str>), Latency>,
}

impl View for Latencies {
    fn interval(&mut self, interval: &Interval, threads: &Threads) {
        if !interval.is_whole {
            return;
        }
        let key = match &interval.what {
            What::State { state: State::Runnable, waker, .. } => {
                let kind = if waker.is_some() { Kind::Wakeup } else { Kind::Preemption };
                (kind, threads.name(interval.thread).unwrap_or("?").into())
            }
            What::State { .. } => return,
            What::Call { name, .. } => (Kind::Call, Rc::clone(name)),
            What::Interrupt { name } => (Kind::Interrupt, Rc::clone(name)),
            What::Request { name } => (Kind::Request, Rc::clone(name)),
        };
        row(&mut self.rows, key).into_iter().for_each(|latency| latency.add(interval));
    }
}

impl Latency {
    fn add(&mut self, interval: &Interval) {
        if self.times.count == 0 || interval.length() > self.times.max {
            (self.at, self.thread, self.cpu) = (interval.end, interval.thread, interval.cpu);
        }
        self.times.add(interval.length());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{on, viewed};

    #[test]
    fn the_longest_has_its_place() {
        let events = [
            on(0, 0, 7).switch(1, 0),
            on(0, 100, 0).wake(7),
            on(0, 130, 0).switch(0, 7),
            on(0, 140, 7).enter_read(),
            on(0, 150, 7).exit_read(0),
            on(0, 200, 7).switch(0, 8),
            on(1, 250, 7).wake(9),
            on(0, 300, 8).switch(1, 7),
            on(0, 400, 7).switch(1, 0),
            on(0, 500, 0).wake(7),
            on(1, 510, 0).switch(0, 7),
        ];
        let found: Latencies = viewed(&events, None);
        let row = |kind, name: &str| {
            let row = &found.rows[&(kind, name.into())];
            (row.times.count, row.times.total, row.times.max, row.at, row.thread)
        };
        assert_eq!(row(Kind::Wakeup, "seven"), (2, 40, 30, 130, 7));
        assert_eq!(row(Kind::Preemption, "seven"), (1, 100, 100, 300, 7));
        assert_eq!(row(Kind::Call, "read"), (1, 10, 10, 150, 7));
        // What has not ended is not known to be short.
        assert_eq!(found.rows.len(), 3);
    }
}
