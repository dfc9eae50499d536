//! Where the measuring threads wait until all of them are ready.

use std::sync::{Condvar, Mutex, PoisonError};

/// Opens once.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    start: Mutex<Option<u64>>,
    opened: Condvar,
}

impl Gate {
    /// Lets all go on; `start` is what they get to know.
    pub(crate) fn open(&self, start: u64) {
        *self.start.lock().unwrap_or_else(PoisonError::into_inner) = Some(start);
        self.opened.notify_all();
    }

    /// Waits until it opens.
    pub(crate) fn pass(&self) -> u64 {
        let mut start = self.start.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *start {
                Some(time) => return time,
                None => start = self.opened.wait(start).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}
