//! What came of experiments: of those that are sessions, and of the runs of a bisection, which have a folder each.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lab::Request;
use lab::experiment::catalogue::case_of;
use serde::Serialize;

use crate::document;
use crate::past::{Past, sessions};
use crate::result::{ExperimentResult, RESULT, SCRIPT_JOURNAL};
use crate::wanted::short_name;

/// Longest document that is read, in bytes.
const RESULT_MAX: u64 = 16 << 20;

/// What the folder of an unfinished run begins with.
const UNFINISHED: &str = ".unfinished-";

/// Runs of one experiment that are looked through.
const PAST_MAX: usize = 1000;

/// The folder of a run that is not finished. A run of the same experiment on the same Kernels goes on in it.
#[derive(Debug)]
pub struct ExperimentFolder {
    root: PathBuf,
    /// By its name and its identity.
    known_by: String,
    path: PathBuf,
}

impl ExperimentFolder {
    /// The folder of the experiment called `name` whose run has this identity.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn open(root: &Path, name: &str, identity: &str) -> io::Result<Self> {
        let known_by = known_by(name, identity);
        let path = root.join(format!("{UNFINISHED}{known_by}"));
        fs::create_dir_all(&path)?;
        Ok(Self { root: root.to_path_buf(), known_by, path })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The journal of its steps.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.path.join(SCRIPT_JOURNAL)
    }

    /// Keeps the result. A run that has concluded something gets a name by which [`kept_runs`] finds it again; one that broke can
    /// go on. Gives where it is.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn keep(self, result: &ExperimentResult, is_final: bool) -> io::Result<PathBuf> {
        document::write(&self.path.join(RESULT), result)?;
        if !is_final {
            return Ok(self.path);
        }
        for path in numbered(&self.known_by).map(|name| self.root.join(name)) {
            match fs::rename(&self.path, &path) {
                Ok(()) => return Ok(path),
                // Another run has the name, which may have ended just now.
                Err(error) if is_taken(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("too many runs at once"))
    }
}

/// What a run is known by.
fn known_by(name: &str, identity: &str) -> String {
    let short: String = identity.chars().take(16).collect();
    format!("{name}-{short}")
}

/// The name, and those that the next of that name get.
fn numbered(base: &str) -> impl Iterator<Item = String> {
    std::iter::once(base.to_string()).chain((2..PAST_MAX).map(move |number| format!("{base}-{number}")))
}

/// Whether there is a folder of that name already, with something in it.
pub(crate) fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty)
}

/// What came of the runs with this identity that were kept, with the names of their folders.
pub fn kept_runs(
    root: &Path,
    name: &str,
    identity: &str,
) -> impl Iterator<Item = (String, ExperimentResult)> {
    let known_by = known_by(name, identity);
    let names: Vec<String> = numbered(&known_by).take_while(|name| root.join(name).exists()).collect();
    names.into_iter().filter_map(|name| read(&root.join(&name)).map(|result| (name, result)))
}

/// The result in the folder of a run.
fn read(folder: &Path) -> Option<ExperimentResult> {
    let file = folder.join(RESULT);
    (file.metadata().ok()?.len() <= RESULT_MAX).then_some(())?;
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// What came of an experiment in a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// What `kiln replay` and `kiln bundle` take for the session.
    pub session: String,
    /// What came of it.
    #[serde(flatten)]
    pub result: ExperimentResult,
}

/// What came of earlier runs of the experiment called `name` in sessions below `root`, the latest first.
#[must_use]
pub fn found(root: &Path, name: &str) -> Vec<Found> {
    let case = case_of(name);
    let is_of = |past: &Past| {
        past.session().is_ok_and(|session| {
            matches!(session.request, Some(Request::Experiment(_))) && session.cases.contains(&case)
        })
    };
    let found = sessions(root).into_iter().filter(is_of).take(PAST_MAX).filter_map(|past| {
        let result = past.result().ok()??;
        let session = past.directory().canonicalize().map_or_else(|_| past.name(), |path| short_name(&path));
        Some(Found { session, result })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recorder;
    use crate::result::tests::{result, session};
    use judge::Outcome;
    use lab::{Event, Listener};

    #[test]
    fn what_was_found_is_read_out_of_the_sessions_of_the_experiment() {
        let root = tempfile::tempdir().unwrap();
        let keep = |identity: &str, outcome: Option<Outcome>| {
            let mut recorder = Recorder::create(root.path(), "2026-11-20T10-00-00Z").unwrap();
            recorder.on_event(&Event::Planned(Box::new(session(identity))));
            if let Some(outcome) = outcome {
                recorder.keep_result(&result(outcome)).unwrap();
            }
        };
        keep("0", Some(Outcome::Pass));
        keep("1", None);
        keep("2", Some(Outcome::Fail));
        crate::past::tests::keep(root.path(), "2027", &[("exp/dock", Outcome::Pass)], Some(false));
        let mut outcomes: Vec<&str> =
            found(root.path(), "dock").iter().map(|found| found.result.run.outcome.name()).collect();
        outcomes.sort_unstable();
        assert_eq!(outcomes, ["fail", "pass"]);
        assert!(found(root.path(), "doc").is_empty());
    }

    #[test]
    fn runs_that_are_kept_are_found_by_their_identity() {
        let root = tempfile::tempdir().unwrap();
        let keep = |identity: &str, outcome, is_final| {
            let folder = ExperimentFolder::open(root.path(), "dock", identity).unwrap();
            folder.keep(&result(outcome), is_final).unwrap()
        };
        keep("0123", Outcome::Fail, true);
        keep("0123", Outcome::Pass, true);
        let broken = keep("0123", Outcome::Broken, false);
        keep("4567", Outcome::Pass, true);
        let found: Vec<_> = kept_runs(root.path(), "dock", "0123").collect();
        let expected = [("dock-0123", Outcome::Fail), ("dock-0123-2", Outcome::Pass)];
        assert_eq!(found, expected.map(|(name, outcome)| (name.to_string(), result(outcome))));
        assert_eq!(kept_runs(root.path(), "dock", "89ab").count(), 0);
        let again = ExperimentFolder::open(root.path(), "dock", "0123").unwrap();
        assert_eq!(again.path(), broken, "one that broke goes on");
    }
}
