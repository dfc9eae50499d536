//! What is asked of patches.

use std::path::PathBuf;
use std::time::Duration;

use bisect::AxisRequest;
use kernel::Locator;
use lab::prepare;
use lab::request::words::Words;
use lab::request::{BuildOptions, KernelRequest, MachineRequest, ProgramRequest, Selection, Version};
use lab::suites::{self, select::operations};
use serde::{Deserialize, Serialize};

use crate::Error;

/// Patches that are built, tested and compared with what was there before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRequest {
    /// Its version.
    pub version: Version<1>,
    /// The patches.
    pub patches: PatchesRequest,
    /// What runs on the kernels before and after; nothing if they are only built.
    pub cases: Option<Selection>,
    /// Time limit of every case instead of its own.
    #[serde(default, with = "judge::json::optional_seconds")]
    pub case_limit: Option<Duration>,
    /// Operations whose cost is compared, by patterns of their names; none without patterns.
    #[serde(default)]
    pub operations: Vec<String>,
    /// How the kernels are built.
    #[serde(default)]
    pub build: BuildOptions,
    /// The machine.
    #[serde(default)]
    pub machine: MachineRequest,
}

/// Where the patches are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PatchesRequest {
    /// An mbox with one series.
    Series {
        /// The mbox.
        mail: PathBuf,
        /// The tree that they apply to, as it was typed.
        tree: PathBuf,
        /// Its commit.
        revision: String,
    },
    /// Commits of a tree.
    Commits {
        /// The tree, as it was typed.
        tree: PathBuf,
        /// The commit before the first of them.
        first: String,
        /// The last of them.
        last: String,
    },
}

impl PatchesRequest {
    /// The tree, as it was typed.
    #[must_use]
    pub fn tree(&self) -> &PathBuf {
        match self {
            Self::Series { tree, .. } | Self::Commits { tree, .. } => tree,
        }
    }

    /// The same for a bisection.
    pub(crate) fn axis(&self) -> AxisRequest {
        match self.clone() {
            Self::Series { mail, tree, revision } => AxisRequest::Series { mail, tree, revision },
            Self::Commits { tree, first, last } => {
                AxisRequest::Commits { tree, first, last, paths: Vec::new(), first_parent: true }
            }
        }
    }
}

impl CheckRequest {
    /// The arguments by which kiln is asked the same of these patches in this tree, on this commit: elsewhere they may have other
    /// names.
    #[must_use]
    pub fn words(&self, patches: &str, tree: &str, base: &str) -> Vec<String> {
        let mut words = Words::new("check", patches);
        words.option("--tree", tree);
        if let PatchesRequest::Series { .. } = &self.patches {
            words.option("--base", base);
        }
        words.time("--case-timeout", self.case_limit);
        words.each("--measure", &self.operations);
        words.build(&self.build);
        words.machine(&self.machine);
        match &self.cases {
            Some(cases) => words.selection(cases),
            None => words.flag("--build-only", true),
        }
        words.finish()
    }

    /// Checks what can be found to be wrong before anything is built.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let program = self.cases.as_ref().and_then(Selection::program);
        if let Some(ProgramRequest { path, .. }) = program.filter(|program| !program.path.is_file()) {
            return Err(Error::Usage(format!("--exec {}: no such file", path.display())));
        }
        if let Some(cases) = &self.cases {
            cases.check().map_err(prepare::Error::from)?;
        }
        if !self.operations.is_empty() {
            operations(&self.operations).map_err(|error| prepare::Error::from(suites::Error::from(error)))?;
        }
        Ok(())
    }

    /// The kernel of a commit of the tree.
    pub(crate) fn kernel(&self, commit: &str) -> KernelRequest {
        let (tree, revision) = (self.patches.tree().clone(), commit.to_owned());
        KernelRequest::of(Locator::Git { tree, revision }, &self.build)
    }
}
