//! Stressors of signals, timers and other interrupts of a process.

mod faults;
mod signals;
mod timers;

use crate::stressor::Stressor;

pub(super) const ALL: &[Stressor] = &[
    faults::SIGBUS,
    faults::SIGFPE,
    faults::SIGILL,
    faults::SIGSEGV,
    faults::SIGTRAP,
    signals::KILL,
    signals::SIGALTSTACK,
    signals::SIGCHLD,
    signals::SIGFD,
    signals::SIGNAL,
    signals::SIGPENDING,
    signals::SIGPIPE,
    signals::SIGQ,
    signals::SIGSUSPEND,
    timers::CLOCK,
    timers::CYCLIC,
    timers::HRTIMERS,
    timers::ITIMER,
    timers::NANOSLEEP,
    timers::TIMER,
    timers::TIMERFD,
];
