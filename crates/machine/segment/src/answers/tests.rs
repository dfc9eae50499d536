//! Frames of guests and what the switch says to them.

use proptest::prelude::*;

use super::*;

const A: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
const SWITCH: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);

fn answers() -> Answers {
    let mut settings = Settings::new("lan", 1);
    settings.add("a").unwrap();
    settings.add("b").unwrap();
    Answers::new(&settings)
}

fn arp(target: Ipv4Addr) -> Vec<u8> {
    let request = ArpEthIpv4Packet {
        operation: ArpOperation::REQUEST,
        sender_mac: Mac::of_machine(0).0,
        sender_ipv4: A.octets(),
        target_mac: [0; 6],
        target_ipv4: target.octets(),
    };
    let mut frame = Vec::new();
    let builder = PacketBuilder::ethernet2(Mac::of_machine(0).0, Mac::BROADCAST.0).arp(request.into());
    builder.write_to_vec(&mut frame).unwrap();
    frame
}

fn ping(to: Ipv4Addr) -> Vec<u8> {
    let mut frame = Vec::new();
    let builder = PacketBuilder::ethernet2(Mac::of_machine(0).0, Mac::SWITCH.0)
        .ipv4(A.octets(), to.octets(), 64)
        .icmpv4_echo_request(7, 8);
    builder.write_to_vec(&mut frame, b"some bytes").unwrap();
    frame
}

#[test]
fn the_switch_has_its_own_address_and_no_other() {
    let reply = answers().answer(0, &arp(SWITCH)).unwrap();
    assert_eq!(Mac::destination(&reply), Some(Mac::of_machine(0)));
    let SlicedPacket { net: Some(NetSlice::Arp(arp)), .. } = SlicedPacket::from_ethernet(&reply).unwrap()
    else {
        panic!("{reply:?}")
    };
    let said = arp.to_packet().try_eth_ipv4().unwrap();
    assert_eq!((said.operation, said.sender_ipv4_addr()), (ArpOperation::REPLY, SWITCH));
    assert_eq!((said.sender_mac, said.target_ipv4_addr()), (Mac::SWITCH.0, A));
    assert_eq!(answers().answer(0, &self::arp(A)), None);
}

#[test]
fn an_echo_comes_back_unless_it_is_damaged_or_for_another() {
    let good = ping(SWITCH);
    let reply = answers().answer(0, &good).unwrap();
    let packet = SlicedPacket::from_ethernet(&reply).unwrap();
    let Some(TransportSlice::Icmpv4(icmp)) = packet.transport else { panic!("{reply:?}") };
    let Icmpv4Type::EchoReply(echo) = icmp.icmp_type() else { panic!("{reply:?}") };
    assert_eq!((echo.id, echo.seq, icmp.payload()), (7, 8, &b"some bytes"[..]));
    assert_eq!(answers().answer(0, &ping(A)), None);
    // Behind the addresses of Ethernet each bit counts.
    for bit in 8 * 14..8 * good.len() {
        let mut damaged = good.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(answers().answer(0, &damaged), None, "bit {bit}");
    }
}

/// A message of a client in a frame.
fn dhcp(mac: Mac, options: &[u8], flags: u8) -> Vec<u8> {
    let mut message = vec![0; 240];
    message[..3].copy_from_slice(&[1, 1, 6]);
    message[10] = flags;
    message[28..34].copy_from_slice(&mac.0);
    message[236..].copy_from_slice(&[99, 130, 83, 99]);
    message.extend(options);
    let mut frame = Vec::new();
    let builder = PacketBuilder::ethernet2(mac.0, Mac::BROADCAST.0)
        .ipv4([0; 4], [255; 4], 64)
        .udp(DHCP_CLIENT, DHCP_SERVER);
    builder.write_to_vec(&mut frame, &message).unwrap();
    frame
}

