//! `sock`, `sockmany`, `sockpair`, `sockfd`: connections.

use std::fs::File;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use harness::check::{Checked, at_least, equal, holds};
use harness::loopback::connection;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::fstat;
use rustix::io::{read, write};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, accept, connect, getsockname, listen, recvmsg,
    sendmsg, socket, socketpair,
};

use crate::Worker;
use crate::kit::helper::helper;
use crate::kit::network::own_or_loopback;
use crate::kit::{content, memory::Memory};
use crate::stressor::{Class, Setting, Stressor, choice, number, size};

const BYTES: Setting = size("bytes", "what is sent at a time", 1..=1 << 20, 8192);
const DOMAIN: Setting = choice("domain", "the family of addresses", &["all", "ipv4", "ipv6", "unix"]);
const SOCKETS: Setting = number("sockets", "connections at a time", 1..=400, 64);

pub(super) const SOCK: Stressor = Stressor {
    name: "sock",
    classes: &[Class::Network, Class::Os],
    about: "connections over the loopback device or within the machine: tcp(7), unix(7)",
    operation: "a connection, a message to the other process, its answer, and the end of the connection",
    verifies: "the content of message and answer; the end of the stream is seen",
    options: &[BYTES, DOMAIN],
    body: exchange,
    ..Stressor::PLAIN
};

pub(super) const SOCKMANY: Stressor = Stressor {
    name: "sockmany",
    classes: &[Class::Network, Class::Os],
    about: "many TCP connections to one port at a time",
    operation: "a connection made, used and closed",
    verifies: "each connection gives what was sent through it, and no other's",
    options: &[SOCKETS],
    body: many,
    ..Stressor::PLAIN
};

pub(super) const SOCKPAIR: Stressor = Stressor {
    name: "sockpair",
    classes: &[Class::Network, Class::Ipc, Class::Os],
    about: "pairs of sockets of all types: socketpair(2)",
    operation: "a message each way through one pair of each type",
    verifies: "content, and for datagrams also the borders between messages",
    options: &[SOCKETS],
    body: pairs,
    ..Stressor::PLAIN
};

pub(super) const SOCKFD: Stressor = Stressor {
    name: "sockfd",
    classes: &[Class::Network, Class::Ipc, Class::Os],
    about: "descriptors sent to another process: SCM_RIGHTS of unix(7)",
    operation: "a descriptor sent and received",
    verifies: "what arrives refers to the same open file, and was closed nowhere",
    body: descriptors,
    ..Stressor::PLAIN
};

/// Both ends of a connection.
fn connected(domain: &str) -> Checked<(OwnedFd, OwnedFd)> {
    Ok(match domain {
        "ipv4" => connection(Ipv4Addr::LOCALHOST.into())?,
        "ipv6" => connection(Ipv6Addr::LOCALHOST.into())?,
        _ => {
            let listener = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
            let address = rustix::net::SocketAddrUnix::new("socket")?;
            rustix::net::bind(&listener, &address)?;
            let client = listen(&listener, 1).and_then(|()| {
                let client = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
                connect(&client, &address).map(|()| client)
            });
            std::fs::remove_file("socket")?;
            (client?, accept(&listener)?)
        }
    })
}

/// Sends all, and fails if the other end has gone.
fn send_all(to: impl AsFd, mut bytes: &[u8]) -> Checked {
    while !bytes.is_empty() {
        let sent = write(&to, bytes)?;
        at_least("bytes sent", sent, 1)?;
        bytes = &bytes[sent..];
    }
    Ok(())
}

/// Receives exactly as much, and verifies it.
fn receive(what: &str, from: impl AsFd, seed: u64, size: usize) -> Checked {
    let (mut bytes, mut length) = (vec![0; size], 0);
    while length < size {
        let more = read(&from, &mut bytes[length..])?;
        at_least("bytes received", more, 1)?;
        length += more;
    }
    content::verify(what, &bytes, seed, 0)
}

fn exchange(worker: &Worker) -> Checked {
    own_or_loopback()?;
    const DOMAINS: &[(&str, ())] = &[("ipv4", ()), ("ipv6", ()), ("unix", ())];
    let (size, mut random) = (worker.size(&BYTES), worker.random());
    let domains = worker.methods(&DOMAIN, DOMAINS);
    let mut next = domains.iter().cycle();
    worker.repeat(|| {
        let domain = next.next().map_or("ipv4", |(name, ())| name);
        let ends = connected(domain);
        if domain == "ipv6" && ends.is_err() && domains.len() > 1 {
            // This kernel has no IPv6.
            return Ok(());
        }
        let ((client, server), seed) = (ends?, random.next_u64());
        let other = helper(|| {
            receive("the message", &server, seed, size)?;
            send_all(&server, &content::of(size, !seed, 0))
        })?;
        drop(server);
        send_all(&client, &content::of(size, seed, 0))?;
        receive("the answer", &client, !seed, size)?;
        equal("the end of the stream", read(&client, &mut [0])?, 0)?;
        other.succeeds()
    })
}

