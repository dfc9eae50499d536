//! How scheduling policies are named.

use clap::ValueEnum;
use protocol::latency::Policy;

/// Names of [`Policy`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PolicyName {
    /// SCHED_FIFO
    Fifo,
    /// SCHED_RR
    Rr,
    /// SCHED_DEADLINE
    Deadline,
    /// SCHED_OTHER, which needs no rights
    Other,
    /// SCHED_BATCH
    Batch,
    /// SCHED_IDLE
    Idle,
}

impl From<PolicyName> for Policy {
    fn from(name: PolicyName) -> Self {
        match name {
            PolicyName::Fifo => Self::Fifo,
            PolicyName::Rr => Self::Rr,
            PolicyName::Deadline => Self::Deadline,
            PolicyName::Other => Self::Other,
            PolicyName::Batch => Self::Batch,
            PolicyName::Idle => Self::Idle,
        }
    }
}
