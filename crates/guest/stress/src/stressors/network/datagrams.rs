//! `udp`, `udp-flood`: datagrams.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use harness::check::{Checked, equal, holds};
use harness::clock::monotonic;
use harness::loopback::{LOCALHOST, bound};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, connect, recv, recvfrom, sendto, socket};

use crate::Worker;
use crate::kit::content;
use crate::kit::network::{comes, is_refused, own_or_loopback};
use crate::stressor::{Class, Figure, Setting, Stressor, size};

const BYTES: Setting = size("bytes", "largest datagram", 1..=65507, 1400);
const SENT: Figure = Figure::new("datagrams", "1/s");

pub(super) const UDP: Stressor = Stressor {
    name: "udp",
    classes: &[Class::Network, Class::Os],
    about: "datagrams of all sizes over the loopback device: udp(7)",
    operation: "a datagram there and one back",
    verifies: "size, content and sender of each datagram",
    options: &[BYTES],
    body: round_trip,
    ..Stressor::PLAIN
};

pub(super) const UDP_FLOOD: Stressor = Stressor {
    name: "udp-flood",
    classes: &[Class::Network, Class::Os],
    about: "datagrams to ports at which nobody listens, as fast as they can be sent",
    operation: "a datagram sent",
    verifies: "a connected socket is told ECONNREFUSED, and what is sent to a listener arrives",
    rates: &[SENT],
    body: flood,
    ..Stressor::PLAIN
};

fn round_trip(worker: &Worker) -> Checked {
    own_or_loopback()?;
    let (most, mut random) = (worker.size(&BYTES), worker.random());
    let ((here, here_address), (there, there_address)) =
        (bound(LOCALHOST, SocketType::DGRAM)?, bound(LOCALHOST, SocketType::DGRAM)?);
    worker.repeat(|| {
        let legs =
            [(&here, &there, here_address, there_address), (&there, &here, there_address, here_address)];
        for (from, to, sender, target) in legs {
            let (size, seed) = (random.below(most + 1), random.next_u64());
            equal(
                "bytes sent",
                sendto(from, &content::of(size, seed, 0), SendFlags::empty(), &target)?,
                size,
            )?;
            if !comes(worker, to)? {
                return Ok(());
            }
            let mut bytes = vec![0; most + 1];
            let (_, length, address) = recvfrom(to, &mut bytes[..], RecvFlags::empty())?;
            equal("size", length, size)?;
            content::verify("the datagram", &bytes[..size], seed, 0)?;
            let address = address.and_then(|address| SocketAddr::try_from(address).ok());
            equal("the sender", address, Some(sender))?;
        }
        Ok(())
    })
}

/// Datagrams between two that are verified.
const FLOOD: u64 = 256;

fn flood(worker: &Worker) -> Checked {
    own_or_loopback()?;
    let flooding = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    let (listener, address) = bound(LOCALHOST, SocketType::DGRAM)?;
    let (deaf, deaf_address) = bound(LOCALHOST, SocketType::DGRAM)?;
    // Nobody gets the port again while this worker has a network of its own; else it is likely to stay free.
    drop(deaf);
    let refused = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    connect(&refused, &deaf_address)?;
    let (begun, mut sent) = (monotonic(), 0_u64);
    let mut port = 1024_u16;
    while worker.goes_on() {
        port = if port == u16::MAX { 1024 } else { port + 1 };
        if port == address.port() {
            continue;
        }
        let target = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port));
        // A full queue drops datagrams; that is what a flood is for.
        match sendto(&flooding, b"flood", SendFlags::DONTWAIT, &target) {
            Ok(_) | Err(Errno::AGAIN | Errno::NOBUFS | Errno::CONNREFUSED) => {}
            Err(error) => return Err(error.into()),
        }
        if sent.is_multiple_of(FLOOD) {
            verify(worker, &listener, &refused, address)?;
        }
        sent += 1;
        worker.count();
    }
    worker.rate(&SENT, sent as f64 * 1e9 / (monotonic() - begun).max(1) as f64);
    Ok(())
}

fn verify(
    worker: &Worker,
    listener: &rustix::fd::OwnedFd,
    refused: &rustix::fd::OwnedFd,
    address: SocketAddr,
) -> Checked {
    let sender = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    equal("bytes sent", sendto(&sender, b"heard", SendFlags::empty(), &address)?, 5)?;
    if !comes(worker, listener)? {
        return Ok(());
    }
    let mut bytes = [0; 16];
    let (_, length) = recv(listener, &mut bytes[..], RecvFlags::empty())?;
    holds("what the listener gets", bytes[..length] == *b"heard")?;
    is_refused(worker, refused)
}
