//! What happens to all processes: the kernel's process connector, `CONFIG_PROC_EVENTS`.
//!
//! * [`message`]: what the kernel sends
//! * [`losses`]: what it could not send

mod losses;
mod message;

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::netlink::{CONNECTOR, SocketAddrNetlink};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_recv_buffer_size_force};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recvfrom, send, socket_with,
};

use crate::error::Error;
use crate::event::Event;
use losses::Losses;

/// What the kernel may keep until it is read: some 300,000 events.
const BUFFER: usize = 32 << 20;

/// Most bytes of a message: the largest event has 40, and headers of 36 before it.
const MESSAGE_MAX: usize = 4096;

/// Hears what happens to processes.
#[derive(Debug)]
pub struct Connector {
    socket: OwnedFd,
    losses: Losses,
}

impl Connector {
    /// Begins to listen.
    ///
    /// # Errors
    ///
    /// When the kernel has no process connector, or does not let this process hear it.
    pub fn new() -> Result<Self, Error> {
        let connect = || -> rustix::io::Result<OwnedFd> {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let socket = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, Some(CONNECTOR))?;
            // Without privileges the kernel's limit holds; what is lost is counted.
            set_socket_recv_buffer_size_force(&socket, BUFFER)
                .or_else(|_| set_socket_recv_buffer_size(&socket, BUFFER))?;
            bind(&socket, &SocketAddrNetlink::new(0, message::GROUP))?;
            send(&socket, &message::listen(), SendFlags::empty())?;
            Ok(socket)
        };
        let socket = connect().map_err(|error| Error::Connector(error.into()))?;
        let mut connector = Self { socket, losses: Losses::default() };
        connector.wait_for_answer()?;
        Ok(connector)
    }

    /// The kernel answers, or refuses, within a system call; outside of the first PID namespace it does not answer.
    fn wait_for_answer(&mut self) -> Result<(), Error> {
        const LIMIT: Duration = Duration::from_secs(1);
        self.wait(LIMIT).map_err(Error::Connector)?;
        match self.receive().map_err(Error::Connector)? {
            Some(message::Message::Refusal(code)) => {
                Err(Error::Connector(io::Error::from_raw_os_error(code)))
            }
            Some(_) => Ok(()),
            None => Err(Error::Connector(io::ErrorKind::TimedOut.into())),
        }
    }

    /// Waits until there are events, at most for a time.
    ///
    /// # Errors
    ///
    /// When poll(2) fails.
    pub fn wait(&self, limit: Duration) -> io::Result<()> {
        let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&self.socket.as_fd(), PollFlags::IN)], Some(&limit)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The next event that is there.
    ///
    /// # Errors
    ///
    /// When the socket fails.
    pub fn next_event(&mut self) -> io::Result<Option<Event>> {
        loop {
            match self.receive()? {
                Some(message::Message::Event { event, cpu, sequence }) => {
                    self.losses.see(cpu, sequence);
                    return Ok(Some(event));
                }
                Some(message::Message::Other { cpu, sequence }) => self.losses.see(cpu, sequence),
                Some(message::Message::Answer | message::Message::Refusal(_)) => {}
                None => return Ok(None),
            }
        }
    }

    /// How many events the kernel could not send, of all before the last one that was received.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.losses.count()
    }

    fn receive(&self) -> io::Result<Option<message::Message>> {
        let mut buffer = [MaybeUninit::uninit(); MESSAGE_MAX];
        loop {
            let (bytes, sender) = match recvfrom(&self.socket, &mut buffer, RecvFlags::empty()) {
                Ok(((bytes, _), _, sender)) => (&*bytes, sender),
                // Events were lost. The numbers of the next ones say how many.
                Err(Errno::NOBUFS | Errno::INTR) => continue,
                Err(Errno::AGAIN) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            // Other processes may send to the same group.
            let sender = sender.and_then(|sender| SocketAddrNetlink::try_from(sender).ok());
            if sender.is_some_and(|sender| sender.pid() == 0)
                && let Some(message) = message::parse(bytes)
            {
                return Ok(Some(message));
            }
        }
    }
}
