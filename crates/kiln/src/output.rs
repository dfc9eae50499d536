//! Where what happens in a session is shown and kept.

use std::path::{Path, PathBuf};

use anyhow::Result;
use lab::event::Session;
use ledger::{Budget, Durations, Recorder};

use crate::cli::Format;
use crate::listeners::{Listeners, View};

/// Where what happens in a session is shown and kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output<'a> {
    pub(crate) view: View,
    /// Where sessions are kept, if the user said so.
    pub(crate) results: Option<&'a Path>,
}

impl<'a> Output<'a> {
    /// A Run that is repeated is shown to people, and kept beside the first.
    pub(crate) fn of_replay(root: &'a Path, color: bool) -> Self {
        Self { view: View { format: Format::Human, color, verbose: false }, results: Some(root) }
    }

    /// Where sessions are kept.
    pub(crate) fn root(&self) -> PathBuf {
        self.results.map_or_else(ledger::default_root, Path::to_path_buf)
    }

    /// The folder that the recorder of a session is going to make.
    pub(crate) fn folder(&self, session: &Session) -> PathBuf {
        let folder = ledger::folder(&self.root(), &session.stamp());
        std::path::absolute(&folder).unwrap_or(folder)
    }

    /// The recorder of a session, and what the user looks at.
    pub(crate) fn listeners(&self, session: &Session) -> Result<Listeners> {
        let root = self.root();
        let notes = Budget::Sessions.make_room(&root);
        let recorder = Recorder::create(&root, &session.stamp())?;
        let mut listeners = Listeners::new(self.view, recorder, Durations::load(&root));
        notes.into_iter().for_each(|note| listeners.note(note));
        Ok(listeners)
    }
}
