//! `sockabuse`: calls that a socket must refuse.

use std::net::Ipv4Addr;

use harness::check::{Checked, equal, fails, holds};
use harness::loopback::{bound, connection};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendFlags, Shutdown, SocketType, accept, bind, connect, getpeername, listen, send,
    shutdown, socket,
};

use crate::Worker;
use crate::kit::file;
use crate::kit::network::own_or_loopback;
use crate::stressor::{Class, Stressor};

pub(super) const SOCKABUSE: Stressor = Stressor {
    name: "sockabuse",
    classes: &[Class::Network, Class::Os],
    about: "sockets used in the wrong order or as what they are not",
    operation: "twelve wrong uses of TCP and UDP sockets",
    verifies: "each wrong use gives its error, and a connection works afterwards",
    body,
    ..Stressor::PLAIN
};

fn body(worker: &Worker) -> Checked {
    own_or_loopback()?;
    let file = file::create("file")?;
    worker.repeat(|| {
        let new = |kind| socket(AddressFamily::INET, kind, None);
        let (listener, address) = bound(Ipv4Addr::LOCALHOST.into(), SocketType::STREAM)?;
        fails("accepting before listening", accept(&listener), Errno::INVAL)?;
        fails("binding twice", bind(&listener, &address), Errno::INVAL)?;
        listen(&listener, 4)?;
        fails("connecting a listener", connect(&listener, &address), Errno::ISCONN)?;
        let taken = new(SocketType::STREAM)?;
        fails("binding to a port in use", bind(&taken, &address), Errno::ADDRINUSE)?;
        fails("sending unconnected", send(&taken, b"x", SendFlags::NOSIGNAL), Errno::PIPE)?;
        fails("shutting down unconnected", shutdown(&taken, Shutdown::Both), Errno::NOTCONN)?;
        fails("listening with UDP", listen(&new(SocketType::DGRAM)?, 1), Errno::OPNOTSUPP)?;
        fails("a file as a socket", listen(&file, 1), Errno::NOTSOCK)?;
        fails("seeking in a socket", rustix::fs::seek(&taken, rustix::fs::SeekFrom::Start(0)), Errno::SPIPE)?;
        let (client, server) = connection(Ipv4Addr::LOCALHOST.into())?;
        shutdown(&client, Shutdown::Write)?;
        fails("sending after the end", send(&client, b"x", SendFlags::NOSIGNAL), Errno::PIPE)?;
        equal("what the other end reads", rustix::io::read(&server, &mut [0; 4])?, 0)?;
        equal("the other direction", send(&server, b"works", SendFlags::NOSIGNAL)?, 5)?;
        fails("connecting twice", connect(&client, &address), Errno::ISCONN)?;
        holds("it is still connected", getpeername(&server).is_ok())
    })
}
