//! Forwarding: which frame leaves where, when and how. A pure function of frames and times; the sockets are an [`Outlet`].

use std::time::Duration;

use crate::answers::Answers;
use crate::capture::{Capture, Heading, Packet};
use crate::held::Held;
use crate::link::{Impaired, Link, Passage};
use crate::mac::Mac;
use crate::random;
use crate::settings::{Forged, Settings};
use crate::statistics::{Cause, PortStatistics, Statistics};
use crate::table::Table;

/// Bytes of a frame at least: the header of Ethernet.
const FRAME_MIN: usize = 14;

/// Where frames leave the switch.
pub(crate) trait Outlet {
    /// Whether a machine is attached to a port.
    fn is_attached(&self, port: usize) -> bool;

    /// Gives a frame to the machine at port `to`. `from` is the port that it came from; the switch's own frames come from
    /// the one after the last.
    fn send(&mut self, to: usize, from: usize, frame: &[u8]) -> Result<(), Cause>;
}

/// Now, and where frames go.
pub(crate) struct Moment<'a> {
    /// Since the segment began.
    pub(crate) at: Duration,
    /// Where frames go.
    pub(crate) outlet: &'a mut dyn Outlet,
}

/// One direction of a link, by the numbers of its ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// What comes from a port.
    From(usize),
    /// What goes to a port.
    To(usize),
    /// What goes from one port to another.
    Between(usize, usize),
}

/// What a frame is to do when it has passed a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// It passed the link from its machine: find out where it goes.
    Forward { from: usize },
    /// It passed the link between two ports: enter the one to the machine.
    Leave { from: usize, to: usize },
    /// It passed the link to the machine.
    Deliver { from: usize, to: usize },
}

/// Forwards frames between the ports of a segment.
pub(crate) struct Switch {
    table: Table,
    forged: Forged,
    frame_max: usize,
    answers: Option<Answers>,
    /// The router's port, if a station is the router.
    router: Option<usize>,
    /// From each port, to each port, and between each two.
    links: Vec<Link>,
    held: Held<(Step, Way)>,
    statistics: Vec<PortStatistics>,
    /// What is captured of it.
    pub(crate) capture: Capture,
}

impl Switch {
    /// The switch of a segment whose settings were checked; `epoch` is the time from 1970 to its beginning.
    pub(crate) fn new(settings: &Settings, epoch: Duration) -> Self {
        let names = || settings.stations.iter().map(|station| station.name.as_str());
        let link = |name: String| Link::new(random::seed_of(settings.seed, &name));
        // The seed of a link comes from the names of its stations, not from their order.
        let from = names().map(|name| link(format!("from {name}")));
        let to = names().map(|name| link(format!("to {name}")));
        let between = names().flat_map(|one| names().map(move |other| link(format!("{one} to {other}"))));
        Self {
            table: Table::new(settings.stations.iter().map(|station| station.mac)),
            forged: settings.forged,
            frame_max: settings.frame_max(),
            answers: settings.answers.then(|| Answers::new(settings)),
            router: settings.stations.iter().position(|station| Some(station.address) == settings.router),
            links: from.chain(to).chain(between).collect(),
            held: Held::default(),
            statistics: names().map(PortStatistics::new).collect(),
            capture: Capture::new(names(), settings.recorder_bytes, epoch),
        }
    }

    fn ports(&self) -> usize {
        self.statistics.len()
    }

    /// One direction of a link.
    pub(crate) fn link(&mut self, way: Way) -> Option<&mut Link> {
        let ports = self.ports();
        let index = match way {
            Way::From(port) => port,
            Way::To(port) => ports + port,
            Way::Between(from, to) => (2 + from) * ports + to,
        };
        self.links.get_mut(index)
    }

