//! Events as files: eventfd(2), timerfd_create(2), signalfd(2), inotify(7), poll(2).

use std::mem::MaybeUninit;
use std::time::{Duration, Instant};

use harness::check::{Checked, at_least, equal, fails, holds};
use harness::child::{child, last_error};
use harness::sys::{block, handle, signal_set};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::{Errno, read, write};
use rustix::pipe::pipe;
use rustix::process::{Signal, getpid, kill_process};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_gettime,
    timerfd_settime,
};

use crate::case::{Case, Need};

const EVENTFD: &[Need] = &[Need::Config("EVENTFD")];
const TIMERFD: &[Need] = &[Need::Config("TIMERFD")];

pub(super) const CASES: &[Case] = &[
    Case::new("event/counter", "eventfd(2) adds what is written and gives the sum once", counter)
        .needs(EVENTFD),
    Case::new("event/semaphore", "eventfd(2) EFD_SEMAPHORE gives 1 as often as was written", semaphore)
        .needs(EVENTFD),
    Case::new("event/counter-full", "eventfd(2) waits at its maximum, or gives EAGAIN; EINVAL", counter_full)
        .needs(EVENTFD),
    Case::new("event/timer", "timerfd_settime(2) expires no earlier than it was set, once", timer)
        .needs(TIMERFD),
    Case::new(
        "event/timer-interval",
        "read(2) of a timerfd counts the expirations of its interval",
        interval,
    )
    .needs(TIMERFD),
    Case::new("event/signal", "signalfd(2) delivers blocked signals with their sender", signal)
        .needs(&[Need::Config("SIGNALFD")]),
    Case::new("event/names", "inotify(7) reports creation, renaming and removal with names, in order", names)
        .needs(&[Need::Config("INOTIFY_USER")]),
    Case::new(
        "event/content",
        "inotify(7) reports opening, writing, closing; IN_IGNORED at the end",
        content,
    )
    .needs(&[Need::Config("INOTIFY_USER")]),
    Case::new(
        "event/poll",
        "poll(2) distinguishes POLLIN, POLLOUT, POLLHUP, POLLERR and POLLNVAL",
        poll_events,
    ),
    Case::new("event/poll-timeout", "poll(2) with nothing ready lasts at least its timeout", poll_timeout),
    Case::new("event/poll-mask", "ppoll(2) lets in the signals of its mask and gives EINTR", poll_mask),
];

