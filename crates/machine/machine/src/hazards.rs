//! Hazards: something in a machine waits for too long, or writes to what is watched, and the machine is stopped there.
//!
//! * [`Condition`]: what is one
//! * [`Spin`]: a CPU waits in a loop; QEMU's plugin finds it in what is executed
//! * [`Wait`]: a task sleeps for a lock; that is found in the machine's memory
//! * [`Write`]: data of the kernel is written to; QEMU's watchpoints find that

mod condition;
mod spin;
mod wait;
mod write;

pub use condition::{Condition, Conditions, WrongCondition};
use serde::{Deserialize, Serialize};
pub use spin::{InProgram, Look, Spin};
pub use wait::Wait;
pub use write::{Variable, Write};

/// What waited for too long or was written, and what the machine did at that moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "condition", rename_all = "kebab-case")]
pub enum Hazard {
    /// A CPU, in a loop.
    LockSpin(Spin),
    /// A task, for a lock.
    LockWait(Wait),
    /// Nothing waited: something was written.
    Write(Write),
}
