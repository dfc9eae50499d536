//! A way out of a segment: QEMU's user-mode network, in a QEMU without a machine.

use std::io::{self, Read};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::error::Error;
use crate::host::QemuProgram;
use crate::vmm::Raw;
use crate::vmm::launch::socket_pair;
use crate::vmm::process::{Process, end_with_kiln};

/// How long QEMU may take to come up on a host that does much else.
const LIMIT: Duration = Duration::from_secs(60);

/// A program that forwards what machines send to the outside. It ends when this is dropped.
#[derive(Debug)]
pub struct Gateway {
    _process: Process,
    events: Mutex<Receiver<Raw>>,
}

/// Its addresses on the segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    /// The network, such as `10.77.0.0/24`.
    pub network: String,
    /// Its own. To machines, it is also this host's.
    pub gateway: Ipv4Addr,
    /// Where it forwards DNS to the resolver of this host.
    pub resolver: Ipv4Addr,
}

impl Gateway {
    /// Starts it at the end of a cable, a datagram socket of which each datagram is a frame, and waits until it forwards.
    ///
    /// # Errors
    ///
    /// When QEMU is missing or does not come up.
    pub fn start(cable: OwnedFd, addresses: &Addresses) -> Result<Self, Error> {
        let (own, its) = socket_pair()?;
        own.set_read_timeout(Some(LIMIT)).map_err(|source| Error::host("socket", source))?;
        let mut command = Command::new(QemuProgram::locate()?);
        command.args(arguments(addresses, cable.as_raw_fd(), its.as_raw_fd()));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        end_with_kiln(&mut command);
        let (sender, events) = sync_channel(1);
        let process = Process::start(command, vec![cable, its.into()], sender)?;
        // It greets when everything is connected.
        match (&own).read_exact(&mut [0; 1]) {
            Ok(()) => Ok(Self { _process: process, events: Mutex::new(events) }),
            Err(source) if source.kind() == io::ErrorKind::UnexpectedEof => Err(failed(why(&events))),
            Err(source) if source.kind() == io::ErrorKind::WouldBlock => Err(failed(silent())),
            Err(source) => Err(failed(source)),
        }
    }

    /// How it ended, if it has: then it forwards nothing.
    #[must_use]
    pub fn end(&self) -> Option<String> {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        match events.try_recv() {
            Ok(Raw::Exited(exit)) => Some(format!("QEMU: {exit}")),
            // That was said before.
            Err(TryRecvError::Disconnected) => Some("QEMU ended".to_string()),
            Ok(_) | Err(TryRecvError::Empty) => None,
        }
    }
}

fn failed(source: io::Error) -> Error {
    Error::host("a way out of the segment", source)
}

/// How it ended.
fn why(events: &Receiver<Raw>) -> io::Error {
    match events.recv_timeout(LIMIT) {
        Ok(Raw::Exited(exit)) => io::Error::other(format!("QEMU: {exit}")),
        _ => silent(),
    }
}

fn silent() -> io::Error {
    io::Error::other("QEMU does not answer")
}

/// A hub joins the cable and the network. Machines have no IPv6 addresses, so there is none outside.
fn arguments(addresses: &Addresses, cable: i32, monitor: i32) -> Vec<String> {
    let Addresses { network, gateway, resolver } = addresses;
    let words = [
        "-nodefaults -no-user-config -display none -machine none".to_string(),
        format!("-chardev socket,id=qmp,fd={monitor} -mon chardev=qmp,mode=control"),
        format!("-netdev user,id=outside,net={network},host={gateway},dns={resolver},ipv6=off"),
        format!("-netdev dgram,id=cable,local.type=fd,local.str={cable}"),
        "-netdev hubport,id=outside-port,hubid=0,netdev=outside".to_string(),
        "-netdev hubport,id=cable-port,hubid=0,netdev=cable".to_string(),
    ];
    words.join(" ").split(' ').map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_that_does_not_come_up_says_why() {
        let cable = socket_pair().unwrap().0.into();
        let network = "no-network".to_string();
        let [gateway, resolver] = [Ipv4Addr::LOCALHOST; 2];
        let error = Gateway::start(cable, &Addresses { network, gateway, resolver }).unwrap_err().to_string();
        assert!(error.starts_with("a way out of the segment: QEMU: "), "{error}");
    }
}
