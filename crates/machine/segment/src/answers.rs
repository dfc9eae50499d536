//! What the switch itself answers, so that stock user spaces come up: ARP, DHCP, DNS and echo requests.
//!
//! It speaks from the first address of the network. It answers frames without I/O, and only whole and undamaged ones.

mod dhcp;
mod dns;
mod leases;
mod names;

use std::net::Ipv4Addr;

use etherparse::checksum::Sum16BitWords;
use etherparse::{
    ArpEthIpv4Packet, ArpOperation, ArpPacketSlice, EtherType, Icmpv4Slice, Icmpv4Type, Ipv4Slice, NetSlice,
    PacketBuilder, PacketBuilderStep, SlicedPacket, TransportSlice, UdpHeader, UdpSlice,
};

use crate::mac::Mac;
use crate::settings::{Network, Settings};
use dhcp::{Kind, Reply, Request};
use leases::Leases;
use names::Names;

/// Ports of UDP: RFC 2131 and RFC 1035.
const DHCP_SERVER: u16 = 67;
const DHCP_CLIENT: u16 = 68;
const DNS: u16 = 53;

/// What Linux sends with.
const TTL: u8 = 64;

/// Answers frames for the address of the switch.
#[derive(Debug)]
pub struct Answers {
    network: Network,
    /// What each lease says beside the address: DHCP options.
    options: Vec<(u8, Vec<u8>)>,
    leases: Leases,
    names: Names,
}

/// Where an answer over UDP goes.
#[derive(Clone, Copy)]
struct Destination {
    mac: Mac,
    address: Ipv4Addr,
    port: u16,
}

