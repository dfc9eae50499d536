//! Sockets over the loopback device: tcp(7), udp(7), ipv6(7), netdevice(7).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use harness::check::{Checked, equal, fails, holds, skip};
use harness::child::{child, unprivileged};
use harness::loopback::{LOCALHOST, bound, connection, is_up, loopback_is_up, set_loopback};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, ioctl_fionbio, read, write};
use rustix::net::sockopt::{set_ipv6_v6only, set_socket_linger, socket_error};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketType, bind, connect, getpeername, getsockname,
    listen, recv, recvfrom, send, sendto, shutdown, socket,
};

use crate::case::{Case, Need};

const INET: &[Need] = &[Need::Config("INET")];
const IPV6: &[Need] = &[Need::Config("INET"), Need::Config("IPV6")];

pub(super) const CASES: &[Case] = &[
    on_loopback(
        "inet/loopback",
        "ioctl(2) SIOCSIFFLAGS switches lo: datagrams pass only while it is up",
        loopback,
    )
    .cleanup(loopback_up),
    on_loopback("inet/tcp", "connect(2) and accept(2) over TCP agree on addresses, data and end", tcp),
    on_loopback("inet/tcp-volume", "write(2) of a megabyte over TCP arrives whole and in order", tcp_volume),
    on_loopback(
        "inet/tcp-refused",
        "connect(2) to a closed port gives ECONNREFUSED, at once or by SO_ERROR",
        refused,
    ),
    on_loopback("inet/tcp-reset", "close(2) with SO_LINGER 0 gives the peer ECONNRESET", reset),
    on_loopback("inet/bind", "bind(2) gives EADDRINUSE, EADDRNOTAVAIL and EACCES as promised", bind_refusals),
    on_loopback("inet/udp", "recvfrom(2) over UDP keeps boundaries and names the sender; EMSGSIZE", udp),
    on_loopback(
        "inet/udp-refused",
        "send(2) over UDP to a closed port gives ECONNREFUSED the next time",
        udp_refused,
    ),
    on_loopback("inet/ipv6", "TCP and UDP work over ::1, and a dual-stack socket takes IPv4", ipv6)
        .needs(IPV6),
];

/// A case over the loopback device, which the machine has brought up.
const fn on_loopback(name: &'static str, about: &'static str, body: fn() -> Checked) -> Case {
    Case::new(name, about, body).needs(INET)
}

fn loopback_up() -> Checked {
    Ok(set_loopback(true)?)
}

/// A port of this machine where nobody listens.
fn closed_port(kind: SocketType) -> Result<SocketAddr, Errno> {
    bound(LOCALHOST, kind).map(|(_, address)| address)
}

fn loopback() -> Checked {
    let (receiver, address) = bound(LOCALHOST, SocketType::DGRAM)?;
    let (sender, _) = bound(LOCALHOST, SocketType::DGRAM)?;
    set_loopback(false)?;
    holds("lo is down", !loopback_is_up()?)?;
    // Whether the sender is told that nobody gets this is up to the kernel.
    let _ = sendto(&sender, b"lost", SendFlags::empty(), &address);
    fails("no message", recv(&receiver, &mut [0; 8], RecvFlags::DONTWAIT), Errno::AGAIN)?;
    unprivileged(|| fails("bringing lo up without rights", set_loopback(true), Errno::PERM))?.succeeds()?;
    set_loopback(true)?;
    holds("lo is up", loopback_is_up()?)?;
    sendto(&sender, b"kept", SendFlags::empty(), &address)?;
    let mut buffer = [0; 4];
    equal("bytes of the first message", recv(&receiver, &mut buffer, RecvFlags::empty())?.0, 4)?;
    equal("the first message", &buffer, b"kept")?;
    fails("flags of an unknown interface", is_up(b"none"), Errno::NODEV)
}

fn tcp() -> Checked {
    let (client, server) = connection(LOCALHOST)?;
    equal("who the server talks to", getpeername(&server)?, Some(getsockname(&client)?))?;
    equal("who the client talks to", getpeername(&client)?, Some(getsockname(&server)?))?;
    let mut buffer = [0; 16];
    for (from, to) in [(&client, &server), (&server, &client)] {
        equal("bytes sent", write(from, b"hello")?, 5)?;
        equal("bytes received", recv(to, &mut buffer[..5], RecvFlags::WAITALL)?.0, 5)?;
        equal("what they are", &buffer[..5], b"hello")?;
    }
    shutdown(&client, Shutdown::Write)?;
    equal("bytes after the client's SHUT_WR", read(&server, &mut buffer)?, 0)?;
    fails("send(2) after SHUT_WR", send(&client, b"x", SendFlags::NOSIGNAL), Errno::PIPE)?;
    equal("bytes sent the other way", write(&server, b"bye")?, 3)?;
    drop(server);
    equal("bytes sent before close(2)", recv(&client, &mut buffer[..3], RecvFlags::WAITALL)?.0, 3)?;
    equal("bytes after close(2)", read(&client, &mut buffer)?, 0)?;
    let alone = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    fails("shutdown(2) without connection", shutdown(&alone, Shutdown::Both), Errno::NOTCONN)
}

fn tcp_volume() -> Checked {
    let (client, server) = connection(LOCALHOST)?;
    let sent: Vec<u8> = (0..1 << 18).flat_map(|number: u32| number.to_le_bytes()).collect();
    let sender = child(|| {
        let mut rest = sent.as_slice();
        while !rest.is_empty() {
            rest = &rest[write(&client, rest)?..];
        }
        Ok(())
    })?;
    drop(client);
    let (mut received, mut buffer) = (Vec::new(), vec![0; 10_000]);
    loop {
        match read(&server, &mut buffer)? {
            0 => break,
            count => received.extend_from_slice(&buffer[..count]),
        }
    }
    equal("bytes received", received.len(), sent.len())?;
    holds("they are those that were sent", received == sent)?;
    sender.succeeds()
}

