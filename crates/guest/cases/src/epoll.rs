//! Waiting for many descriptors: epoll(7).

use std::time::{Duration, Instant};

use harness::check::{Checked, at_least, equal, fails, holds};
use harness::child::child;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{Errno, dup, read, write};
use rustix::net::{AddressFamily, Shutdown, SocketFlags, SocketType, shutdown, socketpair};
use rustix::pipe::pipe;
use rustix::process::{WaitOptions, waitpid};

use crate::case::{Case, Need};

const NEEDS: &[Need] = &[Need::Config("EPOLL")];
const SOCKETS: &[Need] = &[Need::Config("EPOLL"), Need::Config("UNIX")];

pub(super) const CASES: &[Case] = &[
    Case::new("epoll/level", "epoll_wait(2) reports a descriptor as long as it is ready", level).needs(NEEDS),
    Case::new("epoll/edge", "epoll_wait(2) with EPOLLET reports once for each arrival of data", edge)
        .needs(NEEDS),
    Case::new("epoll/one-shot", "epoll_ctl(2) EPOLLONESHOT reports once until EPOLL_CTL_MOD", one_shot)
        .needs(NEEDS),
    Case::new(
        "epoll/exclusive",
        "epoll_ctl(2) EPOLLEXCLUSIVE wakes at least one of several waiters",
        exclusive,
    )
    .needs(&[Need::Config("EPOLL"), Need::Config("EVENTFD")]),
    Case::new("epoll/hang-up", "epoll_wait(2) reports EPOLLHUP unasked and EPOLLRDHUP when asked", hang_up)
        .needs(SOCKETS),
    Case::new("epoll/nested", "epoll_ctl(2) takes an epoll descriptor, but no circle: ELOOP", nested)
        .needs(NEEDS),
    Case::new("epoll/close", "close(2) of the last descriptor takes a file out of epoll, not before", close)
        .needs(NEEDS),
    Case::new("epoll/refusals", "epoll_ctl(2) gives EEXIST, ENOENT, EPERM and EINVAL as promised", refusals)
        .needs(NEEDS),
    Case::new("epoll/timeout", "epoll_wait(2) with nothing ready lasts at least its timeout", timeout)
        .needs(NEEDS),
];

/// An epoll descriptor that watches `fd` for `events`, with 7 as its data.
fn watching(fd: impl AsFd, events: EventFlags) -> Result<OwnedFd, Errno> {
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, fd, EventData::new_u64(7), events)?;
    Ok(epoll)
}

/// What is ready, waiting at most for `timeout`.
fn wait(epoll: &OwnedFd, timeout: Option<&Timespec>) -> Result<Vec<(u64, EventFlags)>, Errno> {
    let mut events = [Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; 4];
    let count = epoll::wait(epoll, &mut events, timeout)?;
    Ok(events[..count].iter().map(|event| (event.data.u64(), event.flags)).collect())
}

/// What is ready now.
fn ready(epoll: &OwnedFd) -> Result<Vec<(u64, EventFlags)>, Errno> {
    wait(epoll, Some(&Timespec::default()))
}

const IN: [(u64, EventFlags); 1] = [(7, EventFlags::IN)];
const NOTHING: [(u64, EventFlags); 0] = [];

fn level() -> Checked {
    let (reader, writer) = pipe()?;
    let epoll = watching(&reader, EventFlags::IN)?;
    equal("an empty pipe", ready(&epoll)?, NOTHING)?;
    write(&writer, b"ab")?;
    for _ in 0..2 {
        equal("a pipe with data", ready(&epoll)?, IN)?;
    }
    read(&reader, &mut [0])?;
    equal("a pipe with the rest", ready(&epoll)?, IN)?;
    read(&reader, &mut [0])?;
    equal("a pipe that was read", ready(&epoll)?, NOTHING)?;
    let writing = child(|| Ok(write(&writer, b"c").map(drop)?))?;
    equal("a pipe that a child writes to", wait(&epoll, None)?, IN)?;
    writing.succeeds()
}

fn edge() -> Checked {
    let (reader, writer) = pipe()?;
    write(&writer, b"a")?;
    let epoll = watching(&reader, EventFlags::IN | EventFlags::ET)?;
    equal("data from before", ready(&epoll)?, IN)?;
    equal("the same data", ready(&epoll)?, NOTHING)?;
    write(&writer, b"b")?;
    equal("new data", ready(&epoll)?, IN)?;
    read(&reader, &mut [0])?;
    equal("the rest of it", ready(&epoll)?, NOTHING)
}

