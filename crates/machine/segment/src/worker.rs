//! The thread of a segment: it waits for frames, times and commands, and serves all ports in turn.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::port::{Ports, Received};
use crate::statistics::Cause;
use crate::switch::{Moment, Switch, Way};

/// Frames of one port in each round, so that a flood from one does not keep those of another waiting.
const BATCH: usize = 32;

/// Frames whose time has come, in each round.
const RELEASED: usize = 1024;

/// What the switch and the ports are asked to do between two rounds.
pub(crate) type Command = Box<dyn FnOnce(&mut State) + Send>;

/// All that a segment is.
pub(crate) struct State {
    /// What decides.
    pub(crate) switch: Switch,
    /// Where frames come from and go to.
    pub(crate) ports: Ports,
    start: Instant,
}

impl State {
    /// A segment that begins now.
    pub(crate) fn new(switch: Switch, ports: Ports) -> Self {
        Self { switch, ports, start: Instant::now() }
    }

    /// Cuts one direction of a link, or heals it. What waits on it is lost.
    pub(crate) fn cut(&mut self, way: Way, is_cut: bool) {
        if let Some(link) = self.switch.link(way) {
            link.cut(is_cut);
        }
        let (to, lost) = match way {
            Way::To(to) if is_cut => (to, self.ports.purge(to, None)),
            Way::Between(from, to) if is_cut => (to, self.ports.purge(to, Some(from))),
            _ => return,
        };
        (0..lost).for_each(|_| self.switch.count_drop(to, Cause::Cut));
    }

    /// Takes the machine away from a port.
    pub(crate) fn detach(&mut self, port: usize) {
        self.ports.detach(port);
        self.switch.changed(port);
    }

    fn release(&mut self) {
        let mut now = Moment { at: self.start.elapsed(), outlet: &mut self.ports };
        self.switch.release(RELEASED, &mut now);
    }

    /// How long nothing is to be done.
    fn pause(&self) -> Option<Duration> {
        Some(self.switch.next()?.saturating_sub(self.start.elapsed()))
    }

    fn serve(&mut self, port: usize, ready: PollFlags, buffer: &mut [u8]) {
        if ready.contains(PollFlags::OUT) {
            let lost = self.ports.flush(port);
            (0..lost).for_each(|_| self.switch.count_drop(port, Cause::Detached));
        }
        let is_broken = ready.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL);
        let last = if is_broken || ready.contains(PollFlags::IN) {
            self.take(port, buffer)
        } else {
            Received::Nothing
        };
        // Otherwise poll(2) would report it for ever.
        if last == Received::Gone || is_broken && last == Received::Nothing {
            self.detach(port);
        }
    }

    /// Takes up to a batch of frames; gives what came last.
    fn take(&mut self, port: usize, buffer: &mut [u8]) -> Received {
        let at = self.start.elapsed();
        let mut last = Received::Nothing;
        for _ in 0..BATCH {
            last = self.ports.receive(port, buffer);
            let Received::Frame(length) = last else { break };
            let frame = buffer.get(..length).unwrap_or(buffer);
            let mut now = Moment { at, outlet: &mut self.ports };
            self.switch.receive(port, frame, length, &mut now);
        }
        last
    }
}

/// Works until nobody has commands any more. `wake` is written whenever there is one; frames have `frame_max` bytes.
pub(crate) fn work(mut state: State, commands: &Receiver<Command>, wake: &OwnedFd, frame_max: usize) {
    let mut buffer = vec![0; frame_max];
    let mut ready = Vec::new();
    for round in 0usize.. {
        loop {
            match commands.try_recv() {
                Ok(command) => command(&mut state),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return,
            }
        }
        state.release();
        wait(&state, wake, &mut ready);
        // Each port is the first one in its turn.
        let first = round.checked_rem(ready.len()).unwrap_or_default();
        ready.rotate_left(first);
        for &(port, flags) in &ready {
            state.serve(port, flags, &mut buffer);
        }
    }
}

/// Waits until something is to be done, and fills `ready` with the ports where it is.
fn wait(state: &State, wake: &OwnedFd, ready: &mut Vec<(usize, PollFlags)>) {
    let mut polled = vec![PollFd::from_borrowed_fd(wake.as_fd(), PollFlags::IN)];
    ready.clear();
    for (port, socket, flags) in state.ports.sockets() {
        polled.push(PollFd::from_borrowed_fd(socket, flags));
        ready.push((port, PollFlags::empty()));
    }
    let pause = state.pause().and_then(|pause| Timespec::try_from(pause).ok());
    // An error is EINTR, or ENOMEM, which may pass.
    if poll(&mut polled, pause.as_ref()).is_err() {
        ready.clear();
        return;
    }
    let mut polled = polled.iter();
    if polled.next().is_some_and(|wake| !wake.revents().is_empty()) {
        // What it says is in the channel.
        let _ = rustix::io::read(wake, &mut [0; 8]);
    }
    for ((_, flags), polled) in ready.iter_mut().zip(polled) {
        *flags = polled.revents();
    }
    ready.retain(|(_, flags)| !flags.is_empty());
}
