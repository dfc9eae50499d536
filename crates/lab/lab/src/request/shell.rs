//! A shell in a machine.

use serde::{Deserialize, Serialize};

use super::{KernelRequest, MachineRequest, Version};

/// A shell in a machine, or one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellRequest {
    /// Its version.
    pub version: Version<1>,
    /// The Kernel.
    pub kernel: KernelRequest,
    /// The command; a shell for a person if there is none.
    #[serde(default)]
    pub command: Option<String>,
    /// The machine.
    #[serde(default)]
    pub machine: MachineRequest,
}
