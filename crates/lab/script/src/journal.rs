//! The journal: what a run of a script has recorded, so that another run goes on from its last completed step.
//!
//! A line of JSON for each event. What a step records belongs to it once the line of its end is there. A torn last line is
//! ignored, and so is all that follows the last completed step. A journal of another script is not inherited.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::Event;
use crate::verdict::Verdict;

mod store;

pub use store::{FileStore, Store};

/// Bytes of a journal that are read.
pub const JOURNAL_BYTES: usize = 256 * 1024 * 1024;

/// The version of the lines.
const VERSION: u32 = 1;

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Header {
        version: u32,
        /// A hash of the script, its helpers, the kernels and the seed.
        identity: String,
    },
    Event(Event),
    /// A step is complete.
    Completed {
        name: String,
        /// What it returned.
        value: Value,
    },
    Concluded(Verdict),
}

/// A step that is complete.
#[derive(Debug, Clone, PartialEq)]
pub struct Completed {
    /// Its name.
    pub name: String,
    /// What it recorded.
    pub events: Vec<Event>,
    /// What it returned.
    pub value: Value,
}

/// What a journal says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Replay {
    /// The steps that are complete, in their order.
    pub steps: Vec<Completed>,
    /// What was recorded before the conclusion by a step that is not complete: it failed.
    pub rest: Vec<Event>,
    /// What the script concluded, if it came to that.
    pub verdict: Option<Verdict>,
    /// The bytes that are used: the rest is of a step that was interrupted.
    used: usize,
}

/// Why a journal cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Another run uses it.
    #[error("another run uses the journal {path}: wait for its end")]
    Busy {
        /// Where it is.
        path: String,
    },
    /// It cannot be read or written.
    #[error("the journal cannot be {action}: {error}")]
    Store {
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        error: std::io::Error,
    },
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal<'s, S: Store + ?Sized> {
    store: &'s mut S,
}

/// What the bytes of a journal say to a run with this identity. No bytes make it fail.
#[must_use]
pub fn replay(bytes: &[u8], identity: &str) -> Replay {
    let mut lines = Lines { rest: bytes, used: 0 };
    let mut replay = Replay::default();
    let expected = Line::Header { version: VERSION, identity: identity.to_owned() };
    if lines.next() != Some(expected) {
        return replay;
    }
    replay.used = lines.used;
    let mut events = Vec::new();
    while let Some(line) = lines.next() {
        match line {
            Line::Event(event) => events.push(event),
            Line::Completed { name, value } => {
                replay.steps.push(Completed { name, value, events: std::mem::take(&mut events) });
                replay.used = lines.used;
            }
            Line::Concluded(verdict) => {
                replay.verdict = Some(verdict);
                replay.rest = std::mem::take(&mut events);
                replay.used = lines.used;
                break;
            }
            Line::Header { .. } => break,
        }
    }
    replay
}

/// The complete lines of a journal, up to the first that is none.
struct Lines<'b> {
    rest: &'b [u8],
    used: usize,
}

impl Lines<'_> {
    fn next(&mut self) -> Option<Line> {
        let end = self.rest.iter().position(|byte| *byte == b'\n')?;
        let line = serde_json::from_slice(self.rest.get(..end)?).ok()?;
        self.rest = self.rest.get(end + 1..)?;
        self.used += end + 1;
        Some(line)
    }
}

impl<'s, S: Store + ?Sized> Journal<'s, S> {
    /// Goes on with a journal, or begins it if it is of another script.
    ///
    /// # Errors
    ///
    /// When it cannot be read or written.
    pub fn open(store: &'s mut S, identity: &str) -> Result<(Self, Replay), JournalError> {
        let bytes = store.read().map_err(|error| JournalError::Store { action: "read", error })?;
        let replay = replay(&bytes, identity);
        let mut journal = Self { store };
        if replay.used < bytes.len() {
            journal.written(|store| store.truncate(replay.used))?;
        }
        if replay.used == 0 {
            journal.write(&Line::Header { version: VERSION, identity: identity.to_owned() })?;
        }
        Ok((journal, replay))
    }

    /// Something was recorded.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn event(&mut self, event: &Event) -> Result<(), JournalError> {
        self.write(&Line::Event(event.clone()))
    }

    /// A step is complete: it is kept before anything else happens.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn completed(&mut self, name: &str, value: &Value) -> Result<(), JournalError> {
        self.write(&Line::Completed { name: name.to_owned(), value: value.clone() })?;
        self.written(Store::sync)
    }

    /// The script has concluded.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn concluded(&mut self, verdict: &Verdict) -> Result<(), JournalError> {
        self.write(&Line::Concluded(verdict.clone()))?;
        self.written(Store::sync)
    }

    fn write(&mut self, line: &Line) -> Result<(), JournalError> {
        let mut bytes = serde_json::to_vec(line)
            .map_err(|error| JournalError::Store { action: "written", error: error.into() })?;
        bytes.push(b'\n');
        self.written(|store| store.append(&bytes))
    }

    fn written(&mut self, act: impl FnOnce(&mut S) -> std::io::Result<()>) -> Result<(), JournalError> {
        act(self.store).map_err(|error| JournalError::Store { action: "written", error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn note(text: &str) -> Event {
        Event::Note { text: text.to_owned() }
    }

    fn written() -> Vec<u8> {
        let mut store: Vec<u8> = Vec::new();
        let (mut journal, _) = Journal::open(&mut store, "a").unwrap();
        journal.event(&note("1")).unwrap();
        journal.completed("one", &Value::from(1)).unwrap();
        journal.event(&note("2")).unwrap();
        journal.completed("two", &Value::Null).unwrap();
        journal.concluded(&Verdict::pass()).unwrap();
        store
    }

    #[test]
    fn what_was_written_is_read() {
        let bytes = written();
        let replay = replay(&bytes, "a");
        assert_eq!(replay.steps.len(), 2);
        assert_eq!(replay.steps[0].events, [note("1")]);
        assert_eq!(replay.steps[0].value, Value::from(1));
        assert_eq!(replay.verdict, Some(Verdict::pass()));
        assert_eq!(replay.used, bytes.len());
    }

    #[test]
    fn a_journal_of_another_script_is_begun_again() {
        let mut store = written();
        let (_, replay) = Journal::open(&mut store, "b").unwrap();
        assert!(replay.steps.is_empty());
        assert_eq!(String::from_utf8(store).unwrap(), "{\"header\":{\"version\":1,\"identity\":\"b\"}}\n");
    }

    #[test]
    fn a_torn_journal_loses_only_what_was_not_complete() {
        let bytes = written();
        for cut in 0..bytes.len() {
            let mut store = bytes[..cut].to_vec();
            let (mut journal, replay) = Journal::open(&mut store, "a").unwrap();
            journal.completed("next", &Value::Null).unwrap();
            let again = super::replay(&store, "a");
            assert_eq!(again.steps.len(), replay.steps.len() + 1, "{cut}");
            assert_eq!(again.steps[..replay.steps.len()], replay.steps, "{cut}");
            assert!(again.steps.last().unwrap().events.is_empty(), "{cut}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_fail(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0..400_usize) {
            let mut journal = written();
            journal.truncate(cut);
            journal.extend(&bytes);
            let replay = replay(&journal, "a");
            prop_assert!(replay.used <= journal.len());
        }
    }
}
