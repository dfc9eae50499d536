//! Waiting for one of many: poll(2), select(2), epoll(7), and eventfd(2), which is waited for here.

use harness::check::{Checked, equal, holds};
use harness::sys::call;
use protocol::Need;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::{Errno, read, write};

use super::parts::gives;
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    on_events("poll/poll-1", "poll(2) of one descriptor, which is ready", |meter| poll_many(meter, 1)),
    on_events("poll/poll-10", "poll(2) of 10 descriptors, one of them ready", |meter| poll_many(meter, 10)),
    on_events("poll/poll-100", "poll(2) of 100 descriptors, one of them ready", |meter| {
        poll_many(meter, 100)
    }),
    on_events("poll/select-1", "select(2) of one descriptor, which is ready", |meter| select_many(meter, 1)),
    on_events("poll/select-10", "select(2) of 10 descriptors, one of them ready", |meter| {
        select_many(meter, 10)
    }),
    on_events("poll/select-100", "select(2) of 100 descriptors, one of them ready", |meter| {
        select_many(meter, 100)
    }),
    on_events("poll/epoll-wait-1", "epoll_wait(2) of one descriptor, which is ready", |meter| {
        epoll_many(meter, 1)
    }),
    on_events("poll/epoll-wait-10", "epoll_wait(2) of 10 descriptors, all ready", |meter| {
        epoll_many(meter, 10)
    }),
    on_events("poll/epoll-wait-100", "epoll_wait(2) of 100 descriptors, all ready", |meter| {
        epoll_many(meter, 100)
    }),
    on_events(
        "poll/epoll-idle-100",
        "epoll_wait(2) of 100 descriptors, none ready, without waiting",
        epoll_idle,
    ),
    on_events("poll/epoll-add-remove", "epoll_ctl(2) EPOLL_CTL_ADD and EPOLL_CTL_DEL", epoll_add_remove),
    on_events("poll/epoll-modify", "epoll_ctl(2) EPOLL_CTL_MOD", epoll_modify),
    on_events("poll/epoll-create-close", "epoll_create1(2) and close(2)", epoll_create),
    on_events("poll/eventfd-write-read", "write(2) to an eventfd and read(2) of it", eventfd_write_read),
    on_events("poll/eventfd-create-close", "eventfd2(2) and close(2)", eventfd_create),
];

const fn on_events(name: &'static str, about: &'static str, body: fn(&mut Meter) -> Checked) -> Operation {
    Operation::new(name, about, body).needs(&[Need::Config("EPOLL"), Need::Config("EVENTFD")])
}

const NO_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// As many events, of which the last one has happened.
fn last_of(count: usize) -> Checked<Vec<OwnedFd>> {
    let mut events = events(count - 1, 0)?;
    events.push(eventfd(1, EventfdFlags::empty())?);
    Ok(events)
}

fn events(count: usize, value: u32) -> Result<Vec<OwnedFd>, Errno> {
    (0..count).map(|_| eventfd(value, EventfdFlags::empty())).collect()
}

fn poll_many(meter: &mut Meter, count: usize) -> Checked {
    let events = last_of(count)?;
    let mut watched: Vec<_> = events.iter().map(|event| PollFd::new(event, PollFlags::IN)).collect();
    gives(meter, "ready ones", 1, || poll(&mut watched, Some(&NO_TIME)))?;
    holds("the last one is ready", watched.last().is_some_and(|last| last.revents() == PollFlags::IN))
}

fn select_many(meter: &mut Meter, count: usize) -> Checked {
    let events = last_of(count)?;
    // SAFETY: all zeroes is the empty set.
    let (mut watched, mut ready): (libc::fd_set, libc::fd_set) = unsafe { std::mem::zeroed() };
    let last = events.iter().map(AsRawFd::as_raw_fd).max().unwrap_or(0);
    for event in &events {
        // SAFETY: the descriptors are far fewer than FD_SETSIZE.
        unsafe { libc::FD_SET(event.as_raw_fd(), &raw mut watched) };
    }
    let mut no_time = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let highest = last.unsigned_abs() as usize;
    gives(meter, "ready ones", 1, || {
        ready = watched;
        // SAFETY: a set, and a time; the kernel may change both.
        unsafe {
            call(libc::SYS_select, [highest + 1, (&raw mut ready).addr(), 0, 0, (&raw mut no_time).addr()])
        }
    })?;
    // SAFETY: the set is valid; the kernel has changed it behind the compiler's back.
    holds("the last one is ready", unsafe { libc::FD_ISSET(last, &raw const ready) })
}

