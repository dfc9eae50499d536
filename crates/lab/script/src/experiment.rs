//! An experiment: its folder, its script with all that it loads, and what it says about itself.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::folder::{Folder, SCRIPT};
use crate::metadata::Metadata;
use crate::problem::Problem;
use crate::setup::Setup;
use crate::source::{Source, bytes};
use crate::syntax::{Files, Parsed};

/// Files of a script.
const FILES: usize = 64;

/// What the journal of a run of this language is worth to another.
const LANGUAGE: &str = "kiln lab script 1";

/// An experiment that was read, and not yet run.
#[derive(Debug, Clone)]
pub struct Experiment {
    pub(crate) folder: Folder,
    pub(crate) files: Files,
    /// All files, each after those that it loads; the script is the last.
    pub(crate) order: Vec<String>,
    metadata: Metadata,
}

impl Experiment {
    /// Reads the experiment of a folder.
    ///
    /// # Errors
    ///
    /// When its script cannot be read, or does not begin with what it says about itself.
    pub fn open(path: &Path) -> Result<Self, Problem> {
        let folder = Folder::open(path).map_err(|error| Problem::new(error.to_string()))?;
        let (files, order) = gather(&folder)?;
        let script = files.get(SCRIPT).ok_or_else(|| Problem::new(format!("there is no {SCRIPT}")))?;
        let metadata = Metadata::of(script)?;
        Ok(Self { metadata, folder, files, order })
    }

    /// What it says about itself.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// A hash of the script, its helpers, and all that the run is given but its limits: what a journal belongs to.
    #[must_use]
    pub fn identity(&self, setup: &Setup) -> String {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update(text.len().to_le_bytes());
            hash.update(text.as_bytes());
        };
        add(LANGUAGE);
        for name in &self.order {
            add(name);
            add(self.files.get(name).map_or("", |file| file.source.text.as_str()));
        }
        for text in setup.kernels.iter().map(|kernel| &kernel.identity).chain(&setup.inputs) {
            add(text);
        }
        add(&setup.seed.to_string());
        add(setup.mode.name());
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// All files of a script.
fn gather(folder: &Folder) -> Result<(Files, Vec<String>), Problem> {
    let source = folder.source(SCRIPT).map_err(|error| {
        Problem::new(error.to_string()).help(format!("an experiment is a folder with a script, {SCRIPT}"))
    })?;
    let mut gathering = Gathering { folder, files: Files::default(), order: Vec::new(), open: Vec::new() };
    gathering.add(source)?;
    Ok((gathering.files, gathering.order))
}

struct Gathering<'f> {
    folder: &'f Folder,
    files: Files,
    order: Vec<String>,
    /// The files that are being read, each loaded by the one before.
    open: Vec<String>,
}

impl Gathering<'_> {
    fn add(&mut self, source: Source) -> Result<(), Problem> {
        let file = Parsed::new(source)?;
        let name = file.source.name.clone();
        self.open.push(name.clone());
        for load in file.module().loads() {
            let at = bytes(load.span.span).start;
            let next = self.next(load.module_id).map_err(|text| Problem::at(&file.source, at, text))?;
            if let Some(next) = next {
                self.add(next)?;
            }
        }
        self.open.pop();
        self.order.push(name);
        self.files.insert(file);
        Ok(())
    }

    /// The source of a file that was not read before.
    fn next(&self, name: &str) -> Result<Option<Source>, String> {
        if self.open.iter().any(|open| open == name) {
            return Err(format!("{name} loads itself: {} -> {name}", self.open.join(" -> ")));
        }
        if self.files.get(name).is_some() {
            return Ok(None);
        }
        if self.files.len() + self.open.len() >= FILES {
            return Err(format!("a script has at most {FILES} files"));
        }
        self.folder.source(name).map(Some).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::{KernelInfo, Mode};
    use std::fs;

    fn open(files: &[(&str, &str)]) -> Result<Experiment, Problem> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        Experiment::open(folder.path())
    }

    const BEGIN: &str = "experiment(question = \"why?\")\n";

    #[test]
    fn files_come_after_those_that_they_load() {
        let script = format!("load(\"a.star\", \"f\")\nload(\"b.star\", \"g\")\n{BEGIN}");
        let files = [
            (SCRIPT, script.as_str()),
            ("a.star", "load(\"b.star\", \"g\")\nf = g\n"),
            ("b.star", "g = 1\n"),
        ];
        let experiment = open(&files).unwrap();
        assert_eq!(experiment.order, ["b.star", "a.star", SCRIPT]);
        assert_eq!(experiment.metadata().question, "why?");
    }

    #[test]
    fn loads_that_lead_nowhere_are_refused() {
        let said =
            |text: &str, other: &str| open(&[(SCRIPT, text), ("a.star", other)]).unwrap_err().to_string();
        let all = [
            said("load(\"a.star\", \"f\")\n", "load(\"experiment.star\", \"x\")\n"),
            said("load(\"../a.star\", \"f\")\n", ""),
            said("load(\"/etc/passwd\", \"f\")\n", ""),
            said("load(\"b.star\", \"f\")\n", ""),
            said("load(\"a.star\", \"f\")\n", "def f(:\n"),
            open(&[]).unwrap_err().to_string(),
        ];
        insta::assert_snapshot!("loads", all.join("\n"));
    }

    #[test]
    fn whatever_changes_the_run_changes_its_identity() {
        let of = |text: &str, setup: &Setup| open(&[(SCRIPT, text)]).unwrap().identity(setup);
        let kernel = |identity: &str| KernelInfo { identity: identity.to_owned(), ..KernelInfo::default() };
        let setup = |identity: &str, seed, mode| Setup {
            kernels: vec![kernel(identity)],
            seed,
            mode,
            ..Setup::default()
        };
        let base = of(BEGIN, &setup("a", 1, Mode::Full));
        assert_eq!(base, of(BEGIN, &setup("a", 1, Mode::Full)));
        assert_ne!(base, of(&format!("{BEGIN}#"), &setup("a", 1, Mode::Full)));
        assert_ne!(base, of(BEGIN, &setup("b", 1, Mode::Full)));
        assert_ne!(base, of(BEGIN, &setup("a", 2, Mode::Full)));
        assert_ne!(base, of(BEGIN, &setup("a", 1, Mode::Short)));
    }
}