    /// Takes a frame from the machine at port `from`. It has `length` bytes, of which `frame` may be only the first.
    pub(crate) fn receive(&mut self, from: usize, frame: &[u8], length: usize, now: &mut Moment<'_>) {
        if let Some(port) = self.statistics.get_mut(from) {
            port.received.count(length);
        }
        let cause = self.refusal(from, frame, length);
        if let Some(cause) = cause {
            self.count_drop(from, cause);
            self.capture.record(&Packet {
                port: from,
                heading: Heading::In,
                at: now.at,
                frame,
                length,
                drop: Some(cause),
            });
            return;
        }
        self.enter(Way::From(from), Step::Forward { from }, frame, now);
    }

    /// Why a port does not take a frame.
    fn refusal(&self, from: usize, frame: &[u8], length: usize) -> Option<Cause> {
        if length < FRAME_MIN {
            return Some(Cause::Runt);
        }
        if length > self.frame_max || frame.len() < length {
            return Some(Cause::Giant);
        }
        let is_forged = Mac::source(frame).is_none_or(|source| self.table.is_forged(source, from));
        (is_forged && self.forged == Forged::Drop).then_some(Cause::Forged)
    }

    /// When the next frame that waits is due.
    pub(crate) fn next(&self) -> Option<Duration> {
        self.held.next()
    }

    /// Lets frames go whose time has come, at most `count`.
    pub(crate) fn release(&mut self, count: usize, now: &mut Moment<'_>) {
        for _ in 0..count {
            let Some((frame, (step, way))) = self.held.pop(now.at) else { return };
            let Some(link) = self.link(way) else { continue };
            link.leave();
            // What is on a cable that is cut is lost.
            if link.is_cut() {
                self.dropped(step, Cause::Cut, &frame, now.at);
            } else {
                self.step(step, &frame, now);
            }
        }
    }

    /// A frame enters a link; it does `step` when it has passed.
    fn enter(&mut self, way: Way, step: Step, frame: &[u8], now: &mut Moment<'_>) {
        let Some(passage) = self.link(way).map(|link| link.enter(frame.len(), now.at)) else { return };
        match passage {
            Passage::Dropped(cause) => self.dropped(step, cause, frame, now.at),
            Passage::Clear => {
                self.entered(step, frame, now.at);
                self.step(step, frame, now);
            }
            Passage::Impaired(how) => {
                self.entered(step, frame, now.at);
                self.impaired((way, step), &how, frame, now);
            }
        }
    }

    /// Lets a frame pass as its fate has it.
    fn impaired(&mut self, place: (Way, Step), how: &Impaired, frame: &[u8], now: &mut Moment<'_>) {
        let (way, step) = place;
        self.count_effects(step, how);
        let corrupted = how.fate.corrupt.map(|draw| with_wrong_bit(frame, draw));
        let frame = corrupted.as_deref().unwrap_or(frame);
        for arrival in how.arrivals.into_iter().flatten() {
            if arrival <= now.at {
                self.step(step, frame, now);
            } else if !self.held.push(arrival, frame, (step, way)) {
                if let Some(link) = self.link(way) {
                    link.leave();
                }
                self.count_drop(step.port(), Cause::Queue);
            }
        }
    }

    fn step(&mut self, step: Step, frame: &[u8], now: &mut Moment<'_>) {
        match step {
            Step::Forward { from } => self.forward(from, frame, now),
            Step::Leave { from, to } => self.enter(Way::To(to), Step::Deliver { from, to }, frame, now),
            Step::Deliver { from, to } => self.deliver(from, to, frame, now),
        }
    }

    /// Decides where a frame goes. Groups go everywhere, also those that IEEE 802.1D keeps from switches: machines may
    /// want to talk LACP or LLDP to each other.
    fn forward(&mut self, from: usize, frame: &[u8], now: &mut Moment<'_>) {
        let (Some(destination), Some(source)) = (Mac::destination(frame), Mac::source(frame)) else { return };
        self.table.learn(source, from);
        let may_be_for_switch = destination.is_group() || destination == Mac::SWITCH;
        let is_answered = may_be_for_switch && self.answer(from, frame, now);
        if destination == Mac::SWITCH {
            return;
        }
        // The router may serve DHCP, too, with addresses of its own choice.
        let deaf = self.router.filter(|_| is_answered);
        let port = if destination.is_group() { None } else { self.table.port(destination) };
        match port {
            Some(to) if to == from => {}
            Some(to) => self.cross(from, to, frame, now),
            None => {
                for to in (0..self.ports()).filter(|to| *to != from && Some(*to) != deaf) {
                    if now.outlet.is_attached(to) {
                        self.cross(from, to, frame, now);
                    }
                }
            }
        }
    }

