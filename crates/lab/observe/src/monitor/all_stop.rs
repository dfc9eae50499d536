//! The other threads of a process are stopped while one of them is looked at.

use std::time::{Duration, Instant};

use super::Monitor;
use super::ptrace::{self, Report};

/// How long all threads together may take to stop: one that waits for a device does not.
const STOP_LIMIT: Duration = Duration::from_millis(500);

/// Threads that are stopped.
#[derive(Debug, Default)]
pub(super) struct Stopped {
    /// All of them.
    pub(super) threads: Vec<i32>,
    /// Those that have reported nothing else.
    idle: Vec<i32>,
}

impl Stopped {
    /// Lets them go on. What the others have reported is followed up as ever.
    pub(super) fn resume(self) {
        self.idle.into_iter().for_each(|thread| drop(ptrace::resume(thread, 0)));
    }
}

impl Monitor<'_> {
    /// Stops the other threads of a process.
    pub(super) fn stop_others(&mut self, process: i32, thread: i32) -> Stopped {
        let mut others: Vec<i32> = self
            .threads
            .iter()
            .filter(|(other, of)| **of == process && **other != thread)
            .map(|(other, _)| *other)
            .collect();
        others.sort_unstable();
        others.retain(|&other| ptrace::interrupt(other).is_ok());
        let deadline = Instant::now() + STOP_LIMIT;
        let mut stopped = Stopped::default();
        for other in others {
            match ptrace::wait_for(other, deadline) {
                Some(Report::Trap) => {
                    stopped.idle.push(other);
                    stopped.threads.push(other);
                }
                Some(report) => {
                    self.reported.push_back((other, report));
                    stopped.threads.extend(Some(other).filter(|_| !matches!(report, Report::Ended(..))));
                }
                None => {}
            }
        }
        stopped
    }
}
