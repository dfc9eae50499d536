//! Timers: timer_create(2), timerfd_create(2), setitimer(2). None of them expires.

use harness::check::{Checked, equal};
use harness::sys::set_interval;
use harness::timer::Timer;
use protocol::Need;
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_gettime,
    timerfd_settime,
};

use super::parts::gives;
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("timer/create-delete", "timer_create(2) and timer_delete(2)", create).needs(TIMERS),
    Operation::new("timer/settime", "timer_settime(2) to an hour from now, and off again", set).needs(TIMERS),
    Operation::new("timer/timerfd-create-close", "timerfd_create(2) and close(2)", descriptor).needs(TIMERFD),
    Operation::new(
        "timer/timerfd-settime",
        "timerfd_settime(2) to an hour from now, and off again",
        set_descriptor,
    )
    .needs(TIMERFD),
    Operation::new(
        "timer/setitimer",
        "setitimer(2) ITIMER_VIRTUAL to an hour from now, and off again",
        interval,
    )
    .needs(TIMERS),
];

const TIMERS: &[Need] = &[Need::Config("POSIX_TIMERS")];
const TIMERFD: &[Need] = &[Need::Config("TIMERFD")];

const HOUR: Timespec = Timespec { tv_sec: 3600, tv_nsec: 0 };
const OFF: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

fn create(meter: &mut Meter) -> Checked {
    let mut last = None;
    meter.each(|| {
        last = Some(Timer::new()?);
        Ok::<_, Errno>(())
    })?;
    Ok(last.map_or(Err(Errno::INVAL), |timer| timer.set(HOUR, OFF))?)
}

fn set(meter: &mut Meter) -> Checked {
    let timer = Timer::new()?;
    meter.each(|| {
        timer.set(HOUR, OFF)?;
        timer.set(OFF, OFF)
    })
}

fn descriptor(meter: &mut Meter) -> Checked {
    let create = || timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC);
    meter.each(create)?;
    equal("when it expires", timerfd_gettime(create()?)?.it_value, OFF)
}

fn set_descriptor(meter: &mut Meter) -> Checked {
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
    let set = |time| {
        let setting = Itimerspec { it_interval: OFF, it_value: time };
        timerfd_settime(&timer, TimerfdTimerFlags::empty(), &setting).map(|before| before.it_value.tv_sec)
    };
    // Less than an hour was left when it was switched off.
    gives(meter, "full seconds that were left", HOUR.tv_sec - 1, || {
        set(HOUR)?;
        set(OFF)
    })
}

fn interval(meter: &mut Meter) -> Checked {
    let [hour, off] = [3600, 0].map(|tv_sec| libc::timeval { tv_sec, tv_usec: 0 });
    meter.each(|| {
        set_interval(libc::ITIMER_VIRTUAL, hour)?;
        set_interval(libc::ITIMER_VIRTUAL, off)
    })
}
