//! Who has nodes.

use clap::ValueEnum;

/// Who has the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Cluster {
    /// Slurm: docs/results.md
    Slurm,
}
