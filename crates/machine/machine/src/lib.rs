//! A Kernel becomes a running machine.
//!
//! * [`spec`]: what the machine shall be
//! * [`required_config`]: what a kernel must have been built with
//! * [`initramfs`]: the archive that it boots into, written in memory; [`window`]: the way into one that is up
//! * [`payload`]: what it has besides the agent; [`program`]: a host's program with its libraries;
//!   [`folder`]: a folder of the host
//! * [`mod@root`]: how it has a user space for programs
//! * [`connections`]: what is behind its devices and is not its own
//! * [`catalogue`]: the cases and operations that guests' programs hold
//! * [`engine`]: QEMU or UML; [`accel`]: TCG or KVM; [`kvm`]: whether KVM works here
//! * [`vmm`]: the machine itself; [`qemu`] and [`uml`] are what is special about each
//! * [`memory`]: the files that are its memory
//! * [`template`]: a booted machine that others are cloned from
//! * [`instrument`]: a machine that measures; [`instruments`]: programs that load or measure a kernel
//! * [`TimeoutScale`], [`Life`]: how long things may take here and now
//! * [`hazards`]: a machine is stopped where something waits for too long
//! * [`gateway`]: a way out of a segment
//! * [`host`]: what this host has

pub mod accel;
pub mod catalogue;
pub mod connections;
pub mod engine;
pub mod error;
pub mod folder;
pub mod gateway;
pub mod hazards;
pub mod host;
pub mod initramfs;
pub mod instrument;
pub mod instruments;
pub mod kvm;
mod memory;
pub mod payload;
pub mod program;
pub mod qemu;
mod remembered;
mod required_config;
pub mod root;
pub mod spec;
pub mod tcg;
pub mod template;
mod timeout;
pub mod uml;
pub mod vmm;
mod window;

use std::time::{Duration, Instant};

use protocol::hazard::Site;
use protocol::{FromAgent, ToAgent};

pub use accel::{Accel, AccelChoice};
pub use connections::Connections;
pub use console::{Death, Facts};
pub use engine::Engine;
pub use error::{BootFailure, BootTrouble, ConsoleSupport, Error};
pub use folder::Folder;
pub use gateway::Gateway;
pub use hardware::part::SHIFT;
pub use hazards::{Condition, Conditions, Hazard, Look};
pub use instrument::{Measuring, Step, Timing, Watch};
pub use payload::Payload;
pub use spec::Spec;
pub use template::Template;
pub use timeout::{Life, TimeoutScale};
pub use vmm::{Booted, Built, Programs, RecordingMemory, Snapshot, Starting, Successor, Vmm};

/// The agent: a static program, `/init` of every machine.
pub static AGENT: &[u8] = include_bytes!(env!("KILN_AGENT"));

/// The instrument of machines that measure: a static program beside the agent.
pub static MICRO: &[u8] = include_bytes!(env!("KILN_MICRO"));

/// What judges a Run on a machine without kiln: a static program.
pub static JUDGE: &[u8] = include_bytes!(env!("KILN_JUDGE"));

/// QEMU's plugin: a dynamic library for the host's C library.
pub static PLUGIN: &[u8] = include_bytes!(env!("KILN_PLUGIN"));

/// What rides in User-Mode Linux on some hosts: a library for its dynamic loader.
pub(crate) static PRELOAD: &[u8] = include_bytes!(env!("KILN_PRELOAD"));

/// A booted machine, seen from whoever gives it work. Its memory, processes and descriptors are
/// gone when it is dropped.
pub trait Machine {
    /// Tells the agent something. What cannot be delivered shows as the machine's end in [`Machine::next`].
    fn send(&mut self, message: &ToAgent);

    /// What happens next, or [`Event::Quiet`] if nothing does until `deadline`.
    fn next(&mut self, deadline: Instant) -> Event;

    /// What can be had about a machine that stopped answering. It may not live through that.
    fn examine(&mut self) -> Facts;

    /// If its memory is dumped from now on, because the kernel crashes or hangs, the file has this name: a
    /// relative path without extension.
    fn name_dump(&mut self, _name: &str) {}

    /// What became of the last dump, in words; nothing if there was no reason for one.
    fn dumped(&self) -> Option<String> {
        None
    }

    /// The memory through which a recording comes; nothing where there is none.
    fn recording(&self) -> Option<RecordingMemory> {
        None
    }

    /// How long since its start the machine had work and no CPU of the host to do it, where the host counts that,
    /// or nobody listened to it. Whoever listens calls this several times a second.
    fn waited(&mut self) -> Duration {
        Duration::ZERO
    }

    /// Looks for hazards from now on, if the machine was made for that.
    ///
    /// # Errors
    ///
    /// What its kernel lacks for that.
    fn begin_hazards(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Looks no more, and gives what was counted; nothing of a machine that is no more.
    fn end_hazards(&mut self) -> Vec<Site> {
        Vec::new()
    }

    /// Powers the machine off.
    fn stop(self: Box<Self>);
}

/// Something that a machine did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A line on the console.
    Console(String),
    /// The agent said something.
    Agent(FromAgent),
    /// Something on the control port that the agent did not say.
    Stranger(String),
    /// The machine has stopped itself, as the instrument of a measuring machine does.
    Stopped,
    /// Something waits for too long. The machine goes on.
    Hazard(Box<Hazard>),
    /// The machine is no more.
    Ended(Death),
    /// Nothing happened until the deadline.
    Quiet,
}
