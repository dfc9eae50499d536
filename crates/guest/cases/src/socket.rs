//! Sockets within the machine: unix(7).

use std::fs::File;
use std::io::{IoSlice, IoSliceMut, Read, Seek};
use std::mem::MaybeUninit;
use std::time::{Duration, Instant};

use harness::check::{Checked, at_least, equal, fail, fails, holds};
use harness::child::{NOBODY, child, unprivileged};
use rustix::cmsg_space;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{Errno, FdFlags, fcntl_getfd, read, write};
use rustix::net::sockopt::{
    Timeout, set_socket_passcred, set_socket_timeout, socket_acceptconn, socket_domain, socket_error,
    socket_peercred, socket_type,
};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, Shutdown, SocketAddrUnix, SocketFlags, SocketType, accept, bind,
    connect, getsockname, listen, recv, recvfrom, recvmsg, send, sendmsg, sendto, shutdown, socket,
    socketpair,
};
use rustix::process::{Gid, Uid, getpid};

use crate::case::{Case, Need};

const NEEDS: &[Need] = &[Need::Config("UNIX")];

pub(super) const CASES: &[Case] = &[
    Case::new(
        "socket/stream",
        "socketpair(2) SOCK_STREAM carries bytes both ways, without boundaries",
        stream,
    )
    .needs(NEEDS),
    Case::new(
        "socket/datagram",
        "recv(2) of SOCK_DGRAM keeps boundaries and gives the length it cut",
        datagram,
    )
    .needs(NEEDS),
    Case::new(
        "socket/sequenced-packets",
        "SOCK_SEQPACKET keeps boundaries, connects, and has an end",
        packets,
    )
    .needs(NEEDS),
    Case::new(
        "socket/listen",
        "bind(2), listen(2) and connect(2) of a path, and their promised errors",
        listening,
    )
    .needs(NEEDS),
    Case::new(
        "socket/abstract-name",
        "bind(2) of an abstract name makes no file and goes with the socket",
        abstract_name,
    )
    .needs(NEEDS),
    Case::new(
        "socket/pass-descriptor",
        "sendmsg(2) SCM_RIGHTS gives another process an open file",
        pass_descriptor,
    )
    .needs(NEEDS),
    Case::new(
        "socket/peer-credentials",
        "getsockopt(2) SO_PEERCRED names the process that connected",
        peer_credentials,
    )
    .needs(NEEDS),
    Case::new(
        "socket/sender-credentials",
        "recvmsg(2) SCM_CREDENTIALS names the sender, which cannot forge it",
        sender_credentials,
    )
    .needs(NEEDS),
    Case::new("socket/shutdown", "shutdown(2) ends one direction: end of file there, EPIPE here", shut_down)
        .needs(NEEDS),
    Case::new(
        "socket/peek-and-wait",
        "recv(2) MSG_PEEK, MSG_DONTWAIT, MSG_WAITALL and SO_RCVTIMEO",
        peek_and_wait,
    )
    .needs(NEEDS),
];

fn pair(kind: SocketType) -> Result<(OwnedFd, OwnedFd), Errno> {
    socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)
}

fn unix(kind: SocketType) -> Result<OwnedFd, Errno> {
    socket(AddressFamily::UNIX, kind, None)
}

fn listener(address: &SocketAddrUnix, kind: SocketType) -> Result<OwnedFd, Errno> {
    let listener = unix(kind)?;
    bind(&listener, address)?;
    listen(&listener, 5)?;
    Ok(listener)
}

/// What one recv(2) gives.
fn received(socket: &OwnedFd) -> Result<Vec<u8>, Errno> {
    let mut buffer = [0; 256];
    let (count, _) = recv(socket, &mut buffer, RecvFlags::empty())?;
    Ok(buffer[..count].to_vec())
}

fn stream() -> Checked {
    let (left, right) = pair(SocketType::STREAM)?;
    write(&left, b"one ")?;
    write(&left, b"two")?;
    equal("what two writes left", received(&right)?, b"one two")?;
    write(&right, b"back")?;
    equal("the other way", received(&left)?, b"back")?;
    write(&left, b"last words")?;
    drop(left);
    equal("what was sent before close(2)", received(&right)?, b"last words")?;
    equal("after close(2)", received(&right)?, b"")?;
    fails("send(2) to nobody", send(&right, b"x", SendFlags::NOSIGNAL), Errno::PIPE)
}

