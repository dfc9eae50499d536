//! `poll`, `select`, `epoll`: waiting for many descriptors at a time.

use std::mem::MaybeUninit;

use harness::check::{Checked, equal, fails, holds};
use rustix::event::{
    FdSetElement, FdSetIter, PollFd, PollFlags, Timespec, epoll, fd_set_insert, fd_set_num_elements, poll,
    select,
};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::{Errno, read, write};
use rustix::pipe::pipe;

use crate::Worker;
use crate::stressor::{Class, Need, Setting, Stressor, number};
use harness::random::Random;

const PIPES: Setting = number("pipes", "pipes that are waited for", 1..=400, 32);

const WAIT: Stressor = Stressor {
    classes: &[Class::Ipc, Class::Scheduler, Class::Os],
    operation: "some pipes written to, one wait, and what was written read",
    verifies: "exactly the pipes with something in them are ready, and none after they were read",
    options: &[PIPES],
    ..Stressor::PLAIN
};

pub(super) const POLL: Stressor =
    Stressor { name: "poll", about: "waiting with poll(2)", body: |worker| wait(worker, by_poll), ..WAIT };

pub(super) const SELECT: Stressor = Stressor {
    name: "select",
    about: "waiting with select(2)",
    body: |worker| wait(worker, by_select),
    ..WAIT
};

pub(super) const EPOLL: Stressor = Stressor {
    name: "epoll",
    about: "waiting with epoll(7), by level and by edge, one shot and again",
    needs: &[Need::Config("EPOLL")],
    body: by_epoll,
    ..WAIT
};

/// The places of the ready ones among the readers, without waiting.
type Ready = fn(&[OwnedFd]) -> Checked<Vec<usize>>;

/// None of the pipes.
const NONE: [usize; 0] = [];

const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

fn pipes(worker: &Worker) -> Checked<(Vec<OwnedFd>, Vec<OwnedFd>)> {
    let pairs = (0..worker.size(&PIPES)).map(|_| pipe()).collect::<Result<Vec<_>, _>>()?;
    Ok(pairs.into_iter().unzip())
}

/// Writes to some of the pipes, and gives their places.
fn write_some(writers: &[OwnedFd], random: &mut Random) -> Checked<Vec<usize>> {
    let chosen: Vec<usize> = (0..writers.len()).filter(|_| random.below(3) == 0).collect();
    chosen.iter().try_for_each(|&at| write(&writers[at], b"x").map(drop))?;
    Ok(chosen)
}

fn read_some(readers: &[OwnedFd], chosen: &[usize]) -> Checked {
    chosen.iter().try_for_each(|&at| equal("bytes read", read(&readers[at], &mut [0; 2])?, 1))
}

fn wait(worker: &Worker, ready: Ready) -> Checked {
    let ((readers, writers), mut random) = (pipes(worker)?, worker.random());
    worker.repeat(|| {
        let chosen = write_some(&writers, &mut random)?;
        holds("those with something are ready", ready(&readers)? == chosen)?;
        read_some(&readers, &chosen)?;
        equal("ready once they are read", ready(&readers)?, NONE)
    })
}

fn by_poll(readers: &[OwnedFd]) -> Checked<Vec<usize>> {
    let mut all: Vec<PollFd<'_>> = readers.iter().map(|reader| PollFd::new(reader, PollFlags::IN)).collect();
    let count = poll(&mut all, Some(&NOW))?;
    let ready: Vec<usize> = (0..all.len()).filter(|&at| all[at].revents() == PollFlags::IN).collect();
    equal("how many are ready", count, ready.len())?;
    Ok(ready)
}

fn by_select(readers: &[OwnedFd]) -> Checked<Vec<usize>> {
    let highest = readers.iter().map(AsRawFd::as_raw_fd).max().unwrap_or(0) + 1;
    let mut set = vec![FdSetElement::default(); fd_set_num_elements(readers.len(), highest)];
    readers.iter().for_each(|reader| fd_set_insert(&mut set, reader.as_raw_fd()));
    // SAFETY: the descriptors are open.
    let count = unsafe { select(highest, Some(&mut set), None, None, Some(&NOW))? };
    let numbers: Vec<i32> = FdSetIter::new(&set).collect();
    equal("how many are ready", count.unsigned_abs() as usize, numbers.len())?;
    Ok((0..readers.len()).filter(|&at| numbers.contains(&readers[at].as_raw_fd())).collect())
}

/// The data of all events that there are now.
fn events(set: &OwnedFd, most: usize) -> Checked<Vec<usize>> {
    let mut space = vec![MaybeUninit::<epoll::Event>::uninit(); most + 1];
    let (events, _) = epoll::wait(set, &mut space[..], Some(&NOW))?;
    let mut all: Vec<usize> = events.iter().map(|event| event.data.u64() as usize).collect();
    all.sort_unstable();
    Ok(all)
}

fn by_epoll(worker: &Worker) -> Checked {
    let ((readers, writers), mut random) = (pipes(worker)?, worker.random());
    let (set, count) = (epoll::create(epoll::CreateFlags::CLOEXEC)?, readers.len());
    let data = |at: usize| epoll::EventData::new_u64(at as u64);
    for (at, reader) in readers.iter().enumerate() {
        epoll::add(&set, reader, data(at), epoll::EventFlags::IN)?;
    }
    fails("adding one again", epoll::add(&set, &readers[0], data(0), epoll::EventFlags::IN), Errno::EXIST)?;
    let all_to = |flags| (0..count).try_for_each(|at| epoll::modify(&set, &readers[at], data(at), flags));
    let (level, edge) = (epoll::EventFlags::IN, epoll::EventFlags::IN | epoll::EventFlags::ET);
    worker.repeat(|| {
        let chosen = write_some(&writers, &mut random)?;
        equal("ready by level", events(&set, count)?, chosen.clone())?;
        equal("ready by level once more", events(&set, count)?, chosen.clone())?;
        all_to(edge)?;
        equal("ready by edge", events(&set, count)?, chosen.clone())?;
        equal("ready by edge once more", events(&set, count)?, NONE)?;
        all_to(level | epoll::EventFlags::ONESHOT)?;
        equal("ready for one shot", events(&set, count)?, chosen.clone())?;
        equal("ready after the shot", events(&set, count)?, NONE)?;
        read_some(&readers, &chosen)?;
        all_to(level)?;
        equal("ready once they are read", events(&set, count)?, NONE)
    })
}
