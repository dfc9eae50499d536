//! What a user asks, typed and versioned. A session keeps its request, and carries it out again from there.
//!
//! * [`kernel`]: a Kernel, and how it is built; [`machine`]: its machine
//! * [`run`]: cases on a Kernel; [`policy`]: how often, and how far apart
//! * [`experiment`]: a lab script on Kernels
//! * [`kunit`]: the tests that a kernel runs while it boots
//! * [`measure`](mod@measure): what operations cost
//! * [`shell`]: a shell in a machine; [`kept`]: a Run that was kept, once more or as a bundle
//! * [`words`]: the call of kiln that asks the same, for people

pub mod experiment;
pub mod kept;
pub mod kernel;
pub mod kunit;
pub mod machine;
pub mod measure;
pub mod policy;
pub mod run;
pub mod shell;
pub mod version;
pub mod words;

use serde::{Deserialize, Serialize};

pub use experiment::ExperimentRequest;
pub use kept::{BundleRequest, KeptRequest, ReplayRequest};
pub use kernel::{BuildOptions, KernelRequest, may_be_built};
pub use kunit::KunitRequest;
pub use machine::MachineRequest;
pub use measure::{FiguresRequest, MeasureRequest, TimedRequest};
pub use policy::RunPolicy;
pub use run::{ProgramRequest, RunRequest, Selection};
pub use shell::ShellRequest;
pub use version::Version;

/// What a session carries out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verb", rename_all = "kebab-case")]
pub enum Request {
    /// Cases on a Kernel.
    Run(Box<RunRequest>),
    /// The tests that a kernel runs while it boots.
    Kunit(Box<KunitRequest>),
    /// A lab script on Kernels.
    Experiment(Box<ExperimentRequest>),
}

impl Request {
    /// The kernel parameters that the user asked for.
    #[must_use]
    pub fn parameters(&self) -> String {
        self.machine().append.join(" ")
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &MachineRequest {
        match self {
            Self::Run(request) => &request.machine,
            Self::Kunit(request) => &request.machine,
            Self::Experiment(request) => &request.machine,
        }
    }

    /// The arguments by which kiln is asked the same.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        match self {
            Self::Run(request) => request.words(),
            Self::Kunit(request) => request.words(),
            Self::Experiment(request) => request.words(),
        }
    }
}
