//! Where what happens in a session is shown and kept.

use std::path::{Path, PathBuf};

use anyhow::Result;
use lab::Request;
use lab::event::Session;
use ledger::{Budget, Durations, Recorder};

use crate::cli::Format;
use crate::listeners::{Listeners, Report, View};

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
        let (recorder, notes) = self.recorder(session)?;
        Ok(self.watch(session, recorder, notes))
    }

    /// The recorder of a session that one report alone shows.
    pub(crate) fn shown_by(&self, session: &Session, report: Box<dyn Report>) -> Result<Listeners> {
        let (recorder, notes) = self.recorder(session)?;
        Ok(Listeners::with(vec![report], recorder, Durations::load(&self.root())).noting(notes))
    }

    /// The recorder of a session that begins, and what is worth knowing about its place.
    fn recorder(&self, session: &Session) -> Result<(Recorder, Vec<String>)> {
        let notes = Budget::Sessions.make_room(&self.root());
        Ok((Recorder::create(&self.root(), &session.stamp())?, notes))
    }

    /// The same of an experiment, which goes on where an earlier session has stopped, unless it is to begin afresh.
    pub(crate) fn listeners_of_experiment(&self, session: &Session, fresh: bool) -> Result<Listeners> {
        let root = self.root();
        let unfinished = if fresh { None } else { Recorder::go_on(&root, session)? };
        let Some(recorder) = unfinished else { return self.listeners(session) };
        let note = "goes on after the steps that an earlier run has completed; --fresh begins again";
        Ok(self.watch(session, recorder, vec![note.to_string()]))
    }

    fn watch(&self, session: &Session, recorder: Recorder, notes: Vec<String>) -> Listeners {
        let is_experiment = matches!(session.request, Some(Request::Experiment(_)));
        let durations = Durations::load(&self.root());
        let listeners = match is_experiment {
            true => Listeners::of_experiment(self.view, recorder, durations),
            false => Listeners::new(self.view, recorder, durations),
        };
        listeners.noting(notes)
    }
}
