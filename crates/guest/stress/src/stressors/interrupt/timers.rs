//! `timer`, `timerfd`, `itimer`, `nanosleep`, `clock`, `hrtimers`, `cyclic`: time that passes.

use std::sync::atomic::{AtomicU64, Ordering};

use harness::check::{Checked, at_least, equal, fails, holds};
use harness::clock::{monotonic, nanoseconds};
use harness::random::{Random, mix};
use harness::sys::{block, call, fetch, handle, set_interval};
use harness::timer::Timer;
use rustix::io::{Errno, read};
use rustix::thread::{NanosleepRelativeResult, clock_nanosleep_absolute, clock_nanosleep_relative};
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, clock_getres, clock_gettime,
    timerfd_create, timerfd_gettime, timerfd_settime,
};

use crate::Worker;
use crate::kit::clock::timespec;
use crate::kit::helper::helper;
use crate::placement::Attributes;
use crate::stressor::{Class, Figure, Need, Setting, Stressor, choice, number};

const INTERVAL: Setting =
    number("interval", "time between expirations, in nanoseconds", 1000..=100_000_000, 100_000);
const PROCESSES: Setting = number("processes", "processes with timers", 1..=64, 32);
const PRIORITY: Setting = number("priority", "real-time priority, 0 for none", 0..=99, 0);
const METHOD: Setting = choice("method", "how to sleep", &["clock", "nanosleep", "timer", "poll"]);

/// Figures of how late a sleep ended.
const LEAST: Figure = Figure::new("least", "ns");
const MEAN: Figure = Figure::new("mean", "ns");
const MOST: Figure = Figure::new("most", "ns");

const TIME: Stressor = Stressor {
    classes: &[Class::Interrupt, Class::Scheduler, Class::Os],
    operation: "one expiration",
    options: &[INTERVAL],
    ..Stressor::PLAIN
};

pub(super) const TIMER: Stressor = Stressor {
    name: "timer",
    about: "a timer that sends a signal at each expiration: timer_create(2)",
    verifies: "expirations and overruns together are not more than time allows",
    body: posix,
    ..TIME
};

pub(super) const TIMERFD: Stressor = Stressor {
    name: "timerfd",
    about: "a timer that is read: timerfd_create(2)",
    verifies: "expirations are not more than time allows; a timer that is read in advance gives EAGAIN",
    needs: &[Need::Config("TIMERFD")],
    body: descriptor,
    ..TIME
};

pub(super) const ITIMER: Stressor = Stressor {
    name: "itimer",
    about: "the interval timer of used CPU time: setitimer(2) with ITIMER_PROF",
    verifies: "signals come as CPU time is used, and none comes after the timer was stopped",
    options: &[],
    body: profiling,
    ..TIME
};

pub(super) const NANOSLEEP: Stressor = Stressor {
    name: "nanosleep",
    about: "sleeps of random length: clock_nanosleep(2)",
    operation: "one sleep",
    verifies: "no sleep ends before its time; a wrong time gives EINVAL",
    body: sleeps,
    ..TIME
};

pub(super) const CLOCK: Stressor = Stressor {
    name: "clock",
    about: "all clocks of clock_gettime(2), read with and without the help of the kernel",
    operation: "all clocks read twice",
    verifies: "clocks do not go back, and the kernel's own answer lies between two of the library's",
    options: &[],
    body: clocks,
    ..TIME
};

pub(super) const HRTIMERS: Stressor = Stressor {
    name: "hrtimers",
    about: "many processes with random timers below half a millisecond, in real time if allowed",
    verifies: "each process gets its expirations",
    options: &[PROCESSES],
    body: many,
    ..TIME
};

pub(super) const CYCLIC: Stressor = Stressor {
    name: "cyclic",
    about: "how late sleeps of one length end: the load for which cyclictest(8) is the measure",
    operation: "one sleep",
    verifies: "no sleep ends before its time",
    options: &[INTERVAL, PRIORITY, METHOD],
    rates: &[LEAST, MEAN, MOST],
    body: cyclic,
    ..TIME
};