fn datagram() -> Checked {
    let (left, right) = pair(SocketType::DGRAM)?;
    for message in [b"first".as_slice(), b"", b"third message"] {
        equal("bytes sent", send(&left, message, SendFlags::empty())?, message.len())?;
    }
    equal("first message", received(&right)?, b"first")?;
    equal("empty message", received(&right)?, b"")?;
    let mut small = [0; 5];
    equal("bytes kept and bytes sent", recv(&right, &mut small, RecvFlags::TRUNC)?, (5, 13))?;
    equal("what was kept", &small, b"third")?;
    fails("the rest", recv(&right, &mut small, RecvFlags::DONTWAIT), Errno::AGAIN)?;
    let address = SocketAddrUnix::new("receiver")?;
    let (receiver, sender) = (unix(SocketType::DGRAM)?, unix(SocketType::DGRAM)?);
    bind(&receiver, &address)?;
    bind(&sender, &SocketAddrUnix::new("sender")?)?;
    sendto(&sender, b"hello", SendFlags::empty(), &address)?;
    let (_, _, from) = recvfrom(&receiver, &mut small, RecvFlags::empty())?;
    equal("address of the sender", from, Some(getsockname(&sender)?))
}

fn packets() -> Checked {
    let address = SocketAddrUnix::new("packets")?;
    let listener = listener(&address, SocketType::SEQPACKET)?;
    let client = unix(SocketType::SEQPACKET)?;
    fails("send(2) before connect(2)", send(&client, b"x", SendFlags::NOSIGNAL), Errno::NOTCONN)?;
    connect(&client, &address)?;
    let server = accept(&listener)?;
    write(&client, b"first")?;
    write(&client, b"second")?;
    equal("first packet", received(&server)?, b"first")?;
    equal("what fits of the second", read(&server, &mut [0; 3])?, 3)?;
    drop(client);
    equal("the end", received(&server)?, b"")
}

fn listening() -> Checked {
    let address = SocketAddrUnix::new("socket")?;
    let client = || unix(SocketType::STREAM);
    fails("connect(2) to no file", connect(client()?, &address), Errno::NOENT)?;
    let listener = listener(&address, SocketType::STREAM)?;
    holds("SO_ACCEPTCONN", socket_acceptconn(&listener)?)?;
    equal("SO_TYPE", socket_type(&listener)?, SocketType::STREAM)?;
    equal("SO_DOMAIN", socket_domain(&listener)?, AddressFamily::UNIX)?;
    fails("bind(2) of a name in use", bind(client()?, &address), Errno::ADDRINUSE)?;
    let datagrams = unix(SocketType::DGRAM)?;
    fails("connect(2) of another type", connect(&datagrams, &address), Errno::PROTOTYPE)?;
    let connected = client()?;
    connect(&connected, &address)?;
    fails("connect(2) once more", connect(&connected, &address), Errno::ISCONN)?;
    let accepted = accept(&listener)?;
    write(&connected, b"hello")?;
    equal("what the server reads", received(&accepted)?, b"hello")?;
    equal("SO_ERROR", socket_error(&accepted)?, Ok(()))?;
    drop(listener);
    fails("connect(2) when nobody listens", connect(client()?, &address), Errno::CONNREFUSED)?;
    fails("accept(2) of a connected socket", accept(&accepted), Errno::INVAL)
}

fn abstract_name() -> Checked {
    let address = SocketAddrUnix::new_abstract_name(b"kiln\0case")?;
    let listener = listener(&address, SocketType::STREAM)?;
    let name = SocketAddrUnix::try_from(getsockname(&listener)?)?;
    equal("name", name.abstract_name(), Some(b"kiln\0case".as_slice()))?;
    equal("files made", std::fs::read_dir(".")?.count(), 0)?;
    fails("bind(2) of a name in use", bind(unix(SocketType::STREAM)?, &address), Errno::ADDRINUSE)?;
    equal("connect(2)", connect(unix(SocketType::STREAM)?, &address), Ok(()))?;
    drop(listener);
    fails("connect(2) after close(2)", connect(unix(SocketType::STREAM)?, &address), Errno::CONNREFUSED)?;
    equal("bind(2) after close(2)", bind(unix(SocketType::STREAM)?, &address), Ok(()))
}

/// sendmsg(2) of one byte with `message`.
fn send_with(socket: &OwnedFd, message: SendAncillaryMessage<'_, '_>) -> Result<usize, Errno> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(message);
    sendmsg(socket, &[IoSlice::new(b"x")], &mut control, SendFlags::NOSIGNAL)
}

