//! Timers with descriptors: timerfd_settime(2).

use harness::check::Checked;
use protocol::Need;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

use super::Known;
use super::parts::Shared;
use crate::race::Race;
use crate::runner::Runner;

pub(super) const RACES: &[Known] = &[Known::new(
    "time/timerfd-settime",
    "two timerfd_settime(2) put one timer twice on the list of those to cancel",
    &["1e38da300e1e"],
    settime,
)
.cve("2017-10661")
.needs(&[Need::Config("TIMERFD")])];

fn settime(runner: &Runner) -> Checked {
    let timer = Shared::new();
    // Later than any time that the clock is set to.
    let end = Timespec { tv_sec: 9_000_000_000, tv_nsec: 0 };
    let setting = Itimerspec { it_interval: Timespec::default(), it_value: end };
    let cancelled = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
    let set = || timerfd_settime(timer.file(), cancelled, &setting).map(drop);
    let create = || {
        timer.set(timerfd_create(TimerfdClockId::Realtime, TimerfdFlags::empty())?);
        Ok(())
    };
    runner.run(Race::between(set, set).setup_a(create))
}
