//! The sockets: one end of a pair for each machine, and a short queue for frames that a machine does not take yet.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair};

use crate::statistics::Cause;
use crate::switch::Outlet;

/// Bytes of frames that wait for a machine at most, in user space: 2 MiB. The socket holds about a hundred frames more
/// (`net.core.wmem_default`). A port that sends to one that is slow has an equal part of it, so that it takes nothing from
/// the others.
const QUEUE_BYTES: usize = 2 << 20;

/// What a waiting frame costs beside its bytes.
const OVERHEAD: usize = 64;

/// The value of QEMU's option `-netdev` for the end of a machine, which it inherits as descriptor `number`.
///
/// QEMU has this backend since 7.2. Observed with 7.2: if the socket is full it waits until it can be written, and the
/// guest's ring fills up; if the switch is gone it drops the guest's frames. It neither blocks, spins nor exits.
#[must_use]
pub fn netdev(id: &str, number: RawFd) -> String {
    format!("dgram,id={id},local.type=fd,local.str={number}")
}

/// What came from a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// A frame of so many bytes, of which those that fit are in the buffer.
    Frame(usize),
    /// Nothing more for now.
    Nothing,
    /// An error that will not pass.
    Gone,
}

/// What became of a frame.
enum Sent {
    Taken,
    Full,
    Gone,
}

/// The end of the switch for one machine.
struct Port {
    socket: OwnedFd,
    /// Each with the port that it came from.
    queue: VecDeque<(usize, Box<[u8]>)>,
    /// The bytes in it, by the port that they came from.
    waiting: Vec<usize>,
}

/// All ports of a segment.
pub(crate) struct Ports {
    ports: Vec<Option<Port>>,
    /// Bytes of one port that may wait at another.
    share: usize,
}

impl Ports {
    /// So many ports, without machines.
    pub(crate) fn new(count: usize) -> Self {
        Self { ports: std::iter::repeat_with(|| None).take(count).collect(), share: QUEUE_BYTES }
    }

    /// Makes a pair of sockets for a port, in place of the one that it has, and gives the end for the machine.
    pub(crate) fn attach(&mut self, number: usize) -> io::Result<OwnedFd> {
        let (socket, machine) =
            socketpair(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
        // The last one is the switch itself.
        let waiting = vec![0; self.ports.len() + 1];
        if let Some(port) = self.ports.get_mut(number) {
            *port = Some(Port { socket, queue: VecDeque::new(), waiting });
        }
        self.divide();
        Ok(machine)
    }

    /// Takes the machine away from a port.
    pub(crate) fn detach(&mut self, number: usize) {
        if let Some(port) = self.ports.get_mut(number) {
            *port = None;
        }
        self.divide();
    }

    fn divide(&mut self) {
        let attached = self.ports.iter().flatten().count();
        self.share = QUEUE_BYTES / attached.saturating_sub(1).max(1);
    }

    /// The sockets with their ports, and what each waits for.
    pub(crate) fn sockets(&self) -> impl Iterator<Item = (usize, BorrowedFd<'_>, PollFlags)> {
        self.ports.iter().enumerate().filter_map(|(number, port)| {
            let port = port.as_ref()?;
            let flags = if port.queue.is_empty() { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT };
            Some((number, port.socket.as_fd(), flags))
        })
    }

    /// Reads a frame.
    pub(crate) fn receive(&self, number: usize, buffer: &mut [u8]) -> Received {
        let Some(port) = self.ports.get(number).and_then(Option::as_ref) else { return Received::Nothing };
        // The length of a frame that is longer than the buffer is not cut off.
        match recv(&port.socket, buffer, RecvFlags::DONTWAIT | RecvFlags::TRUNC) {
            Ok((_, length)) => Received::Frame(length),
            Err(Errno::AGAIN | Errno::INTR) => Received::Nothing,
            Err(_) => Received::Gone,
        }
    }

    /// Sends what waits at a port, as far as the machine takes it. Gives the number of frames that are lost because the
    /// machine is gone.
    pub(crate) fn flush(&mut self, number: usize) -> usize {
        self.ports.get_mut(number).and_then(Option::as_mut).map_or(0, Port::flush)
    }

    /// Forgets what waits at a port, from all ports or from one. Gives the number of frames.
    pub(crate) fn purge(&mut self, to: usize, from: Option<usize>) -> usize {
        let Some(port) = self.ports.get_mut(to).and_then(Option::as_mut) else { return 0 };
        let before = port.queue.len();
        let is_lost = |source| from.is_none_or(|from| source == from);
        port.queue.retain(|(source, _)| !is_lost(*source));
        port.waiting
            .iter_mut()
            .zip(0..)
            .filter(|(_, source)| is_lost(*source))
            .for_each(|(bytes, _)| *bytes = 0);
        before - port.queue.len()
    }
}

impl Outlet for Ports {
    fn is_attached(&self, port: usize) -> bool {
        self.ports.get(port).is_some_and(Option::is_some)
    }

