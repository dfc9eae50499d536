//! Messages to and from the kernel: netlink(7), rtnetlink(7).

use std::fs;

use harness::check::{Checked, equal, fails, holds};
use harness::child::unprivileged;
use harness::netlink::{
    CREATE, HEADER, Message, NETLINK_ROUTE, REQUEST, ask, half, index_of, receive, socket, word,
};
use harness::sys::unshare;
use rustix::io::Errno;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{SendFlags, bind, send};
use rustix::thread::UnshareFlags;

use crate::case::{Case, Need};

pub(super) const CASES: &[Case] = &[
    Case::new("netlink/dump", "RTM_GETLINK with NLM_F_DUMP lists the loopback interface once", dump)
        .needs(&[Need::Config("NET_NS")])
        .setup(own_network),
    Case::new("netlink/set-up", "RTM_NEWLINK sets the loopback interface up and down", set_up)
        .needs(&[Need::Config("NET_NS")])
        .setup(own_network),
    Case::new("netlink/new-link", "RTM_NEWLINK makes a dummy interface, RTM_DELLINK removes it", new_link)
        .needs(&[Need::Module("dummy"), Need::Config("NET_NS")])
        .setup(own_network),
    Case::new("netlink/refusals", "bad requests give ENODEV, EINVAL, EPERM and EOPNOTSUPP", refusals)
        .needs(&[Need::Config("NET_NS")])
        .setup(own_network),
    Case::new("netlink/uevent", "a write to a device's uevent file is announced to listeners", uevent)
        .needs(&[Need::Config("NET")]),
];

/// Leaves the machine's interfaces alone.
fn own_network() -> Checked {
    Ok(unshare(UnshareFlags::NEWNET)?)
}

const LOOPBACK: u32 = 1;

/// The parts of `bytes` that begin with their length, which has the size that `length` reads.
fn parts(mut bytes: &[u8], length: fn(&[u8]) -> usize, least: usize) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    while bytes.len() >= least {
        let size = length(bytes).clamp(least, bytes.len());
        parts.push(&bytes[..size]);
        bytes = &bytes[size.next_multiple_of(4).min(bytes.len())..];
    }
    parts
}

fn messages(bytes: &[u8]) -> Vec<&[u8]> {
    parts(bytes, |bytes| word(bytes, 0) as usize, HEADER)
}

/// The value of an attribute of a message about an interface.
fn value_of(message: &[u8], kind: u16) -> Option<&[u8]> {
    let attributes = message.get(HEADER + 16..)?;
    parts(attributes, |bytes| half(bytes, 0).into(), 4)
        .into_iter()
        .find(|a| half(a, 2) == kind)
        .map(|a| &a[4..])
}

/// Whether an interface is up.
fn is_up(index: u32) -> Result<bool, Errno> {
    let answer = ask(Message::about_link(libc::RTM_GETLINK, libc::NLM_F_REQUEST as u16).index(index))?;
    Ok(word(&answer, HEADER + 8) & libc::IFF_UP as u32 != 0)
}

fn dump() -> Checked {
    let socket = socket(NETLINK_ROUTE)?;
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    send(&socket, &Message::about_link(libc::RTM_GETLINK, flags).into_bytes(), SendFlags::empty())?;
    let mut loopbacks = 0;
    loop {
        let answer = receive(&socket)?;
        let messages = messages(&answer);
        let is_loopback = |message: &&&[u8]| value_of(message, libc::IFLA_IFNAME) == Some(b"lo\0");
        loopbacks += messages.iter().filter(is_loopback).count();
        if let Some(last) = messages.iter().find(|message| half(message, 4) != libc::RTM_NEWLINK) {
            equal("kind of the last message", half(last, 4), libc::NLMSG_DONE as u16)?;
            break;
        }
    }
    equal("interfaces called lo", loopbacks, 1)?;
    equal("index of lo", index_of("lo\0")?, LOOPBACK)
}

fn set_up() -> Checked {
    let set = |flags| {
        ask(Message::about_link(libc::RTM_NEWLINK, REQUEST).index(LOOPBACK).change(libc::IFF_UP, flags))
    };
    holds("a new loopback interface is down", !is_up(LOOPBACK)?)?;
    set(libc::IFF_UP)?;
    holds("it is up", is_up(LOOPBACK)?)?;
    set(0)?;
    holds("it is down again", !is_up(LOOPBACK)?)
}

fn new_link() -> Checked {
    let new = || ask(Message::about_link(libc::RTM_NEWLINK, CREATE).named("kiln0\0").of_type("dummy"));
    new()?;
    fails("another of the same name", new(), Errno::EXIST)?;
    let index = index_of("kiln0\0")?;
    holds("its index is its own", index > LOOPBACK)?;
    ask(Message::about_link(libc::RTM_NEWLINK, REQUEST).index(index).change(libc::IFF_UP, libc::IFF_UP))?;
    holds("it is up", is_up(index)?)?;
    let remove = || ask(Message::about_link(libc::RTM_DELLINK, REQUEST).index(index));
    remove()?;
    fails("get it when it is gone", is_up(index), Errno::NODEV)?;
    fails("remove it again", remove(), Errno::NODEV)
}

fn refusals() -> Checked {
    let set =
        |index, kind| ask(Message::about_link(kind, REQUEST).index(index).change(libc::IFF_UP, libc::IFF_UP));
    fails("an index that nobody has", set(99999, libc::RTM_NEWLINK), Errno::NODEV)?;
    fails("a name that nobody has", index_of("kiln9\0"), Errno::NODEV)?;
    fails("remove the loopback", set(LOOPBACK, libc::RTM_DELLINK), Errno::OPNOTSUPP)?;
    fails("an unknown message", set(LOOPBACK, 0x7ffc), Errno::OPNOTSUPP)?;
    let unknown = Message::about_link(libc::RTM_NEWLINK, CREATE).named("kiln0\0").of_type("no-such-type");
    fails("an unknown type", ask(unknown), Errno::OPNOTSUPP)?;
    let long = Message::about_link(libc::RTM_NEWLINK, CREATE).named(&"n".repeat(16)).of_type("dummy");
    fails("a name of 16 bytes", ask(long), Errno::RANGE)?;
    unprivileged(|| fails("without CAP_NET_ADMIN", set(LOOPBACK, libc::RTM_NEWLINK), Errno::PERM))?.succeeds()
}

fn uevent() -> Checked {
    const KERNEL_EVENTS: u32 = 1;
    let socket = socket(Some(netlink::KOBJECT_UEVENT))?;
    bind(&socket, &SocketAddrNetlink::new(0, KERNEL_EVENTS))?;
    let own = "SYNTH_UUID=0badcafe-0000-4000-8000-000000000000";
    fs::write("/sys/class/mem/null/uevent", format!("change {}", &own[11..]))?;
    let text = loop {
        let text = String::from_utf8_lossy(&receive(&socket)?).into_owned();
        if text.contains(own) {
            break text;
        }
    };
    let mut fields = text.split('\0');
    equal("event and device", fields.next(), Some("change@/devices/virtual/mem/null"))?;
    for expected in ["ACTION=change", "SUBSYSTEM=mem", "DEVNAME=null", "MAJOR=1", "MINOR=3"] {
        holds(&format!("the event says {expected}"), text.split('\0').any(|field| field == expected))?;
    }
    let bad = fs::write("/sys/class/mem/null/uevent", "no-such-action");
    fails("an unknown action", bad, Errno::INVAL)
}
