//! What the instrument of a measuring machine is asked, and what it answers.
//!
//! Both lie in memory that machine and host share: whatever comes by a port or an interrupt comes at a moment that
//! the host decides, and would move what is measured.

use serde::{Deserialize, Serialize};

use crate::trace::TraceRequest;
use crate::{Report, Work};

/// Where the agent finds the instrument in a machine that measures.
pub const INSTRUMENT: &str = "/kiln/micro";

/// Where it finds the paths of the modules that are loaded before anything is measured, one in a line.
pub const MODULES: &str = "/kiln/micro-modules";

/// Size of the memory that is shared, in bytes.
pub const EXCHANGE_SIZE: usize = RECORDING + RECORDING_SIZE;

/// Where in it the [`Order`] is: its length in four bytes, little endian, and its binary form.
pub const ORDER: usize = 0;

/// Where the answers begin, each a length in four bytes and the binary form of an [`Answer`]; after the last one the
/// length is 0.
pub const ANSWERS: usize = 1 << 20;

/// Where the text of `/proc/kallsyms` is, with its length in eight bytes before it.
pub const SYMBOLS: usize = 8 << 20;

/// Where the [`ring`](crate::trace::ring) of a recording is.
pub const RECORDING: usize = 32 << 20;

/// Its size: the host takes nothing out of it before the machine has stopped.
pub const RECORDING_SIZE: usize = 96 << 20;

/// The largest buffer of the kernel for a recording that must have room there, in KiB.
pub const BUFFER_KIB_MAX: u32 = 64 << 10;

/// The marks that QEMU's plugin sees: the displacement of a `nopl` (`0f 1f 80` and four bytes), which is an instruction
/// that does nothing and that no compiler makes. A repetition begins.
pub const MARK_BEGIN: u32 = 0x4b4c_4e01;

/// A repetition has ended.
pub const MARK_END: u32 = 0x4b4c_4e02;

/// All repetitions of a job have been made.
pub const MARK_JOB_DONE: u32 = 0x4b4c_4e03;

/// So many empty repetitions come first: the smallest is what looking at the clock costs.
pub const EMPTY_REPETITIONS: usize = 3;

/// So many repetitions follow that are forgotten: they fill caches of the kernel and make pages appear.
pub const WARM_UP: usize = 2;

/// What shall be measured, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// By which clock.
    pub clock: Clock,
    /// Operations of the suite by their names, or programs, in this order.
    pub jobs: Vec<Work>,
    /// The table of the kernel's symbols is wanted.
    pub symbols: bool,
    /// What the kernel records while the jobs are done, each once.
    pub trace: Option<TraceRequest>,
}

/// The clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// The time-stamp counter, which goes on by two to the power of `shift` with each instruction.
    Instructions {
        /// The shift that QEMU was started with.
        shift: u32,
    },
    /// `CLOCK_MONOTONIC_RAW`, in nanoseconds.
    Nanoseconds,
}

/// What the instrument has to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The instrument could not do its own part.
    Trouble(String),
    /// By how much the time-stamp counter went on while the machine was stopped to be cloned.
    Resumed(u64),
    /// The clock when user space began: the agent's first act.
    Booted(u64),
    /// The job with this number, from 0, begins.
    Begun(u32),
    /// It was measured.
    Measured {
        /// Its number.
        job: u32,
        /// What its repetitions took.
        samples: Samples,
    },
    /// It could not be measured, and why.
    NotMeasured {
        /// Its number.
        job: u32,
        /// `skip`, `fail` or `broken`.
        report: Report,
    },
    /// There is nothing more to come.
    Done,
}

/// What the repetitions of one job took, in the order in which they were made and without those that warmed up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Samples {
    /// Instructions or nanoseconds of one operation each, without what looking at the clock takes.
    pub costs: Vec<u64>,
    /// Those among them during which the kernel's timer interrupt came, by their indexes.
    pub ticked: Vec<u32>,
}

/// The binary form of an order or an answer.
///
/// # Errors
///
/// When it has none.
pub fn encode(value: &impl Serialize) -> postcard::Result<Vec<u8>> {
    postcard::to_stdvec(value)
}

/// Reads such a form.
///
/// # Errors
///
/// When it is none.
pub fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> postcard::Result<T> {
    postcard::from_bytes(bytes)
}
