//! Cases on a Kernel.

use std::path::PathBuf;
use std::time::Duration;

use kernel::Locator;
use machine::instruments::is_named;
use protocol::Need;
use protocol::trace::TraceRequest;
use serde::{Deserialize, Serialize, Serializer};

use super::{BuildOptions, KernelRequest, MachineRequest, RunPolicy, Version};
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
    /// Without these each case is skipped; it has needs of its own besides.
    #[serde(default)]
    pub needs: Vec<Need<String>>,
    /// Time limit of every case instead of its own.
    #[serde(default, with = "judge::json::optional_seconds")]
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
    /// What is recorded while each case runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceRequest>,
    /// Of that only the last seconds of Runs that are not well are kept.
    #[serde(default)]
    pub flight: bool,
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
    #[serde(default)]
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
            needs: Vec::new(),
            case_limit: None,
            policy: RunPolicy::default(),
            machine: MachineRequest::default(),
            dump: false,
            trace: None,
            flight: false,
        }
    }

    /// All that is needed besides what a case of a suite needs itself.
    #[must_use]
    pub fn all_needs(&self) -> Vec<Need<String>> {
        let own = self.cases.program().map(|program| program.needs.as_slice()).unwrap_or_default();
        [own, &self.needs].concat()
    }

    /// A hash over all that decides how its cases run besides the kernel's source: needs, limits, isolation, machine, and how the
    /// kernel is built.
    #[must_use]
    pub fn setup(&self) -> String {
        let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
        let mut setup = serde_json::json!({
            "needs": self.all_needs(),
            "case_limit": seconds(self.case_limit),
            "isolation": self.policy.isolation,
            "settle": seconds(self.policy.settle),
            "machine": self.machine,
        });
        // Of sessions that build nothing the hash stays what it was.
        if self.kernel.build != BuildOptions::default() {
            setup["build"] = serde_json::json!(self.kernel.build);
        }
        if let Some(trace) = &self.trace {
            setup["trace"] = serde_json::json!(trace);
        }
        kernel::files::hash(setup.to_string().as_bytes())
    }

    /// Whether what runs may need something of which only a configuration tells.
    pub(crate) fn has_needs(&self) -> bool {
        self.cases.program().is_none() || !self.all_needs().is_empty()
    }

    /// One case of it on the very same Kernel, once; the first case where none is named.
    pub(crate) fn again(&self, exact: Locator, case: Option<&str>) -> Self {
        let cases = case.map_or_else(|| self.cases.clone(), |case| self.cases.only(case));
        Self { kernel: KernelRequest::named(exact), cases, policy: self.policy.once(), ..self.clone() }
    }
}

impl Selection {
    /// The suite that runs when nothing is said, or one of the others, as a whole.
    #[must_use]
    pub fn whole(suite: &str) -> Self {
        Self::Suite { suite: suite.to_string(), patterns: Vec::new() }
    }

    /// The same with this case alone; a program is one anyway.
    #[must_use]
    pub fn only(&self, case: &str) -> Self {
        self.these(&[case.to_owned()])
    }

    /// The same with these cases alone.
    #[must_use]
    pub fn these(&self, cases: &[String]) -> Self {
        let patterns = cases.to_vec();
        match self {
            Self::Suite { suite, .. } => Self::Suite { suite: suite.clone(), patterns },
            Self::Selftests { place, .. } => Self::Selftests { place: place.clone(), patterns },
            Self::Program(_) => self.clone(),
        }
    }

    /// The program, if it is one.
    #[must_use]
    pub fn program(&self) -> Option<&ProgramRequest> {
        if let Self::Program(program) = self { Some(program) } else { None }
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

    /// Whether its path names a file or one of kiln's instruments.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.path.is_file() || is_named(&self.path)
    }
}

/// A path that is no text is better kept in part than not at all.
fn lossy<S: Serializer>(path: &std::path::Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fuzzing_begins_with_is_a_request() {
        let text = include_str!("../../../../../fuzz/examples/requests/run.json");
        let request: crate::request::Request = serde_json::from_str(text).unwrap();
        let again = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<crate::request::Request>(&again).unwrap(), request);
        assert!(
            text.contains(r#""seed": 7"#) && again.contains(r#""seed":"7""#),
            "an earlier version's seed: {again}"
        );
    }

    #[test]
    fn a_request_that_keeps_needs_with_its_program_is_read() {
        let kept = r#"{"version": 1, "kernel": {"locator": "host"}, "cases": {"program": {"path": "./it",
            "arguments": [], "needs": [{"module": "loop"}, {"cpus": 2}]}}}"#;
        let request: RunRequest = serde_json::from_str(kept).unwrap();
        let texts: Vec<String> = request.all_needs().iter().map(ToString::to_string).collect();
        assert_eq!((request.needs.len(), texts), (0, vec!["module=loop".to_string(), "cpus=2".to_string()]));
        assert_eq!(
            request.words(),
            ["run", "host", "--exec", "./it", "--need", "module=loop", "--need", "cpus=2"]
        );
    }
}
