//! Who sends and who receives.

use std::convert::Infallible;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use harness::check::Checked;
use harness::child::pause_forever;
use harness::clock::monotonic;
use protocol::steal::Load;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::thread::set_current_timer_slack;

use super::link::{End, RECEIVER};
use super::shared::Shared;
use super::worker::Maker;

/// Where the receiver listens.
const PORT: u16 = 9;

/// Bytes that are written or read at once by a stream.
const CHUNK: usize = 64 << 10;

/// Bytes of a request and of its answer.
const REQUEST: usize = 64;

/// Packets that are sent without a look at the clock.
const BURST: u64 = 32;

/// A sender that is so much behind its rate cannot reach it, and does not try to make up for it.
const BEHIND: u64 = 1000;

/// How long it sleeps when it is ahead: two packets at the usual rate.
const NAP: Duration = Duration::from_micros(20);

/// Nanoseconds of a second.
const SECOND: u128 = 1_000_000_000;

fn address(end: End) -> SocketAddr {
    SocketAddrV4::new(end.address, PORT).into()
}

/// Sends until this process is killed. It says when it begins.
pub(super) fn send(load: Load, sent: &Shared, maker: &mut Maker) -> Checked {
    let count = sent.count();
    match load {
        Load::Udp { pps, size } => {
            let socket = UdpSocket::bind((std::net::Ipv4Addr::UNSPECIFIED, 0))?;
            socket.connect(address(RECEIVER))?;
            maker.ready()?;
            packets(&socket, pps, size, count)
        }
        Load::TcpStream(streams) => {
            let streams = connect(streams)?;
            maker.ready()?;
            Ok(stream(streams, count).map(drop)?)
        }
        Load::Request(connections) => {
            let connections = connect(connections)?;
            maker.ready()?;
            Ok(ask(connections, count).map(drop)?)
        }
        Load::Timer { .. } => Ok(()),
    }
}

/// Receives until this process is killed. It says when it can.
pub(super) fn receive(load: Load, maker: &mut Maker) -> Checked {
    match load {
        Load::Udp { .. } => {
            // Nobody reads it: what is measured is what the kernel does to deliver.
            let _socket = UdpSocket::bind(address(RECEIVER))?;
            maker.ready()?;
            pause_forever()
        }
        Load::TcpStream(count) => Ok(answer(count, false, maker).map(drop)?),
        Load::Request(count) => Ok(answer(count, true, maker).map(drop)?),
        Load::Timer { .. } => Ok(()),
    }
}

fn packets(socket: &UdpSocket, pps: u32, size: u32, count: &AtomicU64) -> Checked {
    set_current_timer_slack(std::num::NonZeroU64::new(1))?;
    let payload = vec![0; size as usize];
    let begin = monotonic();
    let (mut sent, mut waived) = (0, 0);
    loop {
        let due = due(monotonic() - begin, pps).saturating_sub(waived);
        if due <= sent {
            std::thread::sleep(NAP);
            continue;
        }
        if due - sent > BEHIND {
            waived += due - sent - BEHIND;
        }
        for _ in 0..(due - sent).min(BURST) {
            // A packet that the kernel has no room for was work for it, too.
            let _ = socket.send(&payload);
            sent += 1;
        }
        count.store(sent, Relaxed);
    }
}

/// How many packets are to be sent by now.
fn due(elapsed_ns: u64, pps: u32) -> u64 {
    u64::try_from(u128::from(elapsed_ns) * u128::from(pps) / SECOND).unwrap_or(u64::MAX)
}

fn connect(count: u32) -> std::io::Result<Vec<TcpStream>> {
    let connected = |_| {
        let stream = TcpStream::connect(address(RECEIVER))?;
        stream.set_nodelay(true)?;
        Ok(stream)
    };
    (0..count).map(connected).collect()
}

/// Writes to each in turns what it takes.
fn stream(mut streams: Vec<TcpStream>, count: &AtomicU64) -> std::io::Result<Infallible> {
    let chunk = vec![0; CHUNK];
    for stream in &streams {
        stream.set_nonblocking(true)?;
    }
    loop {
        wait(&streams, PollFlags::OUT)?;
        for stream in &mut streams {
            match stream.write(&chunk) {
                Ok(written) => drop(count.fetch_add(written as u64, Relaxed)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Asks on all at once, and waits for all answers.
fn ask(mut connections: Vec<TcpStream>, count: &AtomicU64) -> std::io::Result<Infallible> {
    loop {
        for connection in &mut connections {
            connection.write_all(&[0; REQUEST])?;
        }
        for connection in &mut connections {
            connection.read_exact(&mut [0; REQUEST])?;
            count.fetch_add(1, Relaxed);
        }
    }
}

/// Takes so many connections, and what comes from them; gives it back where that is wanted.
fn answer(count: u32, echoes: bool, maker: &mut Maker) -> std::io::Result<Infallible> {
    let listener = TcpListener::bind(address(RECEIVER))?;
    maker.ready().map_err(|_| ErrorKind::BrokenPipe)?;
    let mut streams =
        (0..count).map(|_| Ok(listener.accept()?.0)).collect::<std::io::Result<Vec<TcpStream>>>()?;
    for stream in &streams {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
    }
    let mut buffer = vec![0; CHUNK];
    loop {
        wait(&streams, PollFlags::IN)?;
        for stream in &mut streams {
            match stream.read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(size) if echoes => stream.write_all(&buffer[..size])?,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Waits until one of them can go on.
fn wait(streams: &[TcpStream], events: PollFlags) -> std::io::Result<()> {
    let mut polled: Vec<PollFd<'_>> = streams.iter().map(|stream| PollFd::new(stream, events)).collect();
    poll(&mut polled, None)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_due_at_their_rate() {
        assert_eq!([0, 999_999, 1_000_000, 2_500_000].map(|ns| due(ns, 1000)), [0, 0, 1, 2]);
        assert_eq!(due(u64::MAX, 10_000_000), 184_467_440_737_095_516);
    }
}
