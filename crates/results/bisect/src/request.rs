//! What a bisection is asked.

use std::path::PathBuf;
use std::time::Duration;

use kernel::Locator;
use lab::request::{BuildOptions, MachineRequest, ProgramRequest, Selection, Version, kernel::as_text};
use lab::suites::Suite;
use lab::suites::select::operations;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::question::Question;

/// A search for the change that made the difference between two ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BisectRequest {
    /// Its version.
    pub version: Version<1>,
    /// What is walked.
    pub axis: AxisRequest,
    /// What is asked of each Kernel on the way.
    pub question: Question,
    /// What runs there: a case, or a program; something trivial where nothing is said.
    #[serde(default)]
    pub cases: Option<Selection>,
    /// Time limit of the case instead of its own.
    #[serde(default, with = "judge::json::optional_seconds")]
    pub case_limit: Option<Duration>,
    /// How it is searched.
    #[serde(default)]
    pub search: SearchRequest,
    /// How Kernels are built.
    #[serde(default)]
    pub build: BuildOptions,
    /// The machine.
    #[serde(default)]
    pub machine: MachineRequest,
}

/// What is walked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AxisRequest {
    /// Packages of a distribution.
    Packages {
        /// The first end.
        #[serde(with = "as_text")]
        first: Locator,
        /// The last end.
        #[serde(with = "as_text")]
        last: Locator,
    },
    /// Commits of a tree.
    Commits {
        /// The tree, as it was typed.
        tree: PathBuf,
        /// The first end.
        first: String,
        /// The last end.
        last: String,
        /// Only commits that touch one of these; all without paths.
        paths: Vec<String>,
        /// A merge is one change.
        first_parent: bool,
    },
    /// Patches of a series.
    Series {
        /// An mbox, a patch, or a folder of patches.
        mail: PathBuf,
        /// The tree that they apply to.
        tree: PathBuf,
        /// Its commit.
        revision: String,
    },
    /// Kernel parameters.
    Parameters {
        /// The Kernel.
        #[serde(with = "as_text")]
        kernel: Locator,
        /// Those of the first end.
        first: String,
        /// Those of the last end.
        last: String,
    },
    /// Configuration options.
    Options {
        /// The source.
        #[serde(with = "as_text")]
        kernel: Locator,
        /// Configurations of the first end.
        first: Vec<String>,
        /// Those of the last end.
        last: Vec<String>,
    },
}

/// How it is searched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SearchRequest {
    /// The first end is bad, and the change that fixed it is looked for.
    pub fixed: bool,
    /// Count any failure, even if it differs from the failure at the bad end.
    pub any_failure: bool,
    /// Confidence that the search must reach, from 0 to 1.
    pub confidence: f64,
    /// Runs at the bad end before kiln concludes that it does not fail.
    pub tries: u32,
    /// Tests at a time; as many as the host has CPUs for if it is not set.
    pub jobs: Option<u8>,
    /// Neither goes on with an earlier search nor counts Runs of earlier sessions.
    pub fresh: bool,
}

impl Default for SearchRequest {
    fn default() -> Self {
        Self { fixed: false, any_failure: false, confidence: 0.99, tries: 60, jobs: None, fresh: false }
    }
}

impl BisectRequest {
    /// A search that is done in the usual way.
    #[must_use]
    pub fn new(axis: AxisRequest, question: Question) -> Self {
        Self {
            version: Version,
            axis,
            question,
            cases: None,
            case_limit: None,
            search: SearchRequest::default(),
            build: BuildOptions::default(),
            machine: MachineRequest::default(),
        }
    }

    /// Checks what can be found to be wrong before anything is fetched or built.
    ///
    /// # Errors
    ///
    /// When something is not there, or a pattern names more than one.
    pub fn check(&self) -> Result<(), Error> {
        self.check_root()?;
        if let Question::Metric { name, .. } = &self.question {
            let named = operations(std::slice::from_ref(name)).map_err(lab::suites::Error::from)?;
            return is_one("--metric", name, named.len());
        }
        if let Some(experiment) = self.question.experiment() {
            experiment.check("a bisection")?;
            return Ok(());
        }
        if let Some(ProgramRequest { path, .. }) = self.program().filter(|program| !program.is_there()) {
            return Err(Error::Usage(format!("--exec {}: no such file", path.display())));
        }
        let Some((case, suite)) = self.case().zip(self.suite()?) else { return Ok(()) };
        let count = match suite {
            Suite::Own { cases, .. } => cases.len(),
            Suite::External(suite) => suite.cases.len(),
        };
        is_one("--case", case, count)
    }

    /// Only programs run in a root, and one that changes meanwhile would be blamed on the kernel.
    fn check_root(&self) -> Result<(), Error> {
        let Some(root) = &self.machine.root else { return Ok(()) };
        if !matches!(self.question, Question::Program(_)) {
            return Err(Error::Usage(format!("--root {root}: only a program (--exec) runs in a root")));
        }
        if self.machine.shows_host_files() {
            let text = format!(
                "--root {root}: files of this host may change while kiln searches: use packages, a directory or an image"
            );
            return Err(Error::Usage(text));
        }
        Ok(())
    }

    /// The program that runs.
    pub(crate) fn program(&self) -> Option<&ProgramRequest> {
        self.cases.as_ref().and_then(Selection::program)
    }

    /// The case that runs.
    fn case(&self) -> Option<&str> {
        match &self.cases {
            Some(Selection::Suite { patterns, .. }) => patterns.first().map(String::as_str),
            _ => None,
        }
    }

    /// The suite with the case that runs.
    pub(crate) fn suite(&self) -> Result<Option<Suite>, Error> {
        match &self.cases {
            Some(Selection::Suite { suite, patterns }) => Ok(Some(Suite::open(suite, patterns)?)),
            _ => Ok(None),
        }
    }
}

/// A bisection asks about one thing, and a pattern may name several.
fn is_one(option: &str, pattern: &str, count: usize) -> Result<(), Error> {
    if count == 1 {
        return Ok(());
    }
    let what = option.trim_start_matches('-');
    Err(Error::Usage(format!("{option} {pattern}: names {count} {what}s: name one")))
}
