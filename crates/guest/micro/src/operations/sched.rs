//! Scheduling: sched(7). What it costs to change from one process to another is in [`super::switch`].

use harness::check::{Checked, equal, holds};
use harness::sys::call;
use rustix::io::Errno;
use rustix::process::{getpriority_process, setpriority_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::parts::{gives, succeeds};
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("sched/yield", "sched_yield(2) with nobody to yield to", yield_alone),
    Operation::new("sched/get-scheduler", "sched_getscheduler(2) of this process", get_scheduler),
    Operation::new("sched/set-scheduler", "sched_setscheduler(2) to SCHED_BATCH and back", set_scheduler),
    Operation::new("sched/get-affinity", "sched_getaffinity(2) of this process", get_affinity),
    Operation::new("sched/set-affinity", "sched_setaffinity(2) to the CPUs of before", set_affinity),
    Operation::new("sched/set-priority", "setpriority(2) to 1 more and back", set_priority),
];

fn yield_alone(meter: &mut Meter) -> Checked {
    // SAFETY: the call takes nothing.
    gives(meter, "the result", 0, || unsafe { call(libc::SYS_sched_yield, []) })
}

fn scheduler() -> Result<usize, Errno> {
    // SAFETY: the call takes a number.
    unsafe { call(libc::SYS_sched_getscheduler, [0]) }
}

fn set_policy(policy: libc::c_int) -> Result<usize, Errno> {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the parameters are valid.
    unsafe { call(libc::SYS_sched_setscheduler, [0, policy as usize, (&raw const parameters).addr()]) }
}

fn get_scheduler(meter: &mut Meter) -> Checked {
    gives(meter, "the policy", libc::SCHED_OTHER as usize, scheduler)
}

fn set_scheduler(meter: &mut Meter) -> Checked {
    set_policy(libc::SCHED_BATCH)?;
    equal("the policy in between", scheduler()?, libc::SCHED_BATCH as usize)?;
    meter.each(|| {
        set_policy(libc::SCHED_BATCH)?;
        set_policy(libc::SCHED_OTHER)
    })?;
    equal("the policy", scheduler()?, libc::SCHED_OTHER as usize)
}

fn get_affinity(meter: &mut Meter) -> Checked {
    let mut cpus = CpuSet::new();
    meter.each(|| {
        cpus = sched_getaffinity(None)?;
        Ok::<_, Errno>(())
    })?;
    holds("there is a CPU", cpus.count() > 0)
}

fn set_affinity(meter: &mut Meter) -> Checked {
    let cpus = sched_getaffinity(None)?;
    succeeds(meter, || sched_setaffinity(None, &cpus))?;
    holds("the CPUs are the same", sched_getaffinity(None)? == cpus)
}

fn set_priority(meter: &mut Meter) -> Checked {
    let before = getpriority_process(None)?;
    meter.each(|| {
        setpriority_process(None, before + 1)?;
        setpriority_process(None, before)
    })?;
    equal("the priority", getpriority_process(None)?, before)
}
