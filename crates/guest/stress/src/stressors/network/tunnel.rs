//! `tun`: a network device in user space.

use std::ffi::c_short;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use harness::check::{Checked, equal};
use harness::loopback::{address, interface};
use harness::sys::succeeded;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, bind, recvfrom, sendto, socket};

use crate::Worker;
use crate::kit::network::{comes, own};
use crate::kit::support::supported;
use crate::kit::{content, file};
use crate::stressor::{Class, Need, Setting, Stressor, size};

const BYTES: Setting = size("bytes", "payload of a packet", 8..=1400, 512);

pub(super) const TUN: Stressor = Stressor {
    name: "tun",
    classes: &[Class::Network, Class::Device, Class::Os],
    about: "a device whose other end is this process, in a network of its own: /dev/net/tun",
    operation: "a datagram out through the device and back in through it",
    verifies: "the packet that comes out, and the datagram that its reply becomes",
    options: &[BYTES],
    needs: &[Need::Module("tun"), Need::Device("/dev/net/tun"), Need::Capability(21)],
    body,
    ..Stressor::PLAIN
};

const HERE: Ipv4Addr = Ipv4Addr::new(10, 11, 12, 1);
const THERE: Ipv4Addr = Ipv4Addr::new(10, 11, 12, 2);
const PORT: u16 = 4242;

/// `TUNSETIFF` of <linux/if_tun.h>, and a device for packets of IP without headers of the device.
const SET_INTERFACE: libc::Ioctl = 0x4004_54ca;
const FLAGS: c_short = 0x1001;

/// A device that is up and has an address.
fn device() -> Result<OwnedFd, Errno> {
    let tun = file::open("/dev/net/tun", rustix::fs::OFlags::empty())?;
    let control = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    let ask = |of: &OwnedFd, what, request: &mut libc::ifreq| {
        // SAFETY: all of these read or write the request.
        succeeded(unsafe { libc::ioctl(of.as_raw_fd(), what, &raw mut *request) })
    };
    let mut request = interface(b"stress0");
    request.ifr_ifru.ifru_flags = FLAGS;
    ask(&tun, SET_INTERFACE, &mut request)?;
    request.ifr_ifru.ifru_addr = address(HERE.octets());
    ask(&control, libc::SIOCSIFADDR, &mut request)?;
    request.ifr_ifru.ifru_netmask = address([255, 255, 255, 0]);
    ask(&control, libc::SIOCSIFNETMASK, &mut request)?;
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as c_short;
    ask(&control, libc::SIOCSIFFLAGS, &mut request)?;
    Ok(tun)
}

fn body(worker: &Worker) -> Checked {
    supported("a network of its own", own())?;
    let tun = supported("a TUN device", device())?;
    let here = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    bind(&here, &SocketAddr::V4(SocketAddrV4::new(HERE, PORT)))?;
    let there = SocketAddr::V4(SocketAddrV4::new(THERE, PORT));
    let (size, mut random) = (worker.size(&BYTES), worker.random());
    worker.repeat(|| {
        let seed = random.next_u64();
        equal("bytes sent", sendto(&here, &content::of(size, seed, 0), SendFlags::empty(), &there)?, size)?;
        let Some(mut packet) = datagram(worker, &tun)? else { return Ok(()) };
        content::verify("the payload that comes out", &packet[28..], seed, 0)?;
        turn_round(&mut packet);
        equal("bytes written to the device", rustix::io::write(&tun, &packet)?, packet.len())?;
        if !comes(worker, &here)? {
            return Ok(());
        }
        let mut bytes = vec![0; size + 1];
        let (_, length, from) = recvfrom(&here, &mut bytes[..], RecvFlags::empty())?;
        content::verify("the payload that comes back", &bytes[..length], seed, 0)?;
        equal("its size", length, size)?;
        equal("its sender", from.and_then(|from| SocketAddr::try_from(from).ok()), Some(there))
    })
}

/// The next datagram to the other end: other packets, such as those of IPv6, are passed over.
fn datagram(worker: &Worker, tun: &OwnedFd) -> Checked<Option<Vec<u8>>> {
    while comes(worker, tun)? {
        let mut bytes = vec![0; 2048];
        let length = rustix::io::read(tun, &mut bytes[..])?;
        bytes.truncate(length);
        if length >= 28 && bytes[0] == 0x45 && bytes[9] == 17 && bytes[16..20] == THERE.octets() {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

/// Swaps sender and receiver. Sums stay right, as the same words are added; the kernel may have left that of the datagram
/// to the device, and none is needed.
fn turn_round(packet: &mut [u8]) {
    let (first, second) = packet.split_at_mut(16);
    first[12..16].swap_with_slice(&mut second[..4]);
    let (first, second) = packet.split_at_mut(22);
    first[20..22].swap_with_slice(&mut second[..2]);
    packet[26..28].fill(0);
}