    fn send(&mut self, to: usize, from: usize, frame: &[u8]) -> Result<(), Cause> {
        let port = self.ports.get_mut(to).and_then(Option::as_mut).ok_or(Cause::Detached)?;
        if port.queue.is_empty() {
            match port.try_send(frame) {
                Sent::Taken => return Ok(()),
                Sent::Gone => return Err(Cause::Detached),
                Sent::Full => {}
            }
        }
        if port.keep(from, frame, self.share) { Ok(()) } else { Err(Cause::Congestion) }
    }
}

impl Port {
    /// QEMU takes an empty datagram for the end of the connection, but no frame is empty.
    fn try_send(&self, frame: &[u8]) -> Sent {
        loop {
            match send(&self.socket, frame, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(_) => return Sent::Taken,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN | Errno::NOBUFS) => return Sent::Full,
                Err(_) => return Sent::Gone,
            }
        }
    }

    /// Lets a frame wait; false if those from its port already take their share.
    fn keep(&mut self, from: usize, frame: &[u8], share: usize) -> bool {
        let Some(waiting) = self.waiting.get_mut(from) else { return false };
        let bytes = *waiting + frame.len() + OVERHEAD;
        if bytes > share {
            return false;
        }
        *waiting = bytes;
        self.queue.push_back((from, frame.into()));
        true
    }

    fn flush(&mut self) -> usize {
        while let Some((from, frame)) = self.queue.front() {
            match self.try_send(frame) {
                Sent::Taken => {
                    if let Some(waiting) = self.waiting.get_mut(*from) {
                        *waiting = waiting.saturating_sub(frame.len() + OVERHEAD);
                    }
                    self.queue.pop_front();
                }
                Sent::Full => return 0,
                Sent::Gone => {
                    self.waiting.fill(0);
                    return std::mem::take(&mut self.queue).len();
                }
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_machine_does_not_take_waits_and_is_limited() {
        let mut ports = Ports::new(3);
        let machine = ports.attach(0).unwrap();
        let _others = [ports.attach(1).unwrap(), ports.attach(2).unwrap()];
        let mut sent = 0u32;
        while ports.send(0, 1, &sent.to_be_bytes()).is_ok() {
            sent += 1;
        }
        let waiting = ports.ports[0].as_ref().unwrap().queue.len();
        // Half of it, for two others are attached.
        assert_eq!(waiting, QUEUE_BYTES / 2 / (4 + OVERHEAD));
        // The other port still has its part.
        assert_eq!(ports.send(0, 1, b"late"), Err(Cause::Congestion));
        assert_eq!(ports.send(0, 2, b"other"), Ok(()));
        assert_eq!(ports.purge(0, Some(2)), 1);
        for wanted in 0..sent {
            let mut bytes = [0; 9];
            assert_eq!(recv(&machine, &mut bytes, RecvFlags::DONTWAIT).unwrap().1, 4);
            assert_eq!(bytes[..4], wanted.to_be_bytes());
            assert_eq!(ports.flush(0), 0);
        }
        assert!(ports.ports[0].as_ref().unwrap().waiting.iter().all(|bytes| *bytes == 0));
        assert_eq!(ports.purge(0, None), 0);
    }

    #[test]
    fn a_machine_that_is_gone_takes_nothing() {
        let mut ports = Ports::new(1);
        assert_eq!(ports.send(0, 0, b"x"), Err(Cause::Detached));
        drop(ports.attach(0).unwrap());
        assert_eq!(ports.send(0, 0, b"x"), Err(Cause::Detached));
        let machine = ports.attach(0).unwrap();
        while ports.send(0, 0, b"x").is_ok() {}
        drop(machine);
        assert_eq!(ports.flush(0), QUEUE_BYTES / (1 + OVERHEAD));
        assert_eq!(ports.purge(0, None), 0);
        assert_eq!(ports.receive(0, &mut [0; 9]), Received::Nothing);
    }

    #[test]
    fn qemu_takes_the_end_of_a_machine_by_its_number() {
        assert_eq!(netdev("lan", 7), "dgram,id=lan,local.type=fd,local.str=7");
    }

    #[test]
    fn a_long_frame_has_its_whole_length() {
        let mut ports = Ports::new(1);
        let machine = ports.attach(0).unwrap();
        send(&machine, &[1; 50], SendFlags::empty()).unwrap();
        assert_eq!(ports.receive(0, &mut [0; 9]), Received::Frame(50));
    }
}
