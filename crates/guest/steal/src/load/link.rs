//! A pair of virtual Ethernet devices between two network namespaces: veth(4), rtnetlink(7).

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;

use harness::bpf::{self, ARRAY, EXIT, Map, XDP, XDP_DROP, link_xdp, load_without_log};
use harness::check::{Checked, Stop, describe};
use harness::instrument::{broken, skip};
use harness::netlink::{CREATE, Message, REQUEST, ask, attribute, index_of};
use harness::storage::{detached, path_of};
use protocol::steal::Xdp;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::Pid;

/// What both ends are called, each in its namespace.
const NAME: &str = "kiln0\0";

/// An address of documentation (RFC 5737) for each end: nothing else is in these namespaces.
pub(super) const RECEIVER: End = End { address: Ipv4Addr::new(192, 0, 2, 1), mac: [2, 0, 0, 0, 0, 1] };
pub(super) const SENDER: End = End { address: Ipv4Addr::new(192, 0, 2, 2), mac: [2, 0, 0, 0, 0, 2] };

/// Bits of the network's prefix.
const PREFIX: u8 = 30;

/// `VETH_INFO_PEER`.
const INFO_PEER: u16 = 1;

/// Addresses of one end.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub(super) address: Ipv4Addr,
    mac: [u8; 6],
}

/// Makes the pair: one end in the namespace of this process, one in that of another.
pub(super) fn make(other: Pid) -> Checked {
    let pid = other.as_raw_nonzero().get().to_ne_bytes();
    let peer = Message::about_link(0, 0)
        .named(NAME)
        .attribute(libc::IFLA_ADDRESS, &SENDER.mac)
        .attribute(libc::IFLA_NET_NS_PID, &pid);
    let message = Message::about_link(libc::RTM_NEWLINK, CREATE)
        .named(NAME)
        .attribute(libc::IFLA_ADDRESS, &RECEIVER.mac)
        .of_type_with("veth", &attribute(INFO_PEER, peer.payload()));
    ask(message).map(drop).map_err(|error| {
        let need = if error == Errno::OPNOTSUPP { "; it needs a kernel with CONFIG_VETH" } else { "" };
        Stop(skip(format!("a veth pair for the load: {}{need}", describe(error))))
    })
}

/// Gives the end in this namespace its address, and switches it on. It knows its neighbour, so that a program that drops all
/// packets does not make it forget.
pub(super) fn configure(own: End, neighbour: End) -> Checked {
    let index = index_of(NAME)?;
    let [a, b, c, d] = index.to_ne_bytes();
    // struct ifaddrmsg: family, prefix, flags, scope, index.
    let message = Message::new(libc::RTM_NEWADDR, CREATE, &[libc::AF_INET as u8, PREFIX, 0, 0, a, b, c, d]);
    ask(message.attribute(libc::IFA_LOCAL, &own.address.octets()))?;
    let up = libc::IFF_UP;
    ask(Message::about_link(libc::RTM_NEWLINK, REQUEST).index(index).change(up, up))?;
    let [low, high] = libc::NUD_PERMANENT.to_ne_bytes();
    // struct ndmsg: family, padding, index, state, flags, type.
    let neighbours = [libc::AF_INET as u8, 0, 0, 0, a, b, c, d, low, high, 0, 0];
    let message = Message::new(libc::RTM_NEWNEIGH, CREATE, &neighbours);
    ask(message
        .attribute(libc::NDA_DST, &neighbour.address.octets())
        .attribute(libc::NDA_LLADDR, &neighbour.mac))?;
    Ok(())
}

/// Has the packets that this end receives handled by a CPU: `rps_cpus`.
pub(super) fn steer_to(cpu: u32) -> Checked {
    let failed = |error: &dyn std::fmt::Display| {
        Stop(skip(format!(
            "receive packet steering (rps=1): {error}; it needs root and a kernel with CONFIG_RPS"
        )))
    };
    // A view of this namespace, which the mounted one may not have.
    let sysfs = detached("sysfs").map_err(|error| failed(&describe(error)))?;
    let queues = path_of(&sysfs).join("class/net").join(NAME.trim_end_matches('\0')).join("queues");
    set_queues(&queues, &mask(cpu)).map_err(|error| failed(&error))
}

fn set_queues(queues: &Path, mask: &str) -> io::Result<()> {
    for queue in fs::read_dir(queues)? {
        let queue = queue?;
        if queue.file_name().to_string_lossy().starts_with("rx-") {
            fs::write(queue.path().join("rps_cpus"), mask)?;
        }
    }
    Ok(())
}

/// A mask of CPUs: hexadecimal groups of 32 bits, the highest first.
fn mask(cpu: u32) -> String {
    format!("{:x}{}", 1_u32 << (cpu % 32), ",00000000".repeat(cpu as usize / 32))
}

/// An XDP program on an end. It goes when this is dropped.
#[derive(Debug)]
pub(super) struct Attached {
    _link: OwnedFd,
}

/// Attaches an XDP program to this end.
pub(super) fn attach(xdp: Xdp, counts: &Map) -> Checked<Attached> {
    let steps = match xdp {
        Xdp::Drop => vec![bpf::set(0, XDP_DROP), EXIT],
        Xdp::Busy(busy_ns) => bpf::busy(counts, i32::try_from(busy_ns).unwrap_or(i32::MAX), XDP_DROP),
    };
    let index = index_of(NAME)?;
    let link = load_without_log(XDP, &steps).and_then(|program| link_xdp(&program, index));
    link.map(|link| Attached { _link: link }).map_err(|error| {
        let text = format!(
            "an XDP program: {}; it needs root and a kernel with CONFIG_BPF_SYSCALL",
            describe(error)
        );
        Stop(skip(text))
    })
}

/// What [`Xdp::Busy`] counts in.
pub(super) fn counts() -> Result<Map, protocol::Report> {
    Map::new(ARRAY, 2).map_err(|error| match error {
        Errno::PERM => skip(format!("an XDP program: bpf(2): {}; it needs root (CAP_BPF)", describe(error))),
        error => broken(format!("an XDP program: bpf(2): {}", describe(error))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_one_bit() {
        let masks = [0, 1, 31, 32, 65].map(mask);
        assert_eq!(masks, ["1", "2", "80000000", "1,00000000", "2,00000000,00000000"]);
    }

    #[test]
    fn only_receive_queues_are_set() {
        let directory = std::env::temp_dir().join(format!("kiln-steal-test-{}", std::process::id()));
        for queue in ["rx-0", "rx-1", "tx-0"] {
            fs::create_dir_all(directory.join(queue)).expect("it is ours");
        }
        set_queues(&directory, "2").expect("they can be written");
        let is_set = |queue: &str| directory.join(queue).join("rps_cpus").exists();
        assert_eq!(["rx-0", "rx-1", "tx-0"].map(is_set), [true, true, false]);
        fs::remove_dir_all(&directory).expect("it is ours");
    }
}