    fn cross(&mut self, from: usize, to: usize, frame: &[u8], now: &mut Moment<'_>) {
        self.enter(Way::Between(from, to), Step::Leave { from, to }, frame, now);
    }

    /// Answers a frame that may be for the switch; gives whether it was.
    fn answer(&mut self, from: usize, frame: &[u8], now: &mut Moment<'_>) -> bool {
        let Some(answer) = self.answers.as_mut().and_then(|answers| answers.answer(from, frame)) else {
            return false;
        };
        let step = Step::Deliver { from: self.ports(), to: from };
        self.enter(Way::To(from), step, &answer, now);
        true
    }

    fn deliver(&mut self, from: usize, to: usize, frame: &[u8], now: &mut Moment<'_>) {
        let sent = now.outlet.send(to, from, frame);
        if let Some(port) = self.statistics.get_mut(to) {
            match sent {
                Ok(()) => port.sent.count(frame.len()),
                Err(cause) => port.drop(cause),
            }
        }
        let length = frame.len();
        let packet = Packet { port: to, heading: Heading::Out, at: now.at, frame, length, drop: sent.err() };
        self.capture.record(&packet);
    }

    /// A frame is on its way. It is captured where it comes in and where it leaves, not between.
    fn entered(&mut self, step: Step, frame: &[u8], at: Duration) {
        if let Step::Forward { from } = step {
            let length = frame.len();
            self.capture.record(&Packet { port: from, heading: Heading::In, at, frame, length, drop: None });
        }
    }

    /// A frame ends before `step`.
    fn dropped(&mut self, step: Step, cause: Cause, frame: &[u8], at: Duration) {
        self.count_drop(step.port(), cause);
        let heading = if matches!(step, Step::Forward { .. }) { Heading::In } else { Heading::Out };
        let length = frame.len();
        self.capture.record(&Packet { port: step.port(), heading, at, frame, length, drop: Some(cause) });
    }

    /// Counts a frame that was dropped at a port.
    pub(crate) fn count_drop(&mut self, port: usize, cause: Cause) {
        if let Some(port) = self.statistics.get_mut(port) {
            port.drop(cause);
        }
    }

    fn count_effects(&mut self, step: Step, how: &Impaired) {
        let Some(port) = self.statistics.get_mut(step.port()) else { return };
        port.effects.duplicated += u64::from(how.arrivals.iter().all(Option::is_some));
        port.effects.corrupted += u64::from(how.fate.corrupt.is_some());
        port.effects.reordered += u64::from(how.fate.reordered);
    }

    /// Another machine is at a port, or none.
    pub(crate) fn changed(&mut self, port: usize) {
        self.table.forget_port(port);
    }

    /// What was counted, with what is attached now.
    pub(crate) fn statistics(&self, outlet: &dyn Outlet) -> Statistics {
        let mut ports = self.statistics.clone();
        ports.iter_mut().zip(0..).for_each(|(port, number)| port.is_attached = outlet.is_attached(number));
        Statistics { ports, held_frames: self.held.len() }
    }
}

impl Step {
    /// The port at which a frame counts that ends before this step.
    fn port(self) -> usize {
        match self {
            Self::Forward { from } => from,
            Self::Leave { to, .. } | Self::Deliver { to, .. } => to,
        }
    }
}

/// A copy of a frame in which the bit that `draw` chooses is another.
fn with_wrong_bit(frame: &[u8], draw: u64) -> Vec<u8> {
    let mut copy = frame.to_vec();
    let bits = (frame.len() as u64 * 8).max(1);
    let bit = draw % bits;
    if let Some(byte) = copy.get_mut((bit / 8) as usize) {
        *byte ^= 1 << (bit % 8);
    }
    copy
}

#[cfg(test)]
mod tests;
