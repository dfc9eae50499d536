//! A loop in which a CPU waits for too long.

use introspect::{Call, Registers, Task};
use serde::{Deserialize, Serialize};

/// A loop in which a CPU waited for too long, and what the machine did at that moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Spin {
    /// The number of the loop, by which it is counted.
    pub site: u32,
    /// The CPU that waited.
    pub cpu: u32,
    /// Where the loop begins.
    pub address: u64,
    /// The function of the kernel there, as the kernel prints it; none in a program.
    pub function: Option<String>,
    /// The instructions of a pass.
    pub code: Vec<String>,
    /// What it looked at in memory.
    pub looks_at: Vec<Look>,
    /// The calls that led there, the innermost first.
    pub calls: Vec<Call>,
    /// The tasks that were on a CPU, and those that hold locks where the kernel keeps account of that.
    pub tasks: Vec<Task>,
    /// Why these are not known.
    pub missing: Option<String>,
    /// What its calls are found by, if it is in a program.
    #[serde(skip)]
    pub program: Option<InProgram>,
}

/// A loop in a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InProgram {
    /// Where the CPU is.
    pub registers: Registers,
    /// The code of the loop at its address.
    pub code: Vec<u8>,
    /// The stack, from the stack pointer on.
    pub stack: Vec<u8>,
}

/// A place in memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Look {
    /// Its address.
    pub address: u64,
    /// What of the kernel is there.
    pub name: Option<String>,
}
