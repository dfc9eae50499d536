//! What section B has returned, for thread A that judges.

use std::sync::{Mutex, PoisonError};

use harness::check::Checked;

use crate::race::{Judge, Judgement};

/// What it has returned last.
#[derive(Debug)]
pub(crate) struct Outcome<B>(Mutex<Option<B>>);

impl<B> Outcome<B> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(None))
    }

    pub(crate) fn put(&self, of_b: B) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(of_b);
    }

    /// The same, unless the other thread is just judging.
    pub(crate) fn offer(&self, of_b: B) {
        if let Ok(mut place) = self.0.try_lock() {
            *place = Some(of_b);
        }
    }

    pub(crate) fn is_there(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// What a round came to: a miss where nobody judges.
    pub(crate) fn judge<A>(&self, judge: &mut Option<Box<Judge<'_, A, B>>>, of_a: &A) -> Checked<Judgement> {
        let of_b = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (judge, &*of_b) {
            (Some(judge), Some(of_b)) => judge(of_a, of_b),
            _ => Ok(Judgement::Miss),
        }
    }
}