/// Waits for a signal at most this long: a timer that does not come is reported, not waited for.
const TIMEOUT: u64 = 10_000_000_000;

fn posix(worker: &Worker) -> Checked {
    let (signal, interval) = (libc::SIGRTMIN(), worker.value(&INTERVAL));
    block(&[signal])?;
    let timer = Timer::new()?;
    let begun = monotonic();
    timer.set(timespec(interval), timespec(interval))?;
    let mut expired = 0;
    while worker.goes_on() {
        let info = fetch(&[signal])?;
        equal("what sent the signal", info.si_code, libc::SI_TIMER)?;
        let more = 1 + u64::from(timer.overrun().unsigned_abs());
        expired += more;
        let possible = (monotonic() - begun) / interval;
        holds("no more expirations than time allows", expired <= possible)?;
        worker.count();
    }
    timer.set(timespec(0), timespec(0))?;
    Ok(())
}

fn descriptor(worker: &Worker) -> Checked {
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
    let waiting = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK)?;
    let interval = worker.value(&INTERVAL);
    let every = |time| Itimerspec { it_interval: timespec(time), it_value: timespec(time) };
    timerfd_settime(&waiting, TimerfdTimerFlags::empty(), &every(TIMEOUT * 1000))?;
    let begun = monotonic();
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &every(interval))?;
    let mut expired = 0;
    worker.repeat(|| {
        let mut bytes = [0; 8];
        equal("bytes read", read(&timer, &mut bytes)?, 8)?;
        let more = u64::from_ne_bytes(bytes);
        at_least("expirations", more, 1)?;
        expired += more;
        holds("no more expirations than time allows", expired <= (monotonic() - begun) / interval)?;
        let left = timerfd_gettime(&timer)?;
        holds("the time that is left", nanoseconds(left.it_value) <= interval)?;
        fails("a timer that has not expired", read(&waiting, &mut bytes), Errno::AGAIN)
    })
}

/// Signals that were handled.
static HANDLED: AtomicU64 = AtomicU64::new(0);

extern "C" fn count(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
}

fn profiling(worker: &Worker) -> Checked {
    handle(libc::SIGPROF, count, libc::SA_RESTART)?;
    let every = |tv_usec| libc::timeval { tv_sec: 0, tv_usec };
    while worker.goes_on() {
        let before = HANDLED.load(Ordering::Relaxed);
        set_interval(libc::ITIMER_PROF, every(1000))?;
        // The kernel charges CPU time in ticks.
        let begun = monotonic();
        while HANDLED.load(Ordering::Relaxed) == before && monotonic() - begun < TIMEOUT {
            std::hint::spin_loop();
        }
        set_interval(libc::ITIMER_PROF, every(0))?;
        let after = HANDLED.load(Ordering::Relaxed);
        at_least("signals", after, before + 1)?;
        (0..1000).for_each(|_| std::hint::spin_loop());
        equal("signals after the timer was stopped", HANDLED.load(Ordering::Relaxed), after)?;
        worker.count_many(after - before);
    }
    Ok(())
}

fn sleeps(worker: &Worker) -> Checked {
    let (most, mut random) = (worker.size(&INTERVAL), worker.random());
    worker.repeat(|| {
        let (time, begun) = (random.below(most) as u64, monotonic());
        match clock_nanosleep_relative(ClockId::Monotonic, &timespec(time)) {
            NanosleepRelativeResult::Ok => {}
            NanosleepRelativeResult::Interrupted(_) => return Err(Errno::INTR.into()),
            NanosleepRelativeResult::Err(error) => return Err(error.into()),
        }
        at_least("the time that has passed", monotonic() - begun, time)?;
        let wrong = rustix::time::Timespec { tv_sec: 0, tv_nsec: 1_000_000_000 };
        fails("a wrong time", clock_nanosleep_absolute(ClockId::Monotonic, &wrong), Errno::INVAL)
    })
}

