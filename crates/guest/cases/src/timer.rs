//! Timers: setitimer(2), timer_create(2), timerfd_create(2).

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};

use harness::check::{Checked, at_least, equal, fails, holds};
use harness::sys::{block, fetch, handle, set_interval};
use harness::timer::Timer;
use rustix::io::{Errno, read};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};

use super::time::{leap, leap_back};
use crate::case::{Case, Need};

const TIMERS: &[Need] = &[Need::Config("POSIX_TIMERS")];

pub(super) const CASES: &[Case] = &[
    Case::new("timer/interval", "setitimer(2) sends SIGALRM again and again, never too early", interval)
        .needs(TIMERS),
    Case::new(
        "timer/processor-time",
        "setitimer(2) ITIMER_PROF sends SIGPROF to a process that uses the CPU",
        processor_time,
    )
    .needs(TIMERS),
    Case::new("timer/signal", "timer_settime(2) queues its signal with its value, never too early", signal)
        .needs(TIMERS),
    Case::new("timer/overrun", "timer_getoverrun(2) counts the expirations that no signal reported", overrun)
        .needs(TIMERS),
    Case::new(
        "timer/clock-was-set",
        "read(2) of a timerfd with TFD_TIMER_CANCEL_ON_SET gives ECANCELED",
        clock_was_set,
    )
    .needs(&[Need::Config("TIMERFD")])
    .cleanup(leap_back),
];

const SHORT: Duration = Duration::from_millis(20);
const SHORT_INTERVAL: libc::timeval = libc::timeval { tv_sec: 0, tv_usec: 20_000 };

static ALARMS: AtomicU32 = AtomicU32::new(0);

extern "C" fn count_alarm(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    ALARMS.fetch_add(1, SeqCst);
}

/// Uses the CPU until there have been `count` alarms.
fn spin_until_alarm(count: u32) {
    while ALARMS.load(SeqCst) < count {
        std::hint::spin_loop();
    }
}

fn interval() -> Checked {
    handle(libc::SIGALRM, count_alarm, 0)?;
    let start = Instant::now();
    set_interval(libc::ITIMER_REAL, SHORT_INTERVAL)?;
    for number in 1..=3 {
        spin_until_alarm(number);
        at_least("time of the alarm", start.elapsed(), SHORT * number)?;
    }
    let wrong = libc::timeval { tv_sec: 0, tv_usec: 1_000_000 };
    fails("1000000 microseconds", set_interval(libc::ITIMER_REAL, wrong), Errno::INVAL)
}

fn processor_time() -> Checked {
    handle(libc::SIGPROF, count_alarm, 0)?;
    let before = clock_gettime(ClockId::ProcessCPUTime);
    set_interval(libc::ITIMER_PROF, SHORT_INTERVAL)?;
    spin_until_alarm(1);
    holds("CPU time has passed", clock_gettime(ClockId::ProcessCPUTime) > before)
}

fn signal() -> Checked {
    const MILLISECONDS: [i64; 2] = [20, 10];
    block(&[libc::SIGRTMIN()])?;
    let timer = Timer::new()?;
    let [first, interval] = MILLISECONDS.map(|count| Timespec { tv_sec: 0, tv_nsec: count * 1_000_000 });
    let start = Instant::now();
    timer.set(first, interval)?;
    for number in 0..3 {
        let info = fetch(&[libc::SIGRTMIN()])?;
        at_least("time of the signal", start.elapsed(), Duration::from_millis(20 + 10 * number))?;
        // SAFETY: a signal of a timer has a value.
        let value = unsafe { info.si_value() }.sival_ptr as usize;
        equal("si_code and value", (info.si_code, value), (libc::SI_TIMER, 4711))?;
    }
    let wrong = Timespec { tv_sec: 0, tv_nsec: 1_000_000_000 };
    fails("1000000000 nanoseconds", timer.set(wrong, interval), Errno::INVAL)?;
    fails("setting a deleted timer", timer.set_deleted(first, interval), Errno::INVAL)
}

fn overrun() -> Checked {
    block(&[libc::SIGRTMIN()])?;
    let timer = Timer::new()?;
    let interval = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };
    timer.set(interval, interval)?;
    let then = clock_gettime(ClockId::Monotonic) + Timespec { tv_sec: 0, tv_nsec: 30_000_000 };
    clock_nanosleep_absolute(ClockId::Monotonic, &then)?;
    fetch(&[libc::SIGRTMIN()])?;
    at_least("expirations that no signal reported", timer.overrun(), 5)
}

fn clock_was_set() -> Checked {
    let timer = timerfd_create(TimerfdClockId::Realtime, TimerfdFlags::empty())?;
    // Later than any time that the clock is set to.
    let end = Timespec { tv_sec: 9_000_000_000, tv_nsec: 0 };
    let setting = Itimerspec { it_interval: Timespec::default(), it_value: end };
    timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET, &setting)?;
    leap()?;
    fails("read(2) after the clock was set", read(&timer, &mut [0; 8]), Errno::CANCELED)?;
    leap_back()?;
    fails("read(2) after it was set back", read(&timer, &mut [0; 8]), Errno::CANCELED)
}