/// Where a frame goes, the kind of its message and the address in it.
fn told(frame: &[u8]) -> (Mac, Ipv4Addr, u8, Ipv4Addr) {
    let packet = SlicedPacket::from_ethernet(frame).unwrap();
    let (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Udp(udp))) = (packet.net, packet.transport) else {
        panic!("{frame:?}")
    };
    assert!(!is_damaged(&ip) && !is_damaged_udp(&udp, SWITCH, ip.header().destination_addr()));
    let message = udp.payload();
    let address = <[u8; 4]>::try_from(&message[16..20]).unwrap();
    (Mac::destination(frame).unwrap(), ip.header().destination_addr(), message[242], address.into())
}

#[test]
fn a_client_gets_its_address_and_only_that() {
    let mut answers = answers();
    let mac = Mac::of_machine(0);
    let mut ask =
        |options: &[u8], flags| answers.answer(0, &dhcp(mac, options, flags)).map(|frame| told(&frame));
    let everybody = (Mac::BROADCAST, Ipv4Addr::BROADCAST);
    assert_eq!(ask(&[53, 1, 1, 255], 0), Some((mac, A, 2, A)));
    assert_eq!(ask(&[53, 1, 1, 255], 0x80), Some((everybody.0, everybody.1, 2, A)));
    assert_eq!(ask(&[53, 1, 3, 50, 4, 10, 77, 0, 2, 54, 4, 10, 77, 0, 1, 255], 0), Some((mac, A, 5, A)));
    let nak = Some((everybody.0, everybody.1, 6, Ipv4Addr::UNSPECIFIED));
    assert_eq!(ask(&[53, 1, 3, 50, 4, 10, 77, 0, 3, 255], 0), nak);
    assert_eq!(ask(&[53, 1, 3, 50, 4, 10, 77, 0, 2, 54, 4, 10, 77, 0, 9, 255], 0), None);
    assert_eq!(ask(&[53, 1, 7, 255], 0), None);
    // Of another station.
    assert_eq!(answers.answer(1, &dhcp(mac, &[53, 1, 1, 255], 0)), None);
}

#[test]
fn an_unknown_interface_gets_an_address_too() {
    let mac = Mac([2, 0, 0, 0, 0, 9]);
    let frame = answers().answer(1, &dhcp(mac, &[53, 1, 1, 255], 0)).unwrap();
    let (_, _, kind, address) = told(&frame);
    assert_eq!(kind, 2);
    assert!(address != A && address != SWITCH && address.octets()[..3] == [10, 77, 0]);
}

#[test]
fn names_are_answered_over_udp() {
    let query = b"\0\x07\x01\0\0\x01\0\0\0\0\0\0\x01b\0\0\x01\0\x01";
    let mut frame = Vec::new();
    let builder = PacketBuilder::ethernet2(Mac::of_machine(0).0, Mac::SWITCH.0)
        .ipv4(A.octets(), SWITCH.octets(), 64)
        .udp(5555, DNS);
    builder.write_to_vec(&mut frame, query).unwrap();
    let reply = answers().answer(0, &frame).unwrap();
    assert!(reply.ends_with(&[10, 77, 0, 3]));
    let packet = SlicedPacket::from_ethernet(&reply).unwrap();
    let Some(TransportSlice::Udp(udp)) = packet.transport else { panic!("{reply:?}") };
    assert_eq!((udp.source_port(), udp.destination_port()), (DNS, 5555));
}

proptest! {
    #[test]
    fn damaged_frames_are_no_danger(
        which in 0usize..3,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        length in any::<prop::sample::Index>(),
    ) {
        let frames = [arp(SWITCH), ping(SWITCH), dhcp(Mac::of_machine(0), &[53, 1, 1, 61, 3, 1, 2, 3, 255], 0)];
        let mut frame = frames[which].clone();
        for (at, byte) in changes {
            *at.get_mut(&mut frame) = byte;
        }
        frame.truncate(length.index(frame.len() + 1));
        if let Some(reply) = answers().answer(0, &frame) {
            prop_assert_eq!(Mac::source(&reply), Some(Mac::SWITCH));
            prop_assert!(reply.len() <= 1000);
        }
    }
}
