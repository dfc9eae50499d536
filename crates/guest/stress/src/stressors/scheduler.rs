//! Stressors that make the scheduler choose.

mod policies;
mod processes;
mod switches;

use crate::stressor::Stressor;

pub(super) const ALL: &[Stressor] = &[
    policies::AFFINITY,
    policies::NICE,
    policies::SCHEDPOLICY,
    policies::YIELD,
    processes::CLONE,
    processes::DAEMON,
    processes::EXEC,
    processes::FORK,
    processes::PIDFD,
    processes::VFORK,
    processes::WAIT,
    processes::ZOMBIE,
    switches::CONTEXT,
    switches::FUTEX,
    switches::MEMBARRIER,
    switches::PTHREAD,
    switches::SWITCH,
];
