//! The messages between machine and agent: the one crate that both sides share.
//!
//! * [`catalogue`]: which cases and operations there are
//! * [`command`]: a program, as it is started
//! * [`devices`]: what drives the devices of a machine
//! * [`instrument`]: how an instrument is started, and what it writes: [`count`], [`latency`], [`probe`], [`race`], [`sample`], [`steal`], [`stress`], [`sweep`], [`trace`]
//! * [`hazard`]: what QEMU's plugin says about performance hazards
//! * [`job`]: what a lab script has the agent do
//! * [`message`]: what is said, in both directions
//! * [`frame`]: how it travels over a serial line that anyone in the guest may write to
//! * [`need`]: what a case or a program cannot do without
//! * [`measure`]: what the instrument of a measuring machine is asked, and answers
//! * [`profile`]: what QEMU's plugin writes about it
//! * [`results`]: the page of shared memory in which a case counts its results
//! * [`root`]: a user space beside the agent
//! * [`waiting`]: a run that waits in the initramfs
//! * [`window`]: how programs come into a machine that is up
//! * [`workload`]: what an instrument looks at

pub mod catalogue;
pub mod command;
pub mod count;
pub mod devices;
pub mod frame;
pub mod hazard;
pub mod instrument;
pub mod job;
pub mod latency;
pub mod measure;
pub mod message;
pub mod need;
pub mod probe;
pub mod profile;
pub mod race;
pub mod results;
pub mod root;
pub mod sample;
pub mod steal;
pub mod stress;
pub mod sweep;
pub mod trace;
pub mod waiting;
pub mod window;
pub mod workload;

pub use command::Command;
pub use frame::{Decoded, Decoder, Encoder};
pub use message::{
    Counts, End, FromAgent, KernelRecord, Leftover, Report, ReportKind, RunRequest, ToAgent, Work,
};
pub use need::Need;
pub use root::RootMount;

/// Version of everything in this crate. Raise it when a message, the frame or the results page
/// changes so that an older peer would misread it.
pub const VERSION: u32 = 10;
