//! Sockets that see all packets: packet(7).

use harness::check::Checked;
use harness::loopback::set_loopback;
use protocol::Need;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{AddressFamily, Protocol, SocketType, socket};

use super::Known;
use super::parts::{Shared, or_skip, own_network, set_option, with_address};
use crate::race::{Judgement, Race};
use crate::runner::Runner;

const NEEDS: &[Need] = &[Need::Module("af_packet")];

pub(super) const RACES: &[Known] = &[
    Known::new(
        "net/packet-ring-version",
        "PACKET_VERSION changes while PACKET_RX_RING makes a ring with a timer",
        &["84ac7260236a"],
        ring_version,
    )
    .cve("2016-8655")
    .needs(NEEDS),
    Known::new(
        "net/packet-ring-reserve",
        "PACKET_RESERVE changes while PACKET_RX_RING makes a ring that leaves room for it",
        &["c27927e372f0"],
        ring_reserve,
    )
    .cve("2017-1000111")
    .needs(NEEDS),
    Known::new(
        "net/packet-fanout-bind",
        "PACKET_FANOUT takes a socket into a group while bind(2) takes it off its device",
        &["4971613c1639", "008ba2a13f2d"],
        fanout_bind,
    )
    .cve("2017-15649")
    .needs(NEEDS),
    Known::new(
        "net/packet-bind-down",
        "bind(2) hooks a socket to a device that goes down",
        &["15fe076edea7"],
        bind_down,
    )
    .cve("2018-18559")
    .needs(NEEDS),
];

// Options and versions of <linux/if_packet.h>.
const RX_RING: (i32, i32) = (libc::SOL_PACKET, 5);
const VERSION: (i32, i32) = (libc::SOL_PACKET, 10);
const RESERVE: (i32, i32) = (libc::SOL_PACKET, 12);
const FANOUT: (i32, i32) = (libc::SOL_PACKET, 18);
const TPACKET_V1: i32 = 0;
const TPACKET_V3: i32 = 2;
const FANOUT_ROLLOVER: u32 = 3;

/// A page, which is the smallest block of a ring.
const PAGE: u32 = 4096;

/// `ETH_P_ALL` in network byte order.
const ALL: u16 = 0x0003_u16.to_be();

/// `struct tpacket_req3`, which begins as `struct tpacket_req` does.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Ring {
    block_size: u32,
    block_count: u32,
    frame_size: u32,
    frame_count: u32,
    timeout_ms: u32,
    private_size: u32,
    features: u32,
}

/// One block with one frame.
const RING: Ring = Ring {
    block_size: PAGE,
    block_count: 1,
    frame_size: PAGE,
    frame_count: 1,
    timeout_ms: 1,
    private_size: 0,
    features: 0,
};

/// A socket that gets all packets of this network.
fn open() -> Result<OwnedFd, Errno> {
    let protocol = std::num::NonZeroU32::new(u32::from(ALL)).map(Protocol::from_raw);
    socket(AddressFamily::PACKET, SocketType::RAW, protocol)
}

/// A network of its own in which such sockets can be opened.
fn prepare() -> Checked {
    own_network()?;
    or_skip("packet sockets", open()).map(drop)
}

fn ring_version(runner: &Runner) -> Checked {
    prepare()?;
    let packet = Shared::new();
    let create = || {
        let socket = open()?;
        set_option(socket.as_raw_fd(), VERSION, &TPACKET_V3)?;
        packet.set(socket);
        Ok(())
    };
    let make_ring = || set_option(packet.number(), RX_RING, &RING);
    let change = || set_option(packet.number(), VERSION, &TPACKET_V1);
    // What was wrong comes to light when the socket is closed, and its timer expires.
    runner.run(Race::between(make_ring, change).setup_a(create))
}

fn ring_reserve(runner: &Runner) -> Checked {
    prepare()?;
    let packet = Shared::new();
    let create = || {
        packet.set(open()?);
        Ok(())
    };
    let make_ring = || set_option(packet.number(), RX_RING, &RING);
    // More than a frame holds: the one that comes second must fail.
    let reserve = || set_option(packet.number(), RESERVE, &(2 * PAGE));
    let judge = |ring: &Result<(), Errno>, reserve: &Result<(), Errno>| {
        Ok(match (ring, reserve) {
            (Ok(()), Ok(())) => Judgement::Hit,
            (Err(_), Ok(())) => Judgement::Early,
            (Ok(()), Err(_)) => Judgement::Late,
            (Err(_), Err(_)) => Judgement::Useless,
        })
    };
    runner.run(Race::between(make_ring, reserve).setup_a(create).judge(judge))
}

fn fanout_bind(runner: &Runner) -> Checked {
    prepare()?;
    let packet = Shared::new();
    let create = || {
        packet.set(open()?);
        Ok(())
    };
    let join = || set_option(packet.number(), FANOUT, &(FANOUT_ROLLOVER << 16 | 1));
    let lo = loopback();
    let bind = || with_address(libc::bind, packet.number(), &lo);
    runner.run(Race::between(join, bind).setup_a(create))
}

fn bind_down(runner: &Runner) -> Checked {
    prepare()?;
    let packet = Shared::new();
    let create = || {
        set_loopback(true)?;
        packet.set(open()?);
        Ok(())
    };
    let lo = loopback();
    let bind = || with_address(libc::bind, packet.number(), &lo);
    runner.run(Race::between(bind, || set_loopback(false)).setup_a(create))
}

/// The address of `lo`, which is the first device of each network.
fn loopback() -> libc::sockaddr_ll {
    // SAFETY: all zeroes is a valid address.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = ALL;
    address.sll_ifindex = 1;
    address
}
