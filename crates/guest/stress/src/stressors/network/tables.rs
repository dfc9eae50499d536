//! `sockdiag`, `netdev`, `netlink-proc`: what the kernel tells about sockets, interfaces and processes.

use harness::check::{Checked, equal, fails, holds, skip};
use harness::child::child;
use harness::loopback::interface;
use harness::sys::succeeded;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::fstat;
use rustix::io::{Errno, read, write};
use rustix::net::netdevice::{index_to_name, name_to_index};
use rustix::net::{
    AddressFamily, Protocol, RawProtocol, SocketAddrUnix, SocketFlags, SocketType, bind, socket, socket_with,
};

use crate::Worker;
use crate::kit::network::{comes, own_or_loopback};
use crate::kit::support::supported;
use crate::stressor::{Class, Need, Setting, Stressor, number};

const SOCKETS: Setting = number("sockets", "sockets to be found", 1..=400, 32);

pub(super) const SOCKDIAG: Stressor = Stressor {
    name: "sockdiag",
    classes: &[Class::Network, Class::Os],
    about: "all sockets of this machine listed: sock_diag(7)",
    operation: "one listing with names, files, peers, pending connections, queue lengths and memory",
    verifies: "the worker's own sockets are in the list",
    options: &[SOCKETS],
    needs: &[Need::Module("unix_diag")],
    body: list,
    ..Stressor::PLAIN
};

pub(super) const NETDEV: Stressor = Stressor {
    name: "netdev",
    classes: &[Class::Network, Class::Device, Class::Os],
    about: "names, numbers, flags, addresses and sizes of interfaces: netdevice(7)",
    operation: "all questions about all interfaces",
    verifies: "names and numbers belong together; lo is a loopback device at 127.0.0.1; unknown names give ENODEV",
    body: interfaces,
    ..Stressor::PLAIN
};

pub(super) const NETLINK_PROC: Stressor = Stressor {
    name: "netlink-proc",
    classes: &[Class::Network, Class::Scheduler, Class::Os],
    about: "forks and exits as the process connector tells them: <linux/cn_proc.h>",
    operation: "a child made and waited for",
    verifies: "its fork and its exit with its status are told",
    needs: &[Need::Config("PROC_EVENTS"), Need::Capability(12)],
    body: connector,
    ..Stressor::PLAIN
};

/// `NETLINK_SOCK_DIAG` and `NETLINK_CONNECTOR`.
const SOCK_DIAG: u32 = 4;
const CONNECTOR: u32 = 11;

fn netlink(protocol: u32) -> Result<OwnedFd, Errno> {
    let protocol = RawProtocol::new(protocol).map(Protocol::from_raw);
    socket_with(AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC, protocol)
}

