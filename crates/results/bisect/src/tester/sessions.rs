//! The sessions of a bisection: there is room for each, and none is removed before the end.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use lab::event::Session;
use ledger::{Budget, Error, Hold, Past, Recorder};

use crate::event::Progress;

/// The sessions of a bisection.
pub(super) struct Sessions {
    root: PathBuf,
    hold: Hold,
    has_noted: AtomicBool,
}

impl Sessions {
    /// Those that are `counted` already, and more to come.
    pub(super) fn new(root: &Path, counted: &[String]) -> Result<Self, Error> {
        let hold = Hold::new(root)?;
        counted.iter().try_for_each(|name| hold.add(name))?;
        Ok(Self { root: root.to_path_buf(), hold, has_noted: AtomicBool::new(false) })
    }

    /// Begins a session; what is worth knowing about the room for it is told once.
    pub(super) fn begin(&self, session: &Session, emit: &mut dyn FnMut(Progress)) -> Result<Recorder, Error> {
        let notes = Budget::Sessions.make_room(&self.root);
        if !notes.is_empty() && !self.has_noted.swap(true, Ordering::Relaxed) {
            notes.into_iter().for_each(|note| emit(Progress::Note(note)));
        }
        let recorder = Recorder::create(&self.root, &session.stamp())?;
        self.hold.add(&recorder.name())?;
        Ok(recorder)
    }

    /// Those that were kept, the newest first.
    pub(super) fn earlier(&self) -> Vec<Past> {
        ledger::sessions(&self.root)
    }

    /// An earlier one counts.
    pub(super) fn keep(&self, past: &Past) -> Result<(), Error> {
        self.hold.add(&past.name())
    }
}