/// An epoll descriptor that watches all of `events`.
fn watching(events: &[OwnedFd]) -> Result<OwnedFd, Errno> {
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    for (number, event) in (0..).zip(events) {
        epoll::add(&epoll, event, EventData::new_u64(number), EventFlags::IN)?;
    }
    Ok(epoll)
}

const NO_EVENT: Event = Event { flags: EventFlags::empty(), data: EventData::new_u64(0) };

fn epoll_many(meter: &mut Meter, count: usize) -> Checked {
    let events = events(count, 1)?;
    let (epoll, mut ready) = (watching(&events)?, [NO_EVENT; 128]);
    gives(meter, "ready ones", count, || epoll::wait(&epoll, &mut ready, Some(&NO_TIME)))?;
    let mut seen: Vec<_> = ready[..count].iter().map(|event| event.data.u64()).collect();
    seen.sort_unstable();
    holds("each was reported once", seen.into_iter().eq(0..count as u64))
}

fn epoll_idle(meter: &mut Meter) -> Checked {
    let events = events(100, 0)?;
    let (epoll, mut ready) = (watching(&events)?, [NO_EVENT; 128]);
    gives(meter, "ready ones", 0, || epoll::wait(&epoll, &mut ready, Some(&NO_TIME)))
}

fn epoll_add_remove(meter: &mut Meter) -> Checked {
    let (epoll, event) = (watching(&[])?, eventfd(1, EventfdFlags::empty())?);
    meter.each(|| {
        epoll::add(&epoll, &event, EventData::new_u64(0), EventFlags::IN)?;
        epoll::delete(&epoll, &event)
    })?;
    equal("ready ones", epoll::wait(&epoll, &mut [NO_EVENT; 2], Some(&NO_TIME))?, 0)
}

fn epoll_modify(meter: &mut Meter) -> Checked {
    let event = eventfd(1, EventfdFlags::empty())?;
    let (epoll, mut ready) = (watching(std::slice::from_ref(&event))?, [NO_EVENT; 2]);
    meter.each(|| epoll::modify(&epoll, &event, EventData::new_u64(7), EventFlags::OUT))?;
    equal("ready ones", epoll::wait(&epoll, &mut ready, Some(&NO_TIME))?, 1)?;
    equal("its data", ready[0].data.u64(), 7)
}

fn epoll_create(meter: &mut Meter) -> Checked {
    let mut last = None;
    meter.each(|| {
        last = Some(epoll::create(CreateFlags::CLOEXEC)?);
        Ok::<_, Errno>(())
    })?;
    let ready = last.map_or(Err(Errno::BADF), |epoll| epoll::wait(epoll, &mut [NO_EVENT; 2], Some(&NO_TIME)));
    equal("ready ones", ready?, 0)
}

fn eventfd_write_read(meter: &mut Meter) -> Checked {
    let (event, mut value) = (eventfd(0, EventfdFlags::empty())?, [0; 8]);
    gives(meter, "bytes", (8, 8), || Ok((write(&event, &7_u64.to_ne_bytes())?, read(&event, &mut value)?)))?;
    equal("the value", u64::from_ne_bytes(value), 7)
}

fn eventfd_create(meter: &mut Meter) -> Checked {
    let (mut last, mut value) = (None, [0; 8]);
    meter.each(|| {
        last = Some(eventfd(7, EventfdFlags::empty())?);
        Ok::<_, Errno>(())
    })?;
    equal("bytes", last.map_or(Err(Errno::BADF), |event| read(event, &mut value))?, 8)?;
    equal("the value", u64::from_ne_bytes(value), 7)
}
