//! What a matrix is asked.

use kernel::Locator;
use lab::RunRequest;
use lab::request::{KernelRequest, MachineRequest, Selection};

/// Kernels, each with some sets of parameters, and what is tested on all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixRequest {
    /// The kernels.
    pub kernels: Vec<Locator>,
    /// Sets of kernel parameters; the empty one is a kernel as it is.
    pub parameters: Vec<String>,
    /// What is tested.
    pub cases: Vec<Selection>,
    /// The machine.
    pub machine: MachineRequest,
    /// Machines at a time; as many as the host has CPUs for if it is not set.
    pub jobs: Option<u16>,
}

/// A kernel with a set of parameters, and what is tested on it: what one session does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Wanted<'a> {
    pub(crate) kernel: &'a Locator,
    pub(crate) parameters: &'a str,
    pub(crate) cases: &'a Selection,
}

impl MatrixRequest {
    /// All sessions, those of a kernel together.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = Wanted<'_>> {
        self.kernels.iter().flat_map(move |kernel| {
            self.parameters.iter().flat_map(move |parameters| {
                self.cases.iter().map(move |cases| Wanted { kernel, parameters, cases })
            })
        })
    }

    /// The request of a session.
    pub(crate) fn run(&self, wanted: Wanted<'_>) -> RunRequest {
        let mut request = RunRequest::new(KernelRequest::named(wanted.kernel.clone()), wanted.cases.clone());
        request.machine = self.machine.clone();
        if !wanted.parameters.is_empty() {
            request.machine.append.push(wanted.parameters.to_owned());
        }
        request.policy.jobs = self.jobs;
        request
    }
}
