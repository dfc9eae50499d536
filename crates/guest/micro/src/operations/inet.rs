//! TCP and UDP by the loopback device: tcp(7), udp(7).

use std::net::SocketAddr;

use harness::check::{Checked, equal};
use harness::loopback::{LOCALHOST, bound, connection};
use protocol::Need;
use rustix::fd::OwnedFd;
use rustix::io::{Errno, read, write};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_send_buffer_size, set_tcp_nodelay};
use rustix::net::{AddressFamily, SocketType, accept, connect, listen, socket};

use super::parts::{Ends, nothing, round_trip, write_read};
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    on_inet("inet/tcp-socket-close", "socket(2) of TCP and close(2)", |meter| {
        create(meter, SocketType::STREAM)
    }),
    on_inet("inet/tcp-connect-accept", "connect(2) and accept(2) over TCP, by one process", tcp_connect),
    on_inet(
        "inet/tcp-connection",
        "socket(2), connect(2), accept(2) and close(2) of both ends",
        tcp_connection,
    ),
    on_inet("inet/tcp-write-read-1", "one byte over TCP, by one process", |meter| {
        tcp()?.write_read(meter, 1)
    }),
    on_inet("inet/tcp-write-read-64k", "64 KiB over TCP, by one process", |meter| {
        tcp()?.write_read(meter, 64 << 10)
    }),
    on_inet("inet/tcp-round-trip", "one byte over TCP to another process and one back", |meter| {
        tcp()?.round_trip(meter)
    }),
    on_inet("inet/udp-socket-close", "socket(2) of UDP and close(2)", |meter| {
        create(meter, SocketType::DGRAM)
    }),
    on_inet("inet/udp-write-read-1", "a datagram of one byte over UDP, by one process", |meter| {
        udp()?.write_read(meter, 1)
    }),
    on_inet("inet/udp-write-read-4k", "a datagram of 4 KiB over UDP, by one process", |meter| {
        udp()?.write_read(meter, 4 << 10)
    }),
    on_inet("inet/udp-round-trip", "a datagram over UDP to another process and one back", |meter| {
        udp()?.round_trip(meter)
    }),
];

const fn on_inet(name: &'static str, about: &'static str, body: fn(&mut Meter) -> Checked) -> Operation {
    Operation::new(name, about, body).needs(&[Need::Config("INET")])
}

/// Two sockets that are connected with each other.
struct Pair {
    near: OwnedFd,
    far: OwnedFd,
}

impl Pair {
    fn write_read(&self, meter: &mut Meter, size: usize) -> Checked {
        write_read(meter, &self.near, &self.far, size)
    }

    fn round_trip(&self, meter: &mut Meter) -> Checked {
        round_trip(meter, Ends::of(&self.near), Ends::of(&self.far))
    }
}

/// A connection that sends at once and has room for all that is sent.
fn tcp() -> Checked<Pair> {
    const ROOM: usize = 1 << 20;
    let (client, server) = connection(LOCALHOST)?;
    for end in [&client, &server] {
        set_tcp_nodelay(end, true)?;
        set_socket_send_buffer_size(end, ROOM)?;
        set_socket_recv_buffer_size(end, ROOM)?;
    }
    Ok(Pair { near: client, far: server })
}

/// Two sockets that send to each other.
fn udp() -> Checked<Pair> {
    let ((near, near_address), (far, far_address)) =
        (bound(LOCALHOST, SocketType::DGRAM)?, bound(LOCALHOST, SocketType::DGRAM)?);
    connect(&near, &far_address)?;
    connect(&far, &near_address)?;
    Ok(Pair { near, far })
}

fn create(meter: &mut Meter, kind: SocketType) -> Checked {
    let create = || socket(AddressFamily::INET, kind, None);
    meter.each(create)?;
    equal("its kind", rustix::net::sockopt::socket_type(create()?)?, kind)
}

fn listener() -> Checked<(OwnedFd, SocketAddr)> {
    let (listener, address) = bound(LOCALHOST, SocketType::STREAM)?;
    listen(&listener, 8)?;
    Ok((listener, address))
}

fn is_connected(client: &OwnedFd, server: &OwnedFd) -> Checked {
    equal("bytes written", write(client, b"k")?, 1)?;
    equal("bytes read", read(server, &mut [0; 2])?, 1)
}

fn tcp_connect(meter: &mut Meter) -> Checked {
    let (listener, address) = listener()?;
    meter.around(
        || Ok(socket(AddressFamily::INET, SocketType::STREAM, None)?),
        |client| {
            connect(client, &address)?;
            accept(&listener)
        },
        |client, server| is_connected(&client, &server),
    )
}

fn tcp_connection(meter: &mut Meter) -> Checked {
    let (listener, address) = listener()?;
    let connected = || {
        let client = socket(AddressFamily::INET, SocketType::STREAM, None)?;
        connect(&client, &address)?;
        Ok::<_, Errno>((client, accept(&listener)?))
    };
    meter.around(nothing, |()| connected().map(drop), |(), ()| Ok(()))?;
    let (client, server) = connected()?;
    is_connected(&client, &server)
}
