//! Sockets between processes of one machine: unix(7).

use harness::check::{Checked, equal};
use protocol::Need;
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::{Errno, IoSlice, IoSliceMut, read, write};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept, bind, connect, listen,
    recvmsg, sendmsg, socket, socketpair,
};

use super::parts::{Ends, nothing, round_trip, write_read};
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    on_unix("unix/socketpair-close", "socketpair(2) of streams, and close(2) of both", create),
    on_unix("unix/stream-write-read-1", "one byte through a stream, by one process", |meter| {
        by_one_process(meter, SocketType::STREAM, 1)
    }),
    on_unix("unix/stream-write-read-64k", "64 KiB through a stream, by one process", |meter| {
        by_one_process(meter, SocketType::STREAM, 64 << 10)
    }),
    on_unix("unix/stream-round-trip", "one byte to another process and one back, by a stream", |meter| {
        between(meter, SocketType::STREAM)
    }),
    on_unix("unix/datagram-write-read-1", "a datagram of one byte, by one process", |meter| {
        by_one_process(meter, SocketType::DGRAM, 1)
    }),
    on_unix("unix/datagram-round-trip", "a datagram to another process and one back", |meter| {
        between(meter, SocketType::DGRAM)
    }),
    on_unix(
        "unix/connect-accept-close",
        "socket(2), connect(2) to a path, accept(2), close(2) of both",
        connection,
    ),
    on_unix("unix/pass-descriptor", "one byte with a descriptor, received and closed, by one process", pass),
];

const fn on_unix(name: &'static str, about: &'static str, body: fn(&mut Meter) -> Checked) -> Operation {
    Operation::new(name, about, body).needs(&[Need::Config("UNIX")])
}

fn pair(kind: SocketType) -> Result<(OwnedFd, OwnedFd), Errno> {
    socketpair(AddressFamily::UNIX, kind, SocketFlags::empty(), None)
}

fn create(meter: &mut Meter) -> Checked {
    let mut last = None;
    meter.each(|| {
        last = Some(pair(SocketType::STREAM)?);
        Ok::<_, Errno>(())
    })?;
    let Some((near, far)) = last else { return harness::check::fail("no sockets") };
    equal("bytes written", write(&near, b"k")?, 1)?;
    equal("bytes read", read(&far, &mut [0; 2])?, 1)
}

fn by_one_process(meter: &mut Meter, kind: SocketType, size: usize) -> Checked {
    let (near, far) = pair(kind)?;
    write_read(meter, &near, &far, size)
}

fn between(meter: &mut Meter, kind: SocketType) -> Checked {
    let (near, far) = pair(kind)?;
    round_trip(meter, Ends::of(&near), Ends::of(&far))
}

fn connection(meter: &mut Meter) -> Checked {
    let (address, new) =
        (SocketAddrUnix::new("socket")?, || socket(AddressFamily::UNIX, SocketType::STREAM, None));
    let listener = new()?;
    bind(&listener, &address)?;
    listen(&listener, 1)?;
    let connected = || {
        let client = new()?;
        connect(&client, &address)?;
        accept(&listener).map(|server| (client, server))
    };
    meter.around(nothing, |()| connected().map(drop), |(), ()| Ok(()))?;
    let (client, server) = connected()?;
    equal("bytes written", write(&client, b"k")?, 1)?;
    equal("bytes read", read(&server, &mut [0; 2])?, 1)
}

fn pass(meter: &mut Meter) -> Checked {
    let (near, far) = pair(SocketType::STREAM)?;
    let (reader, writer) = rustix::pipe::pipe()?;
    let mut last = None;
    meter.each(|| {
        last = Some(send_and_receive(&near, &far, &writer)?);
        Ok::<_, Errno>(())
    })?;
    let Some(Some(passed)) = last else { return harness::check::fail("no descriptor came") };
    equal("bytes written through it", write(&passed, b"k")?, 1)?;
    equal("bytes read", read(&reader, &mut [0; 2])?, 1)
}

fn send_and_receive(near: &OwnedFd, far: &OwnedFd, passed: &OwnedFd) -> Result<Option<OwnedFd>, Errno> {
    let descriptors = [passed.as_fd()];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut sent = SendAncillaryBuffer::new(&mut space);
    sent.push(SendAncillaryMessage::ScmRights(&descriptors));
    sendmsg(near, &[IoSlice::new(b"k")], &mut sent, SendFlags::empty())?;
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut received = RecvAncillaryBuffer::new(&mut space);
    recvmsg(far, &mut [IoSliceMut::new(&mut [0])], &mut received, RecvFlags::empty())?;
    Ok(received.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    }))
}