fn many(worker: &Worker) -> Checked {
    own_or_loopback()?;
    let count = worker.size(&SOCKETS);
    let (listener, address) = harness::loopback::bound(IpAddr::V4(Ipv4Addr::LOCALHOST), SocketType::STREAM)?;
    listen(&listener, i32::try_from(count).unwrap_or(i32::MAX))?;
    while worker.goes_on() {
        let mut open = Vec::new();
        for number in 0..count as u64 {
            let client = socket(AddressFamily::INET, SocketType::STREAM, None)?;
            connect(&client, &address)?;
            let server = accept(&listener)?;
            send_all(&client, &number.to_ne_bytes())?;
            open.push((client, server));
        }
        for ((client, server), number) in open.iter().zip(0_u64..) {
            let mut bytes = [0; 8];
            equal("bytes received", read(server, &mut bytes)?, 8)?;
            equal("the number of the connection", u64::from_ne_bytes(bytes), number)?;
            let ends = (SocketAddr::try_from(getsockname(client)?)?, rustix::net::getpeername(server)?);
            equal(
                "the other end's address",
                ends.1.and_then(|peer| SocketAddr::try_from(peer).ok()),
                Some(ends.0),
            )?;
            worker.count();
        }
    }
    Ok(())
}

fn pairs(worker: &Worker) -> Checked {
    let mut random = worker.random();
    worker.repeat(|| {
        for kind in [SocketType::STREAM, SocketType::DGRAM, SocketType::SEQPACKET] {
            let (here, there) = socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)?;
            let (first, second) = (1 + random.below(2000), 1 + random.below(2000));
            for (from, to) in [(&here, &there), (&there, &here)] {
                let seed = random.next_u64();
                let both = content::of(first + second, seed, 0);
                equal("bytes sent", write(from, &both[..first])?, first)?;
                equal("bytes sent", write(from, &both[first..])?, second)?;
                let mut bytes = vec![0; first + second];
                let got = read(to, &mut bytes[..])?;
                let border = if kind == SocketType::STREAM { first + second } else { first };
                equal("bytes of the first read", got, border)?;
                if got < bytes.len() {
                    equal("bytes of the second read", read(to, &mut bytes[got..])?, second)?;
                }
                content::verify("both messages", &bytes, seed, 0)?;
            }
            drop(there);
            let gone = rustix::net::send(&here, b"x", SendFlags::NOSIGNAL);
            holds("sending to nobody fails", gone.is_err())?;
        }
        Ok(())
    })
}

fn descriptors(worker: &Worker) -> Checked {
    let (here, there) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    let inodes = Memory::shared(4096)?;
    // The other process sends files that this one has never opened.
    let other = helper(|| {
        loop {
            let file = File::create("sent")?;
            std::fs::remove_file("sent")?;
            inodes.atomics()[0].store(fstat(&file)?.st_ino, std::sync::atomic::Ordering::Release);
            let files = [file.as_fd()];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            control.push(SendAncillaryMessage::ScmRights(&files));
            sendmsg(&there, &[IoSlice::new(b"x")], &mut control, SendFlags::empty())?;
            // Until the next one is wanted.
            if read(&there, &mut [0])? == 0 {
                return Ok(());
            }
        }
    })?;
    let result = worker.repeat(|| {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received =
            recvmsg(&here, &mut [IoSliceMut::new(&mut [0])], &mut control, RecvFlags::CMSG_CLOEXEC)?;
        equal("bytes beside it", received.bytes, 1)?;
        let messages = control.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(files) => Some(files),
            _ => None,
        });
        let files: Vec<OwnedFd> = messages.flatten().collect();
        equal("descriptors", files.len(), 1)?;
        let found = fstat(&files[0])?;
        let expected = inodes.atomics()[0].load(std::sync::atomic::Ordering::Acquire);
        equal("inode and links", (found.st_ino, found.st_nlink), (expected, 0))?;
        equal("bytes written to it", write(&files[0], b"content")?, 7)?;
        equal("asking for the next", write(&here, b"n")?, 1)
    });
    drop((here, other));
    result
}
