//! A task that sleeps for a lock for too long.

use introspect::{Lock, Task};
use serde::{Deserialize, Serialize};

/// A task that has slept for a lock of the kernel for too long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Wait {
    /// The task.
    pub task: Task,
    /// For how long at least, in nanoseconds.
    pub slept_ns: u64,
    /// The lock.
    pub lock: Lock,
    /// What of the kernel is there, if that can be told.
    pub name: Option<String>,
    /// The task that owns the lock, if that can be told.
    pub owner: Option<Task>,
}
