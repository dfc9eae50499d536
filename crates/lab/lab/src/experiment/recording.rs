//! What the kernel of a machine does becomes a trace.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use transcode::{Follower, Summary};

/// The recording of a machine.
#[derive(Debug, Default)]
pub(super) struct Recording(Mutex<Option<State>>);

#[derive(Debug)]
enum State {
    /// Its name with the Run.
    Runs(String, Follower),
    /// Its machine has ended it.
    Over(Result<Value, String>),
}

impl Recording {
    pub(super) fn begin(&self, name: String, follower: Follower) {
        *self.state() = Some(State::Runs(name, follower));
    }

    /// What came of it: its document. Of a machine that has ended, it has what came before; nothing if there is none.
    pub(super) fn end(&self) -> Option<Result<Value, String>> {
        match self.state().take()? {
            State::Runs(name, follower) => Some(finish(&name, follower, None)),
            State::Over(ended) => Some(ended),
        }
    }

    fn state(&self) -> MutexGuard<'_, Option<State>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn runs(&self) -> bool {
        matches!(*self.state(), Some(State::Runs(..)))
    }

    /// Kiln ends it by what it does to the machine next.
    pub(super) fn end_before(&self, step: &str) {
        let mut state = self.state();
        *state = match state.take() {
            Some(State::Runs(name, follower)) => Some(State::Over(finish(&name, follower, Some(step)))),
            state => state,
        };
    }
}

fn finish(name: &str, follower: Follower, step: Option<&str>) -> Result<Value, String> {
    let summary = follower.finish_before(step).map_err(|error| error.to_string())?;
    Ok(document(name, &summary))
}

fn document(name: &str, summary: &Summary) -> Value {
    let missing: Vec<&str> = summary.missing.iter().map(|(event, _)| event.as_str()).collect();
    json!({
        "trace": summary.folder.as_ref().map(|_| name),
        "events": summary.counts.events,
        "lost": summary.lost(),
        "missing": missing,
        "is_whole": summary.cpus.is_some(),
    })
}