/// A message with its header: `struct nlmsghdr`.
fn message(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(16 + body.len()).unwrap_or(0);
    let mut bytes = length.to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend(body);
    bytes
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Kind and body of each message in `bytes`.
fn messages(bytes: &[u8]) -> Vec<(u16, &[u8])> {
    let (mut rest, mut found) = (bytes, Vec::new());
    while let Some(length) =
        word(rest, 0).map(|length| length as usize).filter(|length| (16..=rest.len()).contains(length))
    {
        found.push((u16::from_ne_bytes([rest[4], rest[5]]), &rest[16..length]));
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    found
}

fn list(worker: &Worker) -> Checked {
    const BY_FAMILY: u16 = 20;
    const DUMP: u16 = 0x301;
    const DONE: u16 = 3;
    const ERROR: u16 = 2;
    let diag = supported("NETLINK_SOCK_DIAG", netlink(SOCK_DIAG))?;
    let mut inodes = Vec::new();
    let mut own = Vec::new();
    for at in 0..worker.size(&SOCKETS) {
        let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
        bind(&socket, &SocketAddrUnix::new(at.to_string())?)?;
        inodes.push(fstat(&socket)?.st_ino as u32);
        own.push(socket);
    }
    // `struct unix_diag_req`: family, all states, any inode, all that can be shown, no cookie.
    let mut request = vec![libc::AF_UNIX as u8, 0, 0, 0];
    [u32::MAX, 0, 0x3f, u32::MAX, u32::MAX].iter().for_each(|field| request.extend(field.to_ne_bytes()));
    let mut buffer = vec![0; 65536];
    worker.repeat(|| {
        write(&diag, &message(BY_FAMILY, DUMP, &request))?;
        let mut listed = Vec::new();
        'dump: loop {
            let length = read(&diag, &mut buffer[..])?;
            for (kind, body) in messages(&buffer[..length]) {
                match kind {
                    DONE => break 'dump,
                    ERROR => return skip("this kernel has no list of UNIX sockets"),
                    // `struct unix_diag_msg`: family, type, state and padding, then the inode.
                    _ => listed.extend(word(body, 4)),
                }
            }
        }
        listed.sort_unstable();
        let missing = inodes.iter().filter(|inode| listed.binary_search(inode).is_err()).count();
        equal("own sockets that are not listed", missing, 0)
    })
}

fn interfaces(worker: &Worker) -> Checked {
    own_or_loopback()?;
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    let ask = |what, name: &str| {
        let mut request = interface(name.as_bytes());
        // SAFETY: the request has room for all answers.
        succeeded(unsafe { libc::ioctl(socket.as_raw_fd(), what, &raw mut request) }).map(|()| request)
    };
    worker.repeat(|| {
        let names = std::fs::read_to_string("/proc/net/dev")?;
        let names: Vec<&str> =
            names.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim()).collect();
        holds("lo is there", names.contains(&"lo"))?;
        for name in names {
            let number = match name_to_index(&socket, name) {
                // It has gone meanwhile.
                Err(Errno::NODEV) => continue,
                number => number?,
            };
            equal("the name of its number", index_to_name(&socket, number)?, name)?;
            for question in [libc::SIOCGIFFLAGS, libc::SIOCGIFMTU, libc::SIOCGIFHWADDR, libc::SIOCGIFTXQLEN] {
                ask(question, name)?;
            }
        }
        // SAFETY: any bits are valid flags.
        let flags = unsafe { ask(libc::SIOCGIFFLAGS, "lo")?.ifr_ifru.ifru_flags };
        let expected = libc::IFF_LOOPBACK | libc::IFF_UP;
        equal("flags of lo", libc::c_int::from(flags) & expected, expected)?;
        // SAFETY: the kernel has filled in an address.
        let address = unsafe { ask(libc::SIOCGIFADDR, "lo")?.ifr_ifru.ifru_addr };
        equal(
            "address of lo",
            &address.sa_data[2..6],
            [127, 0, 0, 1].map(|byte| byte as libc::c_char).as_slice(),
        )?;
        fails("an interface that is not there", ask(libc::SIOCGIFFLAGS, "kiln-none").map(drop), Errno::NODEV)
    })
}

/// Body of a message to or from the connector: its index, value, and padding, then what it is about.
fn connector_message(what: u32) -> Vec<u8> {
    let mut body = Vec::new();
    [1_u32, 1, 0, 0].iter().for_each(|field| body.extend(field.to_ne_bytes()));
    body.extend(4_u32.to_ne_bytes());
    body.extend(what.to_ne_bytes());
    body
}

fn connector(worker: &Worker) -> Checked {
    const LISTEN: u32 = 1;
    const FORK: u32 = 1;
    const EXIT: u32 = 0x8000_0000;
    let events = supported("NETLINK_CONNECTOR", netlink(CONNECTOR))?;
    bind(&events, &rustix::net::netlink::SocketAddrNetlink::new(0, 1))?;
    write(&events, &message(3, 0, &connector_message(LISTEN)))?;
    let mut buffer = vec![0; 4096];
    // Events begin with an answer to the request; none comes to those who are in a namespace of their own.
    let wanted = rustix::time::Timespec { tv_sec: 1, tv_nsec: 0 };
    let mut ready = [rustix::event::PollFd::new(&events, rustix::event::PollFlags::IN)];
    if rustix::event::poll(&mut ready, Some(&wanted))? == 0 {
        return skip("the process connector does not answer in this namespace");
    }
    worker.repeat(|| {
        let child = child(|| harness::child::exit(7))?;
        let pid = child.pid().as_raw_pid().unsigned_abs();
        equal("its exit status", child.wait()?.exit_status(), Some(7))?;
        let (mut has_forked, mut has_exited) = (false, false);
        while !(has_forked && has_exited) {
            if !comes(worker, &events)? {
                return Ok(());
            }
            let length = match read(&events, &mut buffer[..]) {
                // Others made more events than there is room for; this one may be lost.
                Err(Errno::NOBUFS) => return Ok(()),
                length => length?,
            };
            for (_, body) in messages(&buffer[..length]) {
                // Behind 20 bytes of the connector: what, CPU, time, and then ids: of the parent first for a fork.
                match (word(body, 20), word(body, 36), word(body, 44)) {
                    (Some(FORK), _, Some(new)) => has_forked |= new == pid,
                    (Some(EXIT), Some(old), Some(status)) if old == pid => {
                        equal("the status that is told", status, 7 << 8)?;
                        has_exited = true;
                    }
                    _ => {}
                }
            }
        }
        holds("fork and exit are told", has_forked && has_exited)
    })
}
