//! Cases on a Kernel.

use std::path::PathBuf;
use std::time::Duration;

use kernel::Locator;
use protocol::Need;
use serde::{Deserialize, Serialize, Serializer};

use super::{KernelRequest, MachineRequest, RunPolicy, Version};
use crate::suites::select;
use crate::user_program::UserProgram;

/// Cases on a Kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRequest {
    /// Its version.
    pub version: Version<1>,
    /// The Kernel.
    pub kernel: KernelRequest,
    /// The cases.
    pub cases: Selection,
    /// Time limit of every case instead of its own.
    #[serde(default)]
    pub case_limit: Option<Duration>,
    /// How they are run.
    #[serde(default)]
    pub policy: RunPolicy,
    /// The machine.
    #[serde(default)]
    pub machine: MachineRequest,
    /// Keep the memory of a kernel that crashes or hangs.
    #[serde(default)]
    pub dump: bool,
}

/// Which cases; of a suite those whose names match one of the patterns, or all without patterns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Selection {
    /// A suite.
    Suite {
        /// Its name, or its folder.
        suite: String,
        /// Patterns of names.
        patterns: Vec<String>,
    },
    /// The kernel's selftests.
    Selftests {
        /// A group of the kernel's tree, a folder of a tree, or where they are installed.
        place: String,
        /// Patterns of names.
        patterns: Vec<String>,
    },
    /// A program of the host is the only case.
    Program(ProgramRequest),
}

/// A program of the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramRequest {
    /// Where it is.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// What it is started with.
    pub arguments: Vec<String>,
    /// Without these it is skipped.
    pub needs: Vec<Need<String>>,
}

impl RunRequest {
    /// The same on this Kernel and with these cases, as a new request.
    #[must_use]
    pub fn new(kernel: KernelRequest, cases: Selection) -> Self {
        Self {
            version: Version,
            kernel,
            cases,
            case_limit: None,
            policy: RunPolicy::default(),
            machine: MachineRequest::default(),
            dump: false,
        }
    }

    /// One case of it on the very same Kernel, once; the first case where none is named.
    pub(crate) fn again(&self, exact: Locator, case: Option<&str>) -> Self {
        let cases = match (&self.cases, case) {
            (Selection::Suite { suite, .. }, Some(case)) => {
                Selection::Suite { suite: suite.clone(), patterns: vec![case.to_string()] }
            }
            (Selection::Selftests { place, .. }, Some(case)) => {
                Selection::Selftests { place: place.clone(), patterns: vec![case.to_string()] }
            }
            (other, _) => other.clone(),
        };
        Self { kernel: self.kernel.again(exact), cases, policy: self.policy.once(), ..self.clone() }
    }
}

impl Selection {
    /// The suite that runs when nothing is said, or one of the others, as a whole.
    #[must_use]
    pub fn whole(suite: &str) -> Self {
        Self::Suite { suite: suite.to_string(), patterns: Vec::new() }
    }

    /// The program, if it is one.
    #[must_use]
    pub fn program(&self) -> Option<&ProgramRequest> {
        if let Self::Program(program) = self { Some(program) } else { None }
    }

    /// Whether what runs may need something of which only a configuration tells.
    pub(crate) fn has_needs(&self) -> bool {
        self.program().is_none_or(|program| !program.needs.is_empty())
    }
}

impl Default for Selection {
    fn default() -> Self {
        Self::whole(select::DEFAULT)
    }
}

impl ProgramRequest {
    /// As plans take it.
    #[must_use]
    pub fn borrowed(&self) -> UserProgram<'_> {
        UserProgram { path: &self.path, arguments: &self.arguments, needs: &self.needs }
    }
}

/// A path that is no text is better kept in part than not at all.
fn lossy<S: Serializer>(path: &std::path::Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}