/// read(2) of the 8 bytes that eventfd and timerfd give.
fn number(fd: &OwnedFd) -> Result<u64, Errno> {
    let mut bytes = [0; 8];
    read(fd, &mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

fn add(fd: &OwnedFd, value: u64) -> Result<usize, Errno> {
    write(fd, &value.to_ne_bytes())
}

/// What of `wanted` is true of `fd` now.
fn state(fd: impl AsFd, wanted: PollFlags) -> Result<PollFlags, Errno> {
    let mut watched = [PollFd::new(&fd, wanted)];
    poll(&mut watched, Some(&Timespec::default()))?;
    Ok(watched[0].revents())
}

fn counter() -> Checked {
    let event = eventfd(3, EventfdFlags::NONBLOCK)?;
    add(&event, 4)?;
    equal(
        "ready with a sum",
        state(&event, PollFlags::IN | PollFlags::OUT)?,
        PollFlags::IN | PollFlags::OUT,
    )?;
    equal("sum", number(&event)?, 7)?;
    equal("ready without a sum", state(&event, PollFlags::IN | PollFlags::OUT)?, PollFlags::OUT)?;
    fails("read(2) of 0", number(&event), Errno::AGAIN)?;
    let event = eventfd(0, EventfdFlags::empty())?;
    let adding = child(|| Ok(add(&event, 5).map(drop)?))?;
    equal("what a child adds", number(&event)?, 5)?;
    adding.succeeds()
}

fn semaphore() -> Checked {
    let event = eventfd(2, EventfdFlags::SEMAPHORE | EventfdFlags::NONBLOCK)?;
    add(&event, 1)?;
    for _ in 0..3 {
        equal("one of three", number(&event)?, 1)?;
    }
    fails("a fourth", number(&event), Errno::AGAIN)
}

fn counter_full() -> Checked {
    let event = eventfd(0, EventfdFlags::NONBLOCK)?;
    fails("write(2) of the largest number", add(&event, u64::MAX), Errno::INVAL)?;
    equal("bytes of the next smaller", add(&event, u64::MAX - 1)?, 8)?;
    equal("ready when full", state(&event, PollFlags::IN | PollFlags::OUT)?, PollFlags::IN)?;
    fails("one more", add(&event, 1), Errno::AGAIN)?;
    equal("sum", number(&event)?, u64::MAX - 1)?;
    fails("write(2) of 4 bytes", write(&event, &[0; 4]), Errno::INVAL)?;
    fails("read(2) of 4 bytes", read(&event, &mut [0; 4]), Errno::INVAL)
}

const fn milliseconds(count: i64) -> Timespec {
    Timespec { tv_sec: 0, tv_nsec: count * 1_000_000 }
}

fn timer() -> Checked {
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK)?;
    let set = |value| {
        let setting = Itimerspec { it_interval: Timespec::default(), it_value: value };
        timerfd_settime(&timer, TimerfdTimerFlags::empty(), &setting)
    };
    let start = Instant::now();
    set(Timespec { tv_sec: 1000, tv_nsec: 0 })?;
    fails("read(2) before it expires", number(&timer), Errno::AGAIN)?;
    let old = set(milliseconds(30))?;
    holds("something was left of the old setting", old.it_value > Timespec::default())?;
    poll(&mut [PollFd::new(&timer, PollFlags::IN)], None)?;
    at_least("time until it expired", start.elapsed(), Duration::from_millis(30))?;
    equal("expirations", number(&timer)?, 1)?;
    fails("read(2) after that", number(&timer), Errno::AGAIN)?;
    let rest = timerfd_gettime(&timer)?.it_value;
    equal("time left", (rest.tv_sec, rest.tv_nsec), (0, 0))?;
    fails("1000000000 nanoseconds", set(milliseconds(1000)), Errno::INVAL)
}

fn interval() -> Checked {
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::empty())?;
    let setting = Itimerspec { it_interval: milliseconds(10), it_value: milliseconds(5) };
    let start = Instant::now();
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &setting)?;
    let mut expirations = 0;
    while expirations < 5 {
        let more = number(&timer)?;
        at_least("expirations of one read(2)", more, 1)?;
        expirations += more;
    }
    at_least("time of all", start.elapsed(), Duration::from_millis(5 + 10 * (expirations - 1)))?;
    let interval = timerfd_gettime(&timer)?.it_interval.tv_nsec;
    equal("interval", interval, 10_000_000)
}

fn signal() -> Checked {
    block(&[libc::SIGUSR1, libc::SIGUSR2])?;
    let set = signal_set(&[libc::SIGUSR1]);
    // SAFETY: the set is valid, and -1 asks for a new descriptor.
    let fd = unsafe { libc::signalfd(-1, &raw const set, libc::SFD_NONBLOCK) };
    if fd < 0 {
        Err(last_error())?;
    }
    // SAFETY: just made, so nobody else has it.
    let signals = unsafe { OwnedFd::from_raw_fd(fd) };
    let mut info = [0; size_of::<libc::signalfd_siginfo>()];
    fails("read(2) without a signal", read(&signals, &mut info), Errno::AGAIN)?;
    kill_process(getpid(), Signal::USR2)?;
    fails("read(2) with another signal", read(&signals, &mut info), Errno::AGAIN)?;
    kill_process(getpid(), Signal::USR1)?;
    equal("ready", state(&signals, PollFlags::IN)?, PollFlags::IN)?;
    equal("bytes read", read(&signals, &mut info)?, info.len())?;
    // SAFETY: all of its bytes were read, and any bits are valid.
    let info: libc::signalfd_siginfo = unsafe { std::ptr::read_unaligned(info.as_ptr().cast()) };
    let expected = (libc::SIGUSR1.unsigned_abs(), getpid().as_raw_pid().unsigned_abs());
    equal("signal and sender", (info.ssi_signo, info.ssi_pid), expected)?;
    equal("ready after that", state(&signals, PollFlags::IN)?, PollFlags::empty())
}

/// All events that are there, with their names.
fn events(inotify: &OwnedFd) -> Result<Vec<(ReadFlags, u32, String)>, Errno> {
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut reader = inotify::Reader::new(inotify, &mut buffer);
    let mut events = Vec::new();
    loop {
        match reader.next() {
            Ok(event) => {
                let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
                events.push((event.events(), event.cookie(), name.unwrap_or_default()));
            }
            Err(Errno::AGAIN) => return Ok(events),
            Err(error) => return Err(error),
        }
    }
}

