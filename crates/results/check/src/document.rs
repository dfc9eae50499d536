//! What is known of patches in the end: `check.json`.

use std::path::PathBuf;

use judge::Outcome;
use kbuild::analysis::{Finding, Tool};
use kbuild::diagnostics::Severity;
use lab::request::Version;
use serde::{Deserialize, Serialize};

/// Patches that were checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeriesCheck {
    /// Its version.
    pub version: Version<1>,
    /// The tree, as it was typed.
    pub tree: String,
    /// The commit before the first patch.
    pub base: Commit,
    /// The patches, the first one first.
    pub patches: Vec<Commit>,
    /// Builds with other configurations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<AlsoBuilt>,
    /// What static analysers say; nothing if none was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysis: Option<Analysis>,
    /// What ran on the kernels before and after; nothing if nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<Tests>,
    /// Operations that cost more or less than before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<CostChange>,
    /// How many operations were compared.
    #[serde(default)]
    pub operations: usize,
    /// How many of them differ by no more than what counts.
    #[serde(default)]
    pub slight: usize,
    /// What all of it comes to.
    pub verdict: Verdict,
    /// What was asked for and could not be checked, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unchecked: Vec<String>,
    /// Worth knowing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Commands that show both sides, ready to be pasted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reproduce: Vec<String>,
}

/// A commit, and what came of its build.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Its hash.
    pub hash: String,
    /// The first line of its message.
    pub subject: String,
    /// Who wrote it: `Name <address>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Its build.
    pub build: Built,
}

/// What came of a build.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Built {
    /// Nobody tried.
    #[default]
    NotTried,
    /// There is a kernel.
    Kernel {
        /// The locator by which it is found again.
        locator: String,
        /// Warnings that the commit before does not have, as compilers write them.
        new_warnings: Vec<String>,
    },
    /// The source does not compile.
    Failed {
        /// The first error, as the compiler writes it.
        cause: String,
    },
}

/// The same commits, built with other configurations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlsoBuilt {
    /// The configurations.
    pub configurations: Vec<String>,
    /// The commit before the first patch.
    pub base: Commit,
    /// The patches.
    pub patches: Vec<Commit>,
}

/// What static analysers say of the files that the patches touch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Analysis {
    /// The repository of the tree, wherever it was named from.
    pub repository: PathBuf,
    /// Those that ran, with what they say of their version.
    pub tools: Vec<(Tool, String)>,
    /// Those that this host does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Tool>,
    /// How many files of C were analysed.
    pub files: usize,
    /// What they find with the patches and not before.
    pub new: Vec<NewFinding>,
    /// What they found before and do not find with the patches.
    pub fixed: Vec<Finding>,
    /// What they found before and still find.
    pub outstanding: Vec<Finding>,
    /// What they could not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// A finding that the patches brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewFinding {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// The number of the patch that wrote the line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<usize>,
}

impl NewFinding {
    /// Whether somebody should look at it. What checkpatch only warns of is a matter of style.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.finding.tool != Tool::Checkpatch || self.finding.severity == Severity::Error
    }
}

/// Cases on the kernels before and after the patches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tests {
    /// The suite.
    pub suite: String,
    /// The machine, for people.
    pub machine: String,
    /// The sessions that the ledger has: before, and after.
    pub sessions: [String; 2],
    /// Cases that ran on both.
    pub cases: usize,
    /// Cases that failed on both in the same way.
    pub failed_before: usize,
    /// Cases that ended in another way.
    pub changes: Vec<CaseChange>,
}

/// A case that ended in another way than before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseChange {
    /// Its name.
    pub case: String,
    /// It is the boot of a machine and no case, which may have the same name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_boot: bool,
    /// What that means.
    pub change: Change,
    /// How it ended before.
    pub before: Seen,
    /// How it ended with the patches.
    pub after: Seen,
    /// The patch that did it, where somebody searched for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub culprit: Option<Culprit>,
}

/// What it means that something is not as before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// It failed, and did not before.
    Worse,
    /// It fails in another way than before.
    Different,
    /// It failed, but not again when it was repeated; or one side says nothing about the kernel.
    Undecided,
    /// It failed before.
    Better,
}

/// How a case ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The conclusion; nothing of a boot that went well.
    pub outcome: Option<Outcome>,
    /// One line that says why.
    pub reason: String,
    /// What shows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
}

/// An operation that costs more or less than before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostChange {
    /// Its name.
    pub operation: String,
    /// Worse or better.
    pub change: Change,
    /// Instructions before.
    pub before: f64,
    /// Instructions with the patches.
    pub after: f64,
    /// The functions that did it, with their instructions before and after.
    pub functions: Vec<(String, Option<u64>, Option<u64>)>,
    /// The patch that did it, where somebody searched for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub culprit: Option<Culprit>,
}

/// Who made something worse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Culprit {
    /// These patches, by their numbers from 1.
    Patches {
        /// One, or several that only together make the difference.
        numbers: Vec<usize>,
        /// How sure that is, from 0 to 1.
        confidence: f64,
    },
    /// One of these patches, by their numbers from 1: kernels between them cannot be tested.
    OneOf {
        /// Their numbers.
        numbers: Vec<usize>,
        /// How sure that is, from 0 to 1.
        confidence: f64,
    },
    /// When it was repeated, it was not as before: chance has a part in it.
    NotRepeated {
        /// What was seen.
        why: String,
    },
    /// None was found.
    Unknown {
        /// Why not.
        why: String,
    },
}

/// What all of it comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing that was checked changed.
    Same,
    /// Something became better and nothing became worse.
    Better,
    /// A patch does not compile, compiles with new warnings, makes a case fail or an operation dearer.
    Worse,
    /// A case ends in another way than before, or static analysis finds something new: what that means is for a person to say.
    Different,
    /// Something that was asked for could not be checked, and nothing else became worse.
    Undecided,
}

impl Commit {
    /// Its hash as people write it.
    #[must_use]
    pub fn short(&self) -> &str {
        self.hash.get(..12).unwrap_or(&self.hash)
    }
}

impl Verdict {
    /// Its name in output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Different => "different",
            Self::Undecided => "undecided",
        }
    }
}

impl Built {
    /// The locator of the kernel, if there is one.
    #[must_use]
    pub fn locator(&self) -> Option<&str> {
        match self {
            Self::Kernel { locator, .. } => Some(locator),
            Self::NotTried | Self::Failed { .. } => None,
        }
    }
}
