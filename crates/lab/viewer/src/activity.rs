//! What threads spend their time with, and what they wait for.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::interval::{Interval, State, Waker, What};
use crate::look::View;
use crate::rows::row;
use crate::spread::Spread;
use crate::threads::Threads;

/// The time of threads by their states.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Activity {
    /// Threads by their numbers.
    pub threads: BTreeMap<i32, Thread>,
    /// What they waited for.
    pub waits: BTreeMap<Wait, Spread>,
}

/// What a thread did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thread {
    /// What it was called last.
    pub comm: String,
    /// Nanoseconds in each of [`State::ALIVE`].
    pub times: [u64; 5],
    /// How often it got a CPU.
    pub runs: u64,
}

/// A kind of waiting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wait {
    /// What the thread is called.
    pub comm: String,
    /// How it waited.
    pub state: State,
    /// In which system call; none in the kernel's own threads, or if no calls were recorded.
    pub call: Option<Rc<str>>,
    /// What the thread that woke it is called, or the interrupt; none if the trace ends before.
    pub waker: Option<String>,
}

impl View for Activity {
    fn interval(&mut self, interval: &Interval, threads: &Threads) {
        let What::State { state, call, waker } = &interval.what else { return };
        let Some(place) = State::ALIVE.iter().position(|alive| alive == state) else { return };
        if interval.thread == 0 {
            return;
        }
        let comm = threads.name(interval.thread).unwrap_or_default();
        if let Some(thread) = row(&mut self.threads, interval.thread) {
            thread.times[place] += interval.length();
            thread.runs += u64::from(*state == State::Running);
            comm.clone_into(&mut thread.comm);
        }
        if interval.is_whole && !matches!(state, State::Running | State::Runnable) {
            let by = |waker: &Waker| match &waker.interrupt {
                Some(interrupt) => format!("interrupt {interrupt}"),
                None => threads.name(waker.thread).unwrap_or("?").to_owned(),
            };
            let waker = waker.as_ref().map(by);
            let wait = Wait { comm: comm.to_owned(), state: *state, call: call.clone(), waker };
            row(&mut self.waits, wait).into_iter().for_each(|times| times.add(interval.length()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{on, viewed};

    #[test]
    fn all_time_of_a_thread_is_in_its_states() {
        let events = [
            on(0, 0, 7).switch(1, 8),
            on(0, 10, 8).enter_read(),
            on(0, 20, 8).switch(2, 0),
            on(1, 120, 7).wake(8),
            on(0, 125, 0).switch(0, 8),
            on(0, 155, 8).exit_read(1),
            on(0, 160, 8).switch(0x100, 0),
            on(0, 200, 0).switch(0, 8),
        ];
        let found: Activity = viewed(&events, None);
        let eight = &found.threads[&8];
        assert_eq!((eight.comm.as_str(), eight.times, eight.runs), ("eight", [55, 45, 0, 100, 0], 3));
        assert_eq!(eight.times.iter().sum::<u64>(), 200);
        assert_eq!(found.threads[&7].times, [0, 0, 200, 0, 0]);
        let waits: Vec<(&Wait, u64)> = found.waits.iter().map(|(wait, times)| (wait, times.total)).collect();
        let wait = Wait {
            comm: "eight".to_owned(),
            state: State::Blocked,
            call: Some("read".into()),
            waker: Some("seven".to_owned()),
        };
        assert_eq!(waits, [(&wait, 100)]);
    }
}