fn names() -> Checked {
    std::fs::create_dir("watched")?;
    let inotify = inotify::init(CreateFlags::NONBLOCK)?;
    inotify::add_watch(&inotify, "watched", WatchFlags::CREATE | WatchFlags::MOVE | WatchFlags::DELETE)?;
    equal("events before anything happened", events(&inotify)?, [])?;
    std::fs::create_dir("watched/folder")?;
    std::fs::write("watched/old", "text")?;
    std::fs::rename("watched/old", "watched/new")?;
    std::fs::remove_file("watched/new")?;
    let events = events(&inotify)?;
    let seen: Vec<_> = events.iter().map(|(flags, _, name)| (*flags, name.as_str())).collect();
    equal(
        "events and names",
        seen,
        [
            (ReadFlags::CREATE | ReadFlags::ISDIR, "folder"),
            (ReadFlags::CREATE, "old"),
            (ReadFlags::MOVED_FROM, "old"),
            (ReadFlags::MOVED_TO, "new"),
            (ReadFlags::DELETE, "new"),
        ],
    )?;
    holds("a cookie joins both names", events[2].1 != 0 && events[2].1 == events[3].1)?;
    holds("other events have none", events[0].1 == 0 && events[4].1 == 0)
}

fn content() -> Checked {
    std::fs::write("file", "")?;
    let inotify = inotify::init(CreateFlags::NONBLOCK)?;
    fails("a watch on nothing", inotify::add_watch(&inotify, "missing", WatchFlags::OPEN), Errno::NOENT)?;
    fails(
        "IN_ONLYDIR on a file",
        inotify::add_watch(&inotify, "file", WatchFlags::ONLYDIR | WatchFlags::OPEN),
        Errno::NOTDIR,
    )?;
    let wanted = WatchFlags::OPEN | WatchFlags::MODIFY | WatchFlags::CLOSE | WatchFlags::DELETE_SELF;
    let watch = inotify::add_watch(&inotify, "file", wanted)?;
    let file = std::fs::File::options().append(true).open("file")?;
    write(&file, b"x")?;
    drop(file);
    std::fs::remove_file("file")?;
    let seen: Vec<_> = events(&inotify)?.into_iter().map(|(flags, _, _)| flags).collect();
    equal(
        "events",
        seen,
        [
            ReadFlags::OPEN,
            ReadFlags::MODIFY,
            ReadFlags::CLOSE_WRITE,
            ReadFlags::DELETE_SELF,
            ReadFlags::IGNORED,
        ],
    )?;
    fails(
        "removing the watch, which went with the file",
        inotify::remove_watch(&inotify, watch),
        Errno::INVAL,
    )
}

fn poll_events() -> Checked {
    let both = PollFlags::IN | PollFlags::OUT;
    let (reader, writer) = pipe()?;
    equal(
        "an empty pipe",
        (state(&reader, both)?, state(&writer, both)?),
        (PollFlags::empty(), PollFlags::OUT),
    )?;
    write(&writer, b"x")?;
    equal("a pipe with data", state(&reader, both)?, PollFlags::IN)?;
    equal("data that nobody asked for", state(&reader, PollFlags::empty())?, PollFlags::empty())?;
    drop(writer);
    equal("data without writers", state(&reader, both)?, PollFlags::IN | PollFlags::HUP)?;
    let (reader, writer) = pipe()?;
    drop(reader);
    equal("a pipe without readers", state(&writer, both)?, PollFlags::OUT | PollFlags::ERR)?;
    // SAFETY: nobody has opened it, which is what poll(2) is asked about.
    let closed = unsafe { BorrowedFd::borrow_raw(writer.as_raw_fd() + 1000) };
    equal("a closed descriptor", state(closed, both)?, PollFlags::NVAL)
}

fn poll_timeout() -> Checked {
    let (reader, _writer) = pipe()?;
    let start = Instant::now();
    equal("ready", poll(&mut [PollFd::new(&reader, PollFlags::IN)], Some(&milliseconds(30)))?, 0)?;
    at_least("time waited", start.elapsed(), Duration::from_millis(30))
}

extern "C" fn nothing(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {}

fn poll_mask() -> Checked {
    handle(libc::SIGUSR1, nothing, libc::SA_RESTART)?;
    block(&[libc::SIGUSR1])?;
    kill_process(getpid(), Signal::USR1)?;
    equal("poll(2) with the signal blocked", poll(&mut [], Some(&milliseconds(1))), Ok(0))?;
    let everything = signal_set(&[]);
    // SAFETY: no descriptors, no timeout, a valid set.
    let returned = unsafe { libc::ppoll(std::ptr::null_mut(), 0, std::ptr::null(), &raw const everything) };
    equal("ppoll(2) that lets it in", (returned, last_error()), (-1, Errno::INTR))?;
    equal("poll(2) when it has come", poll(&mut [], Some(&milliseconds(1))), Ok(0))
}