/// Clocks that never go back.
const CLOCKS: [ClockId; 6] = [
    ClockId::Monotonic,
    ClockId::MonotonicRaw,
    ClockId::MonotonicCoarse,
    ClockId::Boottime,
    ClockId::ProcessCPUTime,
    ClockId::ThreadCPUTime,
];

/// The kernel's answer: clock_gettime(2) as a system call.
fn asked(clock: ClockId) -> Result<u64, Errno> {
    let mut time = timespec(0);
    // SAFETY: the kernel fills the time.
    unsafe { call(libc::SYS_clock_gettime, [clock as usize, (&raw mut time).addr()])? };
    Ok(nanoseconds(time))
}

fn clocks(worker: &Worker) -> Checked {
    worker.repeat(|| {
        for clock in CLOCKS {
            let before = nanoseconds(clock_gettime(clock));
            let kernel = asked(clock)?;
            let after = nanoseconds(clock_gettime(clock));
            holds(&format!("{clock:?} does not go back"), before <= kernel && kernel <= after)?;
            at_least("the resolution", nanoseconds(clock_getres(clock)), 1)?;
        }
        Ok(())
    })
}

fn many(worker: &Worker) -> Checked {
    /// Expirations between two looks at the others.
    const EXPIRATIONS: u64 = 16;
    let processes = worker.size(&PROCESSES);
    while worker.goes_on() {
        let sleep = |number: usize| {
            let mut random = Random::new(mix(worker.random().next_u64() ^ number as u64));
            helper(move || {
                // As the user may.
                let _ = Attributes::of(libc::SCHED_RR, 1).set();
                let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
                for _ in 0..EXPIRATIONS {
                    let (time, begun) = (timespec(1 + random.below(499_999) as u64), monotonic());
                    let once = Itimerspec { it_interval: timespec(0), it_value: time };
                    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &once)?;
                    equal("bytes read", read(&timer, &mut [0; 8])?, 8)?;
                    at_least("the time that has passed", monotonic() - begun, nanoseconds(time))?;
                }
                Ok(())
            })
        };
        let all = (0..processes).map(sleep).collect::<Checked<Vec<_>>>()?;
        let count = all.len() as u64 * EXPIRATIONS;
        all.into_iter().try_for_each(harness::child::Child::succeeds)?;
        worker.count_many(count);
    }
    Ok(())
}

fn cyclic(worker: &Worker) -> Checked {
    let priority = worker.value(&PRIORITY) as u32;
    if priority > 0 {
        crate::kit::support::supported("SCHED_FIFO", Attributes::of(libc::SCHED_FIFO, priority).set())?;
    }
    let (interval, method) = (worker.value(&INTERVAL), worker.choice(&METHOD));
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
    let (mut least, mut most, mut sum, mut count) = (u64::MAX, 0, 0, 0);
    worker.repeat(|| {
        let end = monotonic() + interval;
        match method {
            1 => drop(rustix::thread::nanosleep(&timespec(interval))),
            2 => {
                let once = Itimerspec { it_interval: timespec(0), it_value: timespec(interval) };
                timerfd_settime(&timer, TimerfdTimerFlags::empty(), &once)?;
                read(&timer, &mut [0; 8])?;
            }
            3 => while monotonic() < end {},
            _ => clock_nanosleep_absolute(ClockId::Monotonic, &timespec(end))?,
        }
        let late = monotonic();
        at_least("the time of waking up", late, end)?;
        (least, most) = (least.min(late - end), most.max(late - end));
        (sum, count) = (sum + (late - end), count + 1);
        Ok(())
    })?;
    if count > 0 {
        worker.rate(&LEAST, least as f64);
        worker.rate(&MEAN, sum as f64 / f64::from(count));
        worker.rate(&MOST, most as f64);
    }
    Ok(())
}