/// recvmsg(2) with at most `space` bytes for control messages.
fn receive_control<T>(
    socket: &OwnedFd,
    space: usize,
    take: impl FnOnce(RecvAncillaryMessage<'_>) -> Option<T>,
) -> Result<(ReturnFlags, Option<T>), Errno> {
    let mut buffer = [MaybeUninit::uninit(); 128];
    let mut control = RecvAncillaryBuffer::new(&mut buffer[..space]);
    let flags =
        recvmsg(socket, &mut [IoSliceMut::new(&mut [0])], &mut control, RecvFlags::CMSG_CLOEXEC)?.flags;
    Ok((flags, control.drain().next().and_then(take)))
}

fn pass_descriptor() -> Checked {
    let (left, right) = pair(SocketType::STREAM)?;
    let receiver = child(|| {
        let (_, file) = receive_control(&right, 128, |message| match message {
            RecvAncillaryMessage::ScmRights(mut files) => files.next(),
            _ => None,
        })?;
        let Some(file) = file else { return fail("no descriptor came") };
        holds("MSG_CMSG_CLOEXEC", fcntl_getfd(&file)?.contains(FdFlags::CLOEXEC))?;
        let mut text = String::new();
        File::from(file).read_to_string(&mut text)?;
        equal("what the open file gives", text.as_str(), "two")
    })?;
    let mut file = File::from(memfd_create("passed", MemfdFlags::empty())?);
    std::io::Write::write_all(&mut file, b"one two")?;
    file.seek(std::io::SeekFrom::Start(4))?;
    send_with(&left, SendAncillaryMessage::ScmRights(&[file.as_fd()]))?;
    receiver.succeeds()?;
    equal("offset that both share", file.stream_position()?, 7)?;
    send_with(&left, SendAncillaryMessage::ScmRights(&[file.as_fd()]))?;
    let (flags, none) = receive_control(&right, 0, |_| Some(()))?;
    equal("without room for it", (flags.contains(ReturnFlags::CTRUNC), none), (true, None))
}

fn peer_credentials() -> Checked {
    let address = SocketAddrUnix::new_abstract_name(b"credentials")?;
    let listener = listener(&address, SocketType::STREAM)?;
    let client = unprivileged(|| {
        let client = unix(SocketType::STREAM)?;
        connect(&client, &address)?;
        let server = socket_peercred(&client)?;
        equal("user of the server", server.uid, Uid::ROOT)?;
        // Stays until the server has looked.
        equal("end of file", read(&client, &mut [0])?, 0)
    })?;
    let peer = socket_peercred(accept(&listener)?)?;
    equal("process", peer.pid, client.pid())?;
    equal("user and group", (peer.uid, peer.gid), (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY)))?;
    client.succeeds()
}

fn sender_credentials() -> Checked {
    let (left, right) = pair(SocketType::DGRAM)?;
    set_socket_passcred(&right, true)?;
    let root = socket_peercred(&right)?;
    equal("process that made the pair", root.pid, getpid())?;
    let sender = unprivileged(|| {
        write(&left, b"x")?;
        fails(
            "claiming to be root",
            send_with(&left, SendAncillaryMessage::ScmCredentials(root)),
            Errno::PERM,
        )
    })?;
    let (_, credentials) = receive_control(&right, 128, |message| match message {
        RecvAncillaryMessage::ScmCredentials(credentials) => Some((credentials.pid, credentials.uid)),
        _ => None,
    })?;
    equal("process and user of the sender", credentials, Some((sender.pid(), Uid::from_raw(NOBODY))))?;
    sender.succeeds()
}

fn shut_down() -> Checked {
    let (left, right) = pair(SocketType::STREAM)?;
    write(&left, b"before")?;
    shutdown(&left, Shutdown::Write)?;
    equal("what was sent before", received(&right)?, b"before")?;
    equal("after it", received(&right)?, b"")?;
    fails("send(2) after SHUT_WR", send(&left, b"x", SendFlags::NOSIGNAL), Errno::PIPE)?;
    write(&right, b"back")?;
    equal("the other direction", received(&left)?, b"back")?;
    shutdown(&left, Shutdown::Read)?;
    equal("recv(2) after SHUT_RD", received(&left)?, b"")?;
    fails("send(2) to who shut down reading", send(&right, b"x", SendFlags::NOSIGNAL), Errno::PIPE)
}

fn peek_and_wait() -> Checked {
    const TIMEOUT: Duration = Duration::from_millis(50);
    /// It is counted in ticks, of which the first may be nearly over.
    const LONGEST_TICK: Duration = Duration::from_millis(10);
    let (left, right) = pair(SocketType::STREAM)?;
    let mut buffer = [0; 8];
    fails("MSG_DONTWAIT with nothing there", recv(&right, &mut buffer, RecvFlags::DONTWAIT), Errno::AGAIN)?;
    set_socket_timeout(&right, Timeout::Recv, Some(TIMEOUT))?;
    let start = Instant::now();
    fails("SO_RCVTIMEO with nothing there", recv(&right, &mut buffer, RecvFlags::empty()), Errno::AGAIN)?;
    at_least("time waited", start.elapsed(), TIMEOUT - LONGEST_TICK)?;
    set_socket_timeout(&right, Timeout::Recv, None)?;
    write(&left, b"1234")?;
    for flags in [RecvFlags::PEEK, RecvFlags::PEEK, RecvFlags::empty()] {
        equal("bytes seen", recv(&right, &mut buffer, flags)?.0, 4)?;
    }
    let writing = child(|| {
        write(&left, b"1234")?;
        write(&left, b"5678")?;
        Ok(())
    })?;
    equal("bytes of MSG_WAITALL", recv(&right, &mut buffer, RecvFlags::WAITALL)?.0, 8)?;
    equal("their order", &buffer, b"12345678")?;
    writing.succeeds()
}