fn one_shot() -> Checked {
    let (reader, writer) = pipe()?;
    let flags = EventFlags::IN | EventFlags::ONESHOT;
    let epoll = watching(&reader, flags)?;
    write(&writer, b"a")?;
    equal("first data", ready(&epoll)?, IN)?;
    write(&writer, b"b")?;
    equal("more data", ready(&epoll)?, NOTHING)?;
    epoll::modify(&epoll, &reader, EventData::new_u64(8), flags)?;
    equal("after EPOLL_CTL_MOD", ready(&epoll)?, [(8, EventFlags::IN)])?;
    equal("once more", ready(&epoll)?, NOTHING)
}

fn exclusive() -> Checked {
    let event = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::SEMAPHORE)?;
    let mut waiters = Vec::new();
    for _ in 0..2 {
        let (reader, writer) = pipe()?;
        waiters.push(child(|| {
            let epoll = watching(&event, EventFlags::IN | EventFlags::EXCLUSIVE)?;
            let data = EventData::new_u64(7);
            fails("EPOLL_CTL_MOD of it", epoll::modify(&epoll, &event, data, EventFlags::IN), Errno::INVAL)?;
            write(&writer, b"x")?;
            loop {
                equal("event", wait(&epoll, None)?, IN)?;
                // Both may be woken, but only one finds the event.
                if read(&event, &mut [0; 8]) != Err(Errno::AGAIN) {
                    return Ok(());
                }
            }
        })?);
        drop(writer);
        read(&reader, &mut [0])?;
    }
    for _ in 0..2 {
        write(&event, &1_u64.to_ne_bytes())?;
        let status = waitpid(None, WaitOptions::empty())?.map(|(_, status)| status.exit_status());
        equal("exit status of the waiter that was woken", status, Some(Some(0)))?;
    }
    Ok(())
}

fn hang_up() -> Checked {
    let (reader, writer) = pipe()?;
    let epoll = watching(&reader, EventFlags::empty())?;
    write(&writer, b"a")?;
    equal("data that nobody asked for", ready(&epoll)?, NOTHING)?;
    drop(writer);
    equal("a pipe without writers", ready(&epoll)?, [(7, EventFlags::HUP)])?;
    let (left, right) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::empty(), None)?;
    let epoll = watching(&left, EventFlags::RDHUP)?;
    equal("a socket", ready(&epoll)?, NOTHING)?;
    shutdown(&right, Shutdown::Write)?;
    equal("after the peer's SHUT_WR", ready(&epoll)?, [(7, EventFlags::RDHUP)])?;
    drop(right);
    equal("after the peer's close(2)", ready(&epoll)?, [(7, EventFlags::RDHUP | EventFlags::HUP)])
}

fn nested() -> Checked {
    let (reader, writer) = pipe()?;
    let inner = watching(&reader, EventFlags::IN)?;
    let outer = watching(&inner, EventFlags::IN)?;
    equal("with nothing ready inside", ready(&outer)?, NOTHING)?;
    write(&writer, b"a")?;
    equal("with a ready pipe inside", ready(&outer)?, IN)?;
    let circle = epoll::add(&inner, &outer, EventData::new_u64(7), EventFlags::IN);
    fails("a circle", circle, Errno::LOOP)
}

fn close() -> Checked {
    let (reader, writer) = pipe()?;
    let epoll = watching(&reader, EventFlags::IN)?;
    write(&writer, b"a")?;
    let copy = dup(&reader)?;
    drop(reader);
    equal("while a copy is open", ready(&epoll)?, IN)?;
    drop(copy);
    equal("after the last close(2)", ready(&epoll)?, NOTHING)
}

fn refusals() -> Checked {
    let (reader, writer) = pipe()?;
    let epoll = watching(&reader, EventFlags::IN)?;
    let add = |fd: &OwnedFd| epoll::add(&epoll, fd, EventData::new_u64(0), EventFlags::IN);
    fails("adding it again", add(&reader), Errno::EXIST)?;
    fails("adding a regular file", add(&memfd_create("file", MemfdFlags::empty())?), Errno::PERM)?;
    fails("adding epoll to itself", add(&epoll), Errno::INVAL)?;
    fails("removing what is not there", epoll::delete(&epoll, &writer), Errno::NOENT)?;
    let data = EventData::new_u64(0);
    fails("changing what is not there", epoll::modify(&epoll, &writer, data, EventFlags::IN), Errno::NOENT)?;
    fails("adding to a pipe", epoll::add(&reader, &writer, data, EventFlags::IN), Errno::INVAL)?;
    epoll::delete(&epoll, &reader)?;
    fails("removing it twice", epoll::delete(&epoll, &reader), Errno::NOENT)?;
    holds("adding it after that", add(&reader).is_ok())
}

fn timeout() -> Checked {
    let (reader, _writer) = pipe()?;
    let epoll = watching(&reader, EventFlags::IN)?;
    let start = Instant::now();
    equal("what is ready", wait(&epoll, Some(&Timespec { tv_sec: 0, tv_nsec: 30_000_000 }))?, NOTHING)?;
    at_least("time waited", start.elapsed(), Duration::from_millis(30))
}
