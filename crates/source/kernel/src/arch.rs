//! The architectures of kernels.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The architecture of a Kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arch {
    /// 64-bit x86.
    X86_64,
    /// User-Mode Linux: a program of this host, made for 64-bit x86.
    Um,
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::X86_64 => "x86_64",
            Self::Um => "um",
        })
    }
}
