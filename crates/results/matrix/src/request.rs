//! What a matrix is asked.

use kernel::Locator;
use lab::RunRequest;
use lab::request::{BuildOptions, KernelRequest, MachineRequest, Selection};

/// Kernels, each with some sets of parameters, and what is tested on all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixRequest {
    /// What tells it from the others of its plan, for people; empty if there are none.
    pub setting: String,
    /// The kernels.
    pub kernels: Vec<Locator>,
    /// How those are built that are source.
    pub build: BuildOptions,
    /// Sets of kernel parameters; the empty one is a kernel as it is.
    pub parameters: Vec<String>,
    /// What is tested.
    pub cases: Vec<Selection>,
    /// The machine.
    pub machine: MachineRequest,
    /// Machines at a time; as many as the host has CPUs for if it is not set.
    pub jobs: Option<u16>,
}

/// A kernel with a set of parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Subject<'a> {
    pub(crate) kernel: &'a Locator,
    pub(crate) parameters: &'a str,
}

impl MatrixRequest {
    /// All kernels with all sets of parameters, those of a kernel together.
    pub(crate) fn subjects(&self) -> impl Iterator<Item = Subject<'_>> {
        self.kernels
            .iter()
            .flat_map(|kernel| self.parameters.iter().map(move |parameters| Subject { kernel, parameters }))
    }

    /// The request of a session.
    pub(crate) fn run(&self, subject: Subject<'_>, cases: &Selection) -> RunRequest {
        let mut request =
            RunRequest::new(KernelRequest::of(subject.kernel.clone(), &self.build), cases.clone());
        request.machine = self.machine.clone();
        if !subject.parameters.is_empty() {
            request.machine.append.push(subject.parameters.to_owned());
        }
        request.policy.jobs = self.jobs;
        request
    }
}

/// The name under which the ledger has a suite: that of its folder, where it is one.
pub(crate) fn suite_name(suite: &str) -> &str {
    suite.trim_end_matches('/').rsplit('/').next().unwrap_or(suite)
}
