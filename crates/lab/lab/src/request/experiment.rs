//! An experiment on Kernels.

use std::path::PathBuf;

use kernel::Locator;
use script::Mode;
use serde::{Deserialize, Serialize};

use super::{KernelRequest, MachineRequest, Version};

/// An experiment: a folder with a lab script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExperimentRequest {
    /// Its version.
    pub version: Version<1>,
    /// The folder.
    pub folder: PathBuf,
    /// The Kernels of all its runs, in the order in which the script has them.
    pub kernels: Vec<KernelRequest>,
    /// What chance is drawn from.
    #[serde(default, with = "judge::json::seed")]
    pub seed: u64,
    /// How much of it.
    #[serde(default)]
    pub mode: Mode,
    /// What is fixed about all its machines.
    #[serde(default)]
    pub machine: MachineRequest,
    /// All its machines boot: none is a clone, whatever the script says.
    #[serde(default)]
    pub no_clones: bool,
}

impl ExperimentRequest {
    /// The same on these very Kernels.
    pub(crate) fn again(&self, exact: Vec<Locator>) -> Self {
        Self { kernels: exact.into_iter().map(KernelRequest::named).collect(), ..self.clone() }
    }
}
