//! What is told while Kernels are measured.

use std::time::Duration;

/// Something that happened, for whoever shows how far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// A boot of a Kernel begins.
    Boot {
        /// What the Kernel is called.
        kernel: String,
        /// Which boot of this Kernel, from 1.
        number: u32,
        /// How many there will be; nothing where the samples decide that.
        of: Option<u32>,
    },
    /// Its instrument is ready.
    Booted {
        /// What the Kernel is called.
        kernel: String,
        /// From the start of its program.
        took: Duration,
        /// It is the boot of an earlier session, which was kept.
        kept: bool,
        /// Parameters of the user that the Kernel does not know.
        unknown: Vec<String>,
    },
    /// A job is being measured.
    Measuring {
        /// What the Kernel is called.
        kernel: String,
        /// In which boot of it, from 1.
        boot: u32,
        /// Which job, from 1.
        job: u32,
        /// How many there are.
        of: u32,
        /// Its name.
        name: String,
    },
    /// A look at the samples so far, which decides whether more are needed.
    Look {
        /// Boots so far, of all Kernels together.
        boots: u32,
        /// Metrics with a verdict.
        decided: u32,
        /// All metrics.
        of: u32,
    },
    /// Worth knowing.
    Note(String),
}
