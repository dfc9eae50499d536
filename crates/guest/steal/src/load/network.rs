//! Packets from one network namespace to another, whose receive processing is that of the victim's CPU.
//!
//! Namespaces, devices and settings belong to two processes, and go with them.

use std::sync::atomic::Ordering::Relaxed;

use harness::bpf::Map;
use harness::check::Checked;
use protocol::Report;
use protocol::steal::{Load, Setup, Xdp};
use rustix::process::Pid;

use super::Done;
use super::link::{self, RECEIVER, SENDER};
use super::shared::Shared;
use super::traffic;
use super::worker::{Maker, Worker};
use crate::affinity::Placement;

/// A network load.
#[derive(Debug)]
pub(crate) struct Network {
    // The end with the settings first: its device takes the other one along.
    receiver: Worker,
    sender: Worker,
    sent: Shared,
    busy: Option<Map>,
}

impl Network {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// `skip` if the kernel or the user lacks something.
    pub(crate) fn start(load: Load, setup: Setup, placement: Placement) -> Result<Self, Report> {
        let sent = Shared::new()?;
        let busy = setup.xdp.map(|_| link::counts()).transpose()?;
        let mut sender = Worker::new(placement.others, |maker| {
            maker.ready()?;
            maker.wait()?;
            link::configure(SENDER, RECEIVER)?;
            traffic::send(load, &sent, maker)
        })?;
        sender.ready()?;
        let (plan, other) = (Plan { load, setup, victim: placement.victim }, sender.pid());
        let mut receiver = Worker::new(placement.others, |maker| receive(plan, other, busy.as_ref(), maker))?;
        receiver.ready()?;
        sender.go()?;
        sender.ready()?;
        let busy = busy.filter(|_| matches!(setup.xdp, Some(Xdp::Busy(_))));
        Ok(Self { receiver, sender, sent, busy })
    }

    /// What was sent.
    ///
    /// # Errors
    ///
    /// When one of the processes has ended.
    pub(crate) fn done(&mut self) -> Result<Done, Report> {
        self.sender.works()?;
        self.receiver.works()?;
        let busy_ns = self.busy.as_ref().map(|counts| counts.lookup(0).unwrap_or(0));
        Ok(Done { count: self.sent.count().load(Relaxed), busy_ns })
    }
}

/// What the receiver is to be.
#[derive(Debug, Clone, Copy)]
struct Plan {
    load: Load,
    setup: Setup,
    victim: u32,
}

/// The life of the receiver.
fn receive(plan: Plan, sender: Pid, counts: Option<&Map>, maker: &mut Maker) -> Checked {
    let Plan { load, setup, victim } = plan;
    link::make(sender)?;
    link::configure(RECEIVER, SENDER)?;
    if setup.rps {
        link::steer_to(victim)?;
    }
    let attached = setup.xdp.zip(counts).map(|(xdp, counts)| link::attach(xdp, counts)).transpose()?;
    let ended = traffic::receive(load, maker);
    drop(attached);
    ended
}
