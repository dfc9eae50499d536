//! Runs of experiments: a folder for each, and what was found in them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use judge::Run;
use lab::event::stamp;
use lab::experiment::{Carried, PreparedExperiment};
use lab::request::ExperimentRequest;
use script::Figure;
use serde::{Deserialize, Serialize};

use crate::document;

/// The result of a run, in its folder.
const RESULT: &str = "result.json";

/// Longest document that is read, in bytes.
const RESULT_MAX: u64 = 16 << 20;

/// What the folder of an unfinished run begins with.
const UNFINISHED: &str = ".unfinished-";

/// Runs of one experiment that are looked through.
const PAST_MAX: usize = 1000;

/// Where runs of experiments are kept by default: `$XDG_STATE_HOME/kiln/experiments`.
#[must_use]
pub fn experiments_root() -> PathBuf {
    host::state_folder().join("experiments")
}

/// The folder of a run that is not finished. A run of the same experiment on the same Kernels goes on in it.
#[derive(Debug)]
pub struct ExperimentFolder {
    root: PathBuf,
    name: String,
    /// By its name and its identity.
    known_by: String,
    path: PathBuf,
    /// An earlier run has left it.
    pub is_resumed: bool,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentResult {
    /// The experiment.
    pub name: String,
    /// When it ended.
    pub ended: jiff::Timestamp,
    /// What was asked.
    pub request: ExperimentRequest,
    /// The Kernels, by locators by which the very same are found later.
    pub kernels: Vec<String>,
    /// What came of it.
    pub run: Run,
    /// Values of metrics, in the order in which the script records them.
    #[serde(default)]
    pub figures: Vec<Figure>,
}

impl ExperimentResult {
    /// What came of a run that ends now.
    #[must_use]
    pub fn new(prepared: &PreparedExperiment, carried: Carried) -> Self {
        let Carried { run, figures, .. } = carried;
        Self {
            name: prepared.name(),
            ended: jiff::Timestamp::now(),
            request: prepared.request().clone(),
            kernels: prepared.locators(),
            run,
            figures,
        }
    }
}

impl ExperimentFolder {
    /// The folder of the experiment called `name` whose run has this identity; `fresh` forgets an earlier one.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn open(root: &Path, name: &str, identity: &str, fresh: bool) -> io::Result<Self> {
        let known_by = known_by(name, identity);
        let path = root.join(format!("{UNFINISHED}{known_by}"));
        if fresh && path.exists() {
            fs::remove_dir_all(&path)?;
        }
        let is_resumed = path.exists();
        fs::create_dir_all(&path)?;
        Ok(Self { root: root.to_path_buf(), name: name.to_string(), known_by, path, is_resumed })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The journal of its steps.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.path.join("journal.jsonl")
    }

    /// Keeps the result. A run that has concluded something gets a name of its own; one that broke can go on. Gives where it is.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn finish(self, result: &ExperimentResult, is_final: bool) -> io::Result<PathBuf> {
        let base = format!("{}-{}", self.name, stamp(result.ended));
        self.end(result, is_final, &base)
    }

    /// The same for one of many runs: by its identity, [`kept_runs`] finds it again.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn keep(self, result: &ExperimentResult, is_final: bool) -> io::Result<PathBuf> {
        let base = self.known_by.clone();
        self.end(result, is_final, &base)
    }

    fn end(self, result: &ExperimentResult, is_final: bool, base: &str) -> io::Result<PathBuf> {
        document::write(&self.path.join(RESULT), result)?;
        if !is_final {
            return Ok(self.path);
        }
        for path in numbered(base).map(|name| self.root.join(name)) {
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
fn is_taken(error: &io::Error) -> bool {
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

/// What came of earlier runs of the experiment called `name`, the latest first.
#[must_use]
pub fn results_of(root: &Path, name: &str) -> Vec<ExperimentResult> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_of = |path: &PathBuf| {
        path.file_name()
            .and_then(|file| file.to_str())
            .is_some_and(|file| file.starts_with(&format!("{name}-")))
    };
    let found = entries.filter(is_of).take(PAST_MAX).filter_map(|folder| read(&folder));
    let mut found: Vec<ExperimentResult> = found.filter(|result| result.name == name).collect();
    found.sort_by_key(|result| std::cmp::Reverse(result.ended));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::Outcome;
    use lab::request::{MachineRequest, Version};

    fn result(outcome: Outcome) -> ExperimentResult {
        let request = ExperimentRequest {
            version: Version,
            folder: "experiments/dock".into(),
            kernels: Vec::new(),
            seed: 1,
            mode: script::Mode::Full,
            machine: MachineRequest::default(),
            no_clones: false,
        };
        let run = Run { outcome, ..Run::unstarted() };
        let (name, kernels) = ("dock".to_string(), vec!["deb:x".to_string()]);
        let figures = vec![Figure { name: "left".to_string(), value: 2.5 }];
        ExperimentResult { name, ended: jiff::Timestamp::UNIX_EPOCH, request, kernels, run, figures }
    }

    #[test]
    fn a_run_goes_on_until_it_has_concluded_something() {
        let root = tempfile::tempdir().unwrap();
        let open = |fresh| ExperimentFolder::open(root.path(), "dock", "0123456789abcdef01", fresh).unwrap();
        let first = open(false);
        assert!(!first.is_resumed);
        fs::write(first.journal(), "step").unwrap();
        let left = first.finish(&result(Outcome::Broken), false).unwrap();
        assert!(open(false).is_resumed && left.join("journal.jsonl").exists());
        assert!(results_of(root.path(), "dock").is_empty(), "what broke was not found out");
        assert!(!open(true).is_resumed);
        let ended = open(false).finish(&result(Outcome::Pass), true).unwrap();
        let again = open(false).finish(&result(Outcome::Pass), true).unwrap();
        assert!(ended.exists() && again.exists() && ended != again);
        assert_eq!(results_of(root.path(), "dock"), [result(Outcome::Pass), result(Outcome::Pass)]);
        assert!(results_of(root.path(), "doc").is_empty());
    }

    #[test]
    fn runs_that_are_kept_are_found_by_their_identity() {
        let root = tempfile::tempdir().unwrap();
        let keep = |identity: &str, outcome, is_final| {
            let folder = ExperimentFolder::open(root.path(), "dock", identity, false).unwrap();
            folder.keep(&result(outcome), is_final).unwrap();
        };
        keep("0123", Outcome::Fail, true);
        keep("0123", Outcome::Pass, true);
        keep("0123", Outcome::Broken, false);
        keep("4567", Outcome::Pass, true);
        let found: Vec<_> = kept_runs(root.path(), "dock", "0123").collect();
        let expected = [("dock-0123", Outcome::Fail), ("dock-0123-2", Outcome::Pass)];
        assert_eq!(found, expected.map(|(name, outcome)| (name.to_string(), result(outcome))));
        assert_eq!(kept_runs(root.path(), "dock", "89ab").count(), 0);
    }
}
