//! What is asked of patches.

use std::path::PathBuf;
use std::time::Duration;

use bisect::AxisRequest;
use kbuild::analysis::Tool;
use kernel::{Arch, Locator};
use lab::prepare;
use lab::request::words::Words;
use lab::request::{BuildOptions, KernelRequest, MachineRequest, ProgramRequest, Selection, Version};
use lab::suites::{self, select::operations};
use serde::{Deserialize, Serialize};

use crate::Error;

/// What stands for no analyser, and for no operation.
pub const NONE: &str = "none";

/// What stands for all operations.
const ALL: &str = "*";

/// The fraction by which an operation must cost more to be worse, unless the user says another: whatever changes code moves
/// other code by an instruction.
pub const WORSE_BY: f64 = 0.01;

/// Static analysers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Analysers {
    /// All that this host has.
    Installed,
    /// These, and it is an error if one is missing.
    Named(Vec<Tool>),
}

impl Default for Analysers {
    fn default() -> Self {
        Self::Named(Vec::new())
    }
}

impl Analysers {
    /// Those that are asked where nobody names any: none where nothing runs, either.
    #[must_use]
    pub fn usual(cases: Option<&Selection>) -> Self {
        cases.map_or_else(Self::default, |_| Self::Installed)
    }

    /// Each of them.
    #[must_use]
    pub fn tools(&self) -> &[Tool] {
        match self {
            Self::Installed => &Tool::ALL,
            Self::Named(tools) => tools,
        }
    }

    /// One that must be there and is not. The compiler of a build is there under any name.
    fn missing(&self, build: &BuildOptions) -> Option<Tool> {
        let may_compile = |tool: Tool| matches!(tool, Tool::Gcc | Tool::Clang) && !build.variables.is_empty();
        match self {
            Self::Installed => None,
            Self::Named(tools) => {
                tools.iter().copied().find(|tool| !tool.is_on_host() && !may_compile(*tool))
            }
        }
    }
}

/// The operations that are compared where nobody names any: all, if cases run that the user did not write, on a kernel whose
/// instructions can be counted.
#[must_use]
pub fn usual_operations(cases: Option<&Selection>, build: &BuildOptions) -> Vec<String> {
    let is_counted = build.arch.is_none_or(|arch| arch == Arch::X86_64);
    match cases {
        Some(Selection::Suite { .. } | Selection::Selftests { .. }) if is_counted => vec![ALL.to_owned()],
        _ => Vec::new(),
    }
}

/// Patches that are built, tested and compared with what was there before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// The fraction by which an operation must cost more to be worse, or less to be better.
    #[serde(default)]
    pub worse_by: f64,
    /// Static analysers that are asked about the files that the patches touch.
    #[serde(default)]
    pub analysers: Analysers,
    /// How the kernels are built.
    #[serde(default)]
    pub build: BuildOptions,
    /// Other configurations with which each patch is built as well.
    #[serde(default)]
    pub also: Vec<Vec<String>>,
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

    /// The folder of the tree.
    pub(crate) fn repository(&self) -> PathBuf {
        let tree = Locator::Path(self.tree().clone());
        tree.path().unwrap_or_else(|| self.tree().clone())
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
        if self.operations != usual_operations(self.cases.as_ref(), &self.build) {
            let none = [NONE.to_owned()];
            words.each("--measure", if self.operations.is_empty() { &none } else { &self.operations[..] });
        }
        if (self.worse_by - WORSE_BY).abs() > f64::EPSILON {
            // A fraction that is none of two makes many digits.
            let percent = (self.worse_by * 1e8).round() / 1e6;
            words.option("--worse-by", &format!("{percent}%"));
        }
        words.build(&self.build);
        words.each("--also-config", self.also.iter().map(|configurations| configurations.join(",")));
        words.machine(&self.machine);
        match &self.cases {
            Some(cases) => words.selection(cases),
            None => words.flag("--build-only", true),
        }
        if self.analysers != Analysers::usual(self.cases.as_ref()) {
            let names: Vec<&str> = self.analysers.tools().iter().map(|tool| tool.name()).collect();
            words.option("--analyse", &if names.is_empty() { NONE.to_owned() } else { names.join(",") });
        }
        words.finish()
    }

    /// Whether more is asked than that each patch builds.
    pub(crate) fn wants_kernels(&self) -> bool {
        self.cases.is_some() || !self.operations.is_empty() || !self.analysers.tools().is_empty()
    }

    /// Checks what can be found to be wrong before anything is built.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let program = self.cases.as_ref().and_then(Selection::program);
        if let Some(ProgramRequest { path, .. }) = program.filter(|program| !program.is_there()) {
            return Err(Error::Usage(format!("--exec {}: no such file", path.display())));
        }
        if let Some(tool) = self.analysers.missing(&self.build) {
            let (name, program, package) = (tool.name(), tool.program(), tool.package());
            let text = format!("--analyse {name}: {program} is not installed: apt-get install {package}");
            return Err(Error::Usage(text));
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
