//! What takes the CPU of the victim.
//!
//! * [`timer`]: interrupts of a known length
//! * [`network`]: packets between two network namespaces; [`link`]: the two ends; [`traffic`]: who sends and receives;
//!   [`worker`]: the processes that do it; [`shared`]: what they count

mod link;
mod network;
mod shared;
mod timer;
mod traffic;
mod worker;

use protocol::Report;
use protocol::steal::{Load, Setup};

use crate::affinity::Placement;
use network::Network;
use timer::Timer;

/// A load that runs until this is dropped.
#[derive(Debug)]
pub(crate) enum Running {
    Network(Network),
    Timer(Timer),
}

/// What a load has done since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// In the unit of the load.
    pub(crate) count: u64,
    /// How long it kept the CPU of the victim busy, in nanoseconds, where it knows.
    pub(crate) busy_ns: Option<u64>,
}

impl Running {
    /// Starts a load. This process must have one thread.
    ///
    /// # Errors
    ///
    /// `skip` if the kernel or the user lacks something.
    pub(crate) fn start(load: Load, setup: Setup, placement: Placement) -> Result<Self, Report> {
        match load {
            Load::Timer { hz, busy_ns } => Timer::start(hz, busy_ns, placement.victim).map(Self::Timer),
            load => Network::start(load, setup, placement).map(Self::Network),
        }
    }

    /// What it has done.
    ///
    /// # Errors
    ///
    /// `broken` if it has ended.
    pub(crate) fn done(&mut self) -> Result<Done, Report> {
        match self {
            Self::Network(network) => network.done(),
            Self::Timer(timer) => Ok(timer.done()),
        }
    }
}

impl Done {
    /// What was done since `before`.
    pub(crate) fn since(self, before: Self) -> Self {
        let busy = self.busy_ns.zip(before.busy_ns);
        Self {
            count: self.count.saturating_sub(before.count),
            busy_ns: busy.map(|(now, before)| now.saturating_sub(before)),
        }
    }
}