impl Answers {
    /// Answers as the settings of a segment have it.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let network = settings.network;
        Self {
            network,
            options: dhcp::options(settings),
            leases: Leases::new(settings),
            names: Names::new(settings),
        }
    }

    /// The frame that answers `frame`, which came from the machine at the port with this number.
    pub fn answer(&mut self, port: usize, frame: &[u8]) -> Option<Vec<u8>> {
        let packet = SlicedPacket::from_ethernet(frame).ok()?;
        let source = Mac::source(frame)?;
        if !packet.link_exts.is_empty() {
            // The switch is on no VLAN.
            return None;
        }
        match (packet.net?, packet.transport) {
            (NetSlice::Arp(arp), _) => self.arp(source, &arp),
            (NetSlice::Ipv4(ip), _) if is_damaged(&ip) => None,
            (NetSlice::Ipv4(ip), Some(TransportSlice::Udp(udp))) => self.udp(port, source, &ip, &udp),
            (NetSlice::Ipv4(ip), Some(TransportSlice::Icmpv4(icmp))) => self.echo(source, &ip, &icmp),
            _ => None,
        }
    }

    /// Says which interface has the address of the switch.
    fn arp(&self, source: Mac, arp: &ArpPacketSlice<'_>) -> Option<Vec<u8>> {
        let asked = arp.to_packet().try_eth_ipv4().ok()?;
        let own = self.network.switch();
        if asked.operation != ArpOperation::REQUEST || asked.target_ipv4_addr() != own {
            return None;
        }
        let reply = ArpEthIpv4Packet {
            operation: ArpOperation::REPLY,
            sender_mac: Mac::SWITCH.0,
            sender_ipv4: own.octets(),
            target_mac: asked.sender_mac,
            target_ipv4: asked.sender_ipv4,
        };
        let [high, low] = EtherType::ARP.0.to_be_bytes();
        Some([&source.0[..], &Mac::SWITCH.0, &[high, low], &reply.to_bytes()].concat())
    }

    fn echo(&self, source: Mac, ip: &Ipv4Slice<'_>, icmp: &Icmpv4Slice<'_>) -> Option<Vec<u8>> {
        let Icmpv4Type::EchoRequest(echo) = icmp.icmp_type() else { return None };
        let header = ip.header();
        if header.destination_addr() != self.network.switch()
            || icmp.icmp_type().calc_checksum(icmp.payload()) != icmp.checksum()
        {
            return None;
        }
        let builder = self.builder(source, header.source_addr()).icmpv4_echo_reply(echo.id, echo.seq);
        let mut frame = Vec::with_capacity(builder.size(icmp.payload().len()));
        builder.write_to_vec(&mut frame, icmp.payload()).ok()?;
        Some(frame)
    }

    fn udp(&mut self, port: usize, source: Mac, ip: &Ipv4Slice<'_>, udp: &UdpSlice<'_>) -> Option<Vec<u8>> {
        let (from, to) = (ip.header().source_addr(), ip.header().destination_addr());
        if is_damaged_udp(udp, from, to) {
            return None;
        }
        let own = self.network.switch();
        let is_everybody = to == Ipv4Addr::BROADCAST || to == self.network.broadcast();
        match udp.destination_port() {
            DHCP_SERVER if to == own || is_everybody => {
                let (destination, payload) = self.dhcp(port, udp.payload())?;
                self.datagram(destination, DHCP_SERVER, &payload)
            }
            DNS if to == own => {
                let payload = dns::answer(udp.payload(), &self.names)?;
                let destination = Destination { mac: source, address: from, port: udp.source_port() };
                self.datagram(destination, DNS, &payload)
            }
            _ => None,
        }
    }

    /// Answers a client of DHCP (RFC 2131, section 4.3).
    fn dhcp(&mut self, port: usize, payload: &[u8]) -> Option<(Destination, Vec<u8>)> {
        let request = Request::parse(payload)?;
        let own = self.network.switch();
        if request.server.is_some_and(|server| server != own) {
            // The client took the offer of another server.
            return None;
        }
        let lease = self.leases.address(request.mac, port);
        let (kind, address) = match request.kind {
            Kind::Discover => (Kind::Offer, Some(lease?)),
            Kind::Request if lease.is_some() && request.wanted() == lease => (Kind::Ack, lease),
            Kind::Request => (Kind::Nak, None),
            Kind::Inform => (Kind::Ack, None),
            _ => return None,
        };
        let name = self.leases.name(request.mac);
        let reply = Reply { kind, address, server: own, name, options: &self.options };
        let destination = match (kind, request.client, address) {
            (Kind::Nak, ..) => Ipv4Addr::BROADCAST,
            (_, Some(client), _) => client,
            (_, _, Some(address)) if !request.wants_broadcast => address,
            _ => Ipv4Addr::BROADCAST,
        };
        let mac = if destination.is_broadcast() { Mac::BROADCAST } else { request.mac };
        Some((Destination { mac, address: destination, port: DHCP_CLIENT }, reply.to_bytes(&request)))
    }

    fn datagram(&self, to: Destination, from: u16, payload: &[u8]) -> Option<Vec<u8>> {
        let builder = self.builder(to.mac, to.address).udp(from, to.port);
        let mut frame = Vec::with_capacity(builder.size(payload.len()));
        builder.write_to_vec(&mut frame, payload).ok()?;
        Some(frame)
    }

    /// A packet from the switch.
    fn builder(&self, mac: Mac, address: Ipv4Addr) -> PacketBuilderStep<etherparse::IpHeaders> {
        let own = self.network.switch().octets();
        PacketBuilder::ethernet2(Mac::SWITCH.0, mac.0).ipv4(own, address.octets(), TTL)
    }
}

/// Whether a bit of the header is wrong: a link may do that. The sum of a header with its checksum is zero.
fn is_damaged(ip: &Ipv4Slice<'_>) -> bool {
    Sum16BitWords::new().add_slice(ip.header().slice()).ones_complement() != 0
}

/// Whether a bit of a datagram is wrong. A checksum of zero is none (RFC 768).
fn is_damaged_udp(udp: &UdpSlice<'_>, from: Ipv4Addr, to: Ipv4Addr) -> bool {
    let header: UdpHeader = udp.to_header();
    let sum = header.calc_checksum_ipv4_raw(from.octets(), to.octets(), udp.payload());
    header.checksum != 0 && sum != Ok(header.checksum)
}

#[cfg(test)]
mod tests;
