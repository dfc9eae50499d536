//! What the things of a step are called in calls and answers.

/// A machine of a step.
pub type MachineId = u32;
/// A segment of a step.
pub type SegmentId = u32;
/// A command that was started.
pub type JobId = u32;
/// A kernel of the run, by its place in the list.
pub type KernelIndex = u32;
