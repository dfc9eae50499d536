//! `icmp`, `rawsock`, `packet`: packets made by hand.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use harness::check::{Checked, equal, holds};
use harness::loopback::{LOCALHOST, bound};
use harness::sys::succeeded;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::net::{
    AddressFamily, Protocol, RawProtocol, RecvFlags, SendFlags, SocketType, recv, sendto, socket,
};

use crate::Worker;
use crate::kit::content;
use crate::kit::network::{comes, own_or_loopback};
use crate::kit::support::supported;
use crate::stressor::{Class, Need, Setting, Stressor, size};

const BYTES: Setting = size("bytes", "payload of a packet", 8..=8192, 56);

/// `CAP_NET_RAW`.
const NEEDS: &[Need] = &[Need::Capability(13)];

const PACKETS: Stressor =
    Stressor { classes: &[Class::Network, Class::Os], options: &[BYTES], needs: NEEDS, ..Stressor::PLAIN };

pub(super) const ICMP: Stressor = Stressor {
    name: "icmp",
    about: "echo requests to this machine: icmp(7)",
    operation: "a request and its reply",
    verifies: "the reply has identifier, sequence number and payload of the request",
    body: echo,
    ..PACKETS
};

pub(super) const RAWSOCK: Stressor = Stressor {
    name: "rawsock",
    about: "packets of a protocol of one's own over IP: raw(7)",
    operation: "a packet sent and received",
    verifies: "header and payload of what arrives",
    body: raw,
    ..PACKETS
};

pub(super) const PACKET: Stressor = Stressor {
    name: "packet",
    about: "all packets of the loopback device, seen from below: packet(7)",
    operation: "a datagram sent, and found among the packets",
    verifies: "the packet has addresses, ports and payload of the datagram",
    body: below,
    ..PACKETS
};

const LOOPBACK: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0));

/// Protocol 253 is for experiments: RFC 3692.
const EXPERIMENT: u32 = 253;

/// The internet checksum: RFC 1071.
fn checksum(bytes: &[u8]) -> u16 {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0));
    let sum: u32 = bytes.chunks(2).map(word).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

fn raw_socket(protocol: u32) -> Checked<OwnedFd> {
    own_or_loopback()?;
    let protocol = RawProtocol::new(protocol).map(Protocol::from_raw);
    supported("raw sockets", socket(AddressFamily::INET, SocketType::RAW, protocol))
}

/// The first packet with this protocol that is the wanted one, without its header of IP; others see the same packets,
/// and each sees those of others. Nothing when the worker is to end.
fn packet(
    worker: &Worker,
    from: &OwnedFd,
    protocol: u32,
    is_wanted: impl Fn(&[u8]) -> bool,
) -> Checked<Option<Vec<u8>>> {
    while comes(worker, from)? {
        let (found, packet) = next_packet(from)?;
        if u32::from(found) == protocol && is_wanted(&packet) {
            return Ok(Some(packet));
        }
    }
    Ok(None)
}

/// Protocol and content of the next packet.
fn next_packet(from: &OwnedFd) -> Checked<(u8, Vec<u8>)> {
    let mut bytes = vec![0; 65536];
    let (_, length) = recv(from, &mut bytes[..], RecvFlags::empty())?;
    bytes.truncate(length);
    let header = usize::from(bytes.first().copied().unwrap_or(0) & 15) * 4;
    holds("a packet with a header", (20..=length).contains(&header))?;
    Ok((bytes[9], bytes.split_off(header)))
}

fn echo(worker: &Worker) -> Checked {
    const REQUEST: u8 = 8;
    const REPLY: u8 = 0;
    let socket = raw_socket(1)?;
    let (size, mut random) = (worker.size(&BYTES), worker.random());
    let identifier = (std::process::id() as u16).to_be_bytes();
    let mut sequence = 0_u16;
    worker.repeat(|| {
        sequence = sequence.wrapping_add(1);
        let mut request = [&[REQUEST, 0, 0, 0], &identifier[..], &sequence.to_be_bytes()].concat();
        request.extend(content::of(size, random.next_u64(), 0));
        let sum = checksum(&request).to_be_bytes();
        request[2..4].copy_from_slice(&sum);
        equal("bytes sent", sendto(&socket, &request, SendFlags::empty(), &LOOPBACK)?, request.len())?;
        // Requests are seen as well.
        let is_reply =
            |packet: &[u8]| packet.first() == Some(&REPLY) && packet.get(4..8) == request.get(4..8);
        let Some(reply) = packet(worker, &socket, 1, is_reply)? else { return Ok(()) };
        equal("checksum of the whole reply", checksum(&reply), 0)?;
        holds("the payload", reply[8..] == request[8..])
    })
}

fn raw(worker: &Worker) -> Checked {
    let socket = raw_socket(EXPERIMENT)?;
    let (size, mut random) = (worker.size(&BYTES), worker.random());
    worker.repeat(|| {
        let seed = random.next_u64();
        let payload = content::of(size, seed, 0);
        equal("bytes sent", sendto(&socket, &payload, SendFlags::empty(), &LOOPBACK)?, size)?;
        let is_own = |packet: &[u8]| packet.get(..8) == payload.get(..8);
        let Some(packet) = packet(worker, &socket, EXPERIMENT, is_own)? else { return Ok(()) };
        content::verify("the payload", &packet, seed, 0)
    })
}

/// The number of `lo`.
const LO: u32 = 1;

/// `ETH_P_IP` in network order.
const IP: u16 = (libc::ETH_P_IP as u16).to_be();

fn packet_socket() -> Checked<OwnedFd> {
    let protocol = RawProtocol::new(IP.into()).map(Protocol::from_raw);
    let socket = supported("packet sockets", socket(AddressFamily::PACKET, SocketType::DGRAM, protocol))?;
    // SAFETY: all zeroes is a valid address.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    (address.sll_family, address.sll_protocol) = (libc::AF_PACKET as u16, IP);
    address.sll_ifindex = LO.cast_signed();
    let size = libc::socklen_t::try_from(size_of::<libc::sockaddr_ll>()).unwrap_or(0);
    // SAFETY: the address is valid and has the given size.
    succeeded(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size) })?;
    Ok(socket)
}

fn below(worker: &Worker) -> Checked {
    own_or_loopback()?;
    let watching = packet_socket()?;
    let ((sender, from), (_receiver, to)) =
        (bound(LOCALHOST, SocketType::DGRAM)?, bound(LOCALHOST, SocketType::DGRAM)?);
    let (size, mut random) = (worker.size(&BYTES), worker.random());
    worker.repeat(|| {
        let seed = random.next_u64();
        sendto(&sender, &content::of(size, seed, 0), SendFlags::empty(), &to)?;
        let ports = [from.port().to_be_bytes(), to.port().to_be_bytes()].concat();
        let sent = content::of(size, seed, 0);
        // It is seen twice, going out and coming in; what is left of the one before is passed over.
        let is_own =
            |packet: &[u8]| packet.get(..4) == Some(&ports[..]) && packet.get(8..16) == sent.get(..8);
        let Some(packet) = packet(worker, &watching, 17, is_own)? else { return Ok(()) };
        equal("size of the packet", packet.len(), size + 8)?;
        content::verify("the payload", &packet[8..], seed, 0)
    })
}
