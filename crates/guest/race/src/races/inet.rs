//! Sockets of the Internet: icmp(7), raw(7), ip(7).

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use harness::check::Checked;
use protocol::Need;
use rustix::fd::AsRawFd;
use rustix::net::{AddressFamily, SendFlags, SocketType, connect, connect_unspec, ipproto, sendto, socket};

use super::Known;
use super::parts::{Shared, or_skip, own_network, set_option};
use crate::race::Race;
use crate::runner::Runner;

pub(super) const RACES: &[Known] = &[
    Known::new(
        "net/ping-disconnect",
        "two connect(2) to AF_UNSPEC take a ping socket off its list twice",
        &["43a6684519ab"],
        ping_disconnect,
    )
    .cve("2017-2671")
    .needs(&[Need::Config("INET")]),
    Known::new(
        "net/raw-hdrincl",
        "sendmsg(2) of a raw socket reads IP_HDRINCL twice while it is changed",
        &["8f659a03a0ba"],
        raw_hdrincl,
    )
    .cve("2017-17712")
    .needs(&[Need::Config("INET")]),
];

const LOCALHOST: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0));

fn ping_disconnect(runner: &Runner) -> Checked {
    own_network()?;
    // Who may have ping sockets is set for each network.
    std::fs::write("/proc/sys/net/ipv4/ping_group_range", "0 0")?;
    let ping = or_skip("ping sockets", socket(AddressFamily::INET, SocketType::DGRAM, Some(ipproto::ICMP)))?;
    let put_on_list = || Ok(connect(&ping, &LOCALHOST)?);
    let take_off = || connect_unspec(&ping);
    runner.run(Race::between(take_off, take_off).setup_a(put_on_list))
}

fn raw_hdrincl(runner: &Runner) -> Checked {
    const HDRINCL: (i32, i32) = (libc::IPPROTO_IP, libc::IP_HDRINCL);
    own_network()?;
    let raw = Shared::new();
    let open = || socket(AddressFamily::INET, SocketType::RAW, Some(ipproto::RAW));
    drop(or_skip("raw sockets", open())?);
    let create = || {
        let socket = open()?;
        set_option(socket.as_raw_fd(), HDRINCL, &1_i32)?;
        raw.set(socket);
        Ok(())
    };
    let send = || sendto(raw.file(), &[0; 64], SendFlags::DONTWAIT, &LOCALHOST);
    let change = || set_option(raw.number(), HDRINCL, &0_i32);
    runner.run(Race::between(send, change).setup_a(create))
}
