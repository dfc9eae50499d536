//! Which process is which, as events tell it.

use std::collections::HashMap;
use std::time::Duration;

use crate::event::{Event, What};
use crate::process::{self, Description};

/// What is known of the processes that there are.
#[derive(Debug, Default)]
pub struct Processes {
    known: HashMap<i32, Description>,
}

impl Processes {
    /// Those that there are now.
    #[must_use]
    pub fn now() -> Self {
        let describe = |number| Some((number, process::describe(number)?));
        Self { known: process::all().into_iter().filter_map(describe).collect() }
    }

    /// Learns from an event. Short processes may be gone before they can be looked at: they are called as those that made them.
    pub fn see(&mut self, event: &Event) {
        match &event.what {
            What::Fork { child } => {
                let mut made = self.known.get(&event.process).cloned().unwrap_or_default();
                made.parent = event.process;
                made.started = event.time;
                self.known.insert(*child, made);
            }
            What::Exec | What::User(..) | What::Group(..) => self.look_again(event),
            What::Comm(name) if event.process == event.thread => {
                self.known.entry(event.process).or_default().comm.clone_from(name);
            }
            _ => {}
        }
    }

    /// The time of the beginning is kept: that of the event is better than that of `/proc`.
    fn look_again(&mut self, event: &Event) {
        let Some(mut seen) = process::describe(event.process) else { return };
        if let Some(known) = self.known.get(&event.process) {
            seen.started = known.started;
        }
        self.known.insert(event.process, seen);
    }

    /// Forgets a process that has ended.
    pub fn forget(&mut self, event: &Event) {
        if event.process == event.thread && matches!(event.what, What::Exit(_)) {
            self.known.remove(&event.process);
        }
    }

    /// What is known of a process.
    #[must_use]
    pub fn get(&self, number: i32) -> Option<&Description> {
        self.known.get(&number)
    }

    /// For how long a process has been there.
    #[must_use]
    pub fn age(&self, number: i32, now: u64) -> Option<Duration> {
        let began = self.known.get(&number)?.started;
        Some(Duration::from_nanos(now.saturating_sub(began)))
    }
}
