//! Stressors of other system calls.

mod answers;
mod modes;
mod refusals;
mod trees;

use crate::stressor::Stressor;

pub(super) const ALL: &[Stressor] = &[
    answers::GET,
    answers::GETRANDOM,
    answers::KCMP,
    answers::SET,
    answers::SYSINFO,
    modes::PERSONALITY,
    modes::PRCTL,
    modes::PTRACE,
    refusals::ENOSYS,
    refusals::RESOURCES,
    refusals::RLIMIT,
    refusals::SYSBADADDR,
    trees::PROCFS,
    trees::SYSFS,
];
