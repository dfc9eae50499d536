//! How precise timed figures of this host are.

use lab::prepare::measure::Side;
use lab::request::{FiguresRequest, KernelRequest, MachineRequest, ProgramRequest, TimedRequest, Version};
use serde::{Deserialize, Serialize};

use super::of;

/// A Kernel is timed beside itself: all differences are those of this host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrateRequest {
    /// Its version.
    pub version: Version<1>,
    /// The Kernel.
    pub kernel: KernelRequest,
    /// A program instead of the operations.
    #[serde(default)]
    pub program: Option<ProgramRequest>,
    /// Operations whose names match one of these; all without patterns.
    #[serde(default)]
    pub operations: Vec<String>,
    /// Boots of each side of each comparison.
    #[serde(default)]
    pub boots: Option<u32>,
    /// How time is measured, and for how long.
    #[serde(default)]
    pub timed: TimedRequest,
    /// The machine.
    #[serde(default)]
    pub machine: MachineRequest,
}

impl CalibrateRequest {
    /// What is measured, and how.
    pub(crate) fn figures(&self) -> FiguresRequest {
        let (operations, boots, timed) = (self.operations.clone(), self.boots, Some(self.timed.clone()));
        FiguresRequest { operations, boots, timed, ..FiguresRequest::default() }
    }

    /// The Kernel, twice.
    pub(crate) fn sides(&self) -> Vec<Side> {
        vec![of(&self.kernel, self.program.as_ref()); 2]
    }
}
