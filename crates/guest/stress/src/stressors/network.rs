//! Stressors of sockets and interfaces.

mod datagrams;
mod raw;
mod streams;
mod tables;
mod tunnel;
mod wrong;

use crate::stressor::Stressor;

pub(super) const ALL: &[Stressor] = &[
    datagrams::UDP,
    datagrams::UDP_FLOOD,
    raw::ICMP,
    raw::PACKET,
    raw::RAWSOCK,
    streams::SOCK,
    streams::SOCKFD,
    streams::SOCKMANY,
    streams::SOCKPAIR,
    tables::NETDEV,
    tables::NETLINK_PROC,
    tables::SOCKDIAG,
    tunnel::TUN,
    wrong::SOCKABUSE,
];