fn refused() -> Checked {
    let nobody = closed_port(SocketType::STREAM)?;
    let client = || socket(AddressFamily::INET, SocketType::STREAM, None);
    fails("connect(2) to a closed port", connect(client()?, &nobody), Errno::CONNREFUSED)?;
    let patient = client()?;
    ioctl_fionbio(&patient, true)?;
    fails("connect(2) without waiting", connect(&patient, &nobody), Errno::INPROGRESS)?;
    poll(&mut [PollFd::new(&patient, PollFlags::OUT)], None)?;
    equal("SO_ERROR after it", socket_error(&patient)?, Err(Errno::CONNREFUSED))?;
    fails("send(2) without connection", send(client()?, b"x", SendFlags::NOSIGNAL), Errno::PIPE)
}

fn reset() -> Checked {
    let (client, server) = connection(LOCALHOST)?;
    set_socket_linger(&client, Some(Duration::ZERO))?;
    drop(client);
    fails("read(2)", read(&server, &mut [0]), Errno::CONNRESET)?;
    equal("read(2) once more", read(&server, &mut [0])?, 0)?;
    fails("send(2)", send(&server, b"x", SendFlags::NOSIGNAL), Errno::PIPE)
}

fn bind_refusals() -> Checked {
    let (listener, address) = bound(LOCALHOST, SocketType::STREAM)?;
    listen(&listener, 1)?;
    let attempt = |address| bind(socket(AddressFamily::INET, SocketType::STREAM, None)?, &address);
    fails("a port in use", attempt(address), Errno::ADDRINUSE)?;
    fails("binding once more", bind(&listener, &address), Errno::INVAL)?;
    let elsewhere = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    fails("an address of another machine", attempt(SocketAddr::new(elsewhere, 0)), Errno::ADDRNOTAVAIL)?;
    let reserved = SocketAddr::new(LOCALHOST, 1);
    unprivileged(|| fails("port 1 without rights", attempt(reserved), Errno::ACCESS))?.succeeds()?;
    drop(listener);
    equal("the port after close(2)", attempt(address), Ok(()))
}

fn udp() -> Checked {
    exchange_datagrams(LOCALHOST)?;
    let (socket, address) = bound(LOCALHOST, SocketType::DGRAM)?;
    fails("send(2) to nobody in particular", send(&socket, b"x", SendFlags::empty()), Errno::DESTADDRREQ)?;
    let huge = vec![0; 65_508];
    fails("65508 bytes", sendto(&socket, &huge, SendFlags::empty(), &address), Errno::MSGSIZE)?;
    equal("65507 bytes", sendto(&socket, &huge[1..], SendFlags::empty(), &address)?, huge.len() - 1)?;
    equal("bytes received", recv(&socket, &mut vec![0; 70_000], RecvFlags::empty())?.0, huge.len() - 1)
}

fn exchange_datagrams(address: IpAddr) -> Checked {
    let (receiver, to) = bound(address, SocketType::DGRAM)?;
    let (sender, from) = bound(address, SocketType::DGRAM)?;
    for message in [b"first".as_slice(), b"", b"third message"] {
        sendto(&sender, message, SendFlags::empty(), &to)?;
    }
    let mut buffer = [0; 8];
    for (length, whole) in [(5, 5), (0, 0), (8, 13)] {
        let (kept, sent, sender) = recvfrom(&receiver, &mut buffer, RecvFlags::TRUNC)?;
        equal("bytes kept and bytes sent", (kept, sent), (length, whole))?;
        equal("sender", sender.map(SocketAddr::try_from), Some(Ok(from)))?;
    }
    equal("what was kept of the last", &buffer, b"third me")?;
    fails("one more", recv(&receiver, &mut buffer, RecvFlags::DONTWAIT), Errno::AGAIN)
}

fn udp_refused() -> Checked {
    let nobody = closed_port(SocketType::DGRAM)?;
    let client = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    connect(&client, &nobody)?;
    equal("bytes sent first", send(&client, b"x", SendFlags::empty())?, 1)?;
    poll(&mut [PollFd::new(&client, PollFlags::IN)], None)?;
    fails("the next send(2)", send(&client, b"x", SendFlags::empty()), Errno::CONNREFUSED)
}

fn ipv6() -> Checked {
    let localhost = IpAddr::V6(Ipv6Addr::LOCALHOST);
    if let Err(Errno::AFNOSUPPORT) = socket(AddressFamily::INET6, SocketType::STREAM, None) {
        return skip("IPv6 is switched off");
    }
    let (client, server) = connection(localhost)?;
    write(&client, b"hello")?;
    let mut buffer = [0; 5];
    equal("bytes over TCP", recv(&server, &mut buffer, RecvFlags::WAITALL)?.0, 5)?;
    equal("what they are", &buffer, b"hello")?;
    exchange_datagrams(localhost)?;
    for (only, expected) in [(true, Err(Errno::CONNREFUSED)), (false, Ok(()))] {
        let listener = socket(AddressFamily::INET6, SocketType::STREAM, None)?;
        set_ipv6_v6only(&listener, only)?;
        bind(&listener, &SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), 0))?;
        listen(&listener, 1)?;
        let port = SocketAddr::try_from(getsockname(&listener)?)?.port();
        let client = socket(AddressFamily::INET, SocketType::STREAM, None)?;
        let connected = connect(&client, &SocketAddr::new(LOCALHOST, port));
        equal("IPv4 to a socket with and without IPV6_V6ONLY", connected, expected)?;
    }
    Ok(())
}
