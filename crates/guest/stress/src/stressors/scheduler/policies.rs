//! `schedpolicy`, `nice`, `affinity`, `yield`: how and where this process is scheduled.

use harness::check::{Checked, equal, fails, holds};
use rustix::io::Errno;
use rustix::process::{getpriority_process, nice, setpriority_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity, sched_yield};

use crate::Worker;
use crate::kit::helper::helper;
use crate::placement::Attributes;
use crate::stressor::{Class, Setting, Stressor, flag, number};

const PROCESSES: Setting = number("processes", "processes that yield to each other", 1..=64, 2);

const RAND: Setting = flag("rand", "choose CPUs at random instead of one after the other");

const SCHEDULED: Stressor = Stressor { classes: &[Class::Scheduler, Class::Os], ..Stressor::PLAIN };

pub(super) const SCHEDPOLICY: Stressor = Stressor {
    name: "schedpolicy",
    about: "all policies with random priorities: sched_setattr(2), sched_getattr(2)",
    operation: "one policy set and read",
    verifies: "policy and priority are what was set; wrong ones give EINVAL",
    body: policies,
    ..SCHEDULED
};

pub(super) const NICE: Stressor = Stressor {
    name: "nice",
    about: "nice values: nice(2), setpriority(2)",
    operation: "a child that goes through all values that it may have",
    verifies: "each value is what was set; values beyond the range are clamped",
    body: nices,
    ..SCHEDULED
};

pub(super) const AFFINITY: Stressor = Stressor {
    name: "affinity",
    about: "moves from CPU to CPU: sched_setaffinity(2)",
    operation: "a move to another CPU of those allowed",
    verifies: "the process runs there; a set without any CPU gives EINVAL",
    options: &[RAND],
    body: affinities,
    ..SCHEDULED
};

pub(super) const YIELD: Stressor = Stressor {
    name: "yield",
    about: "processes on one CPU that yield to each other: sched_yield(2)",
    operation: "a thousand yields of each process",
    verifies: "each process comes to its end, and the kernel counts switches of this one",
    options: &[PROCESSES],
    body: yields,
    ..SCHEDULED
};

fn policies(worker: &Worker) -> Checked {
    let mut random = worker.random();
    let before = Attributes::get()?;
    let result = worker.repeat(|| {
        let policy = *random.one_of(&[
            libc::SCHED_OTHER,
            libc::SCHED_BATCH,
            libc::SCHED_IDLE,
            libc::SCHED_FIFO,
            libc::SCHED_RR,
        ]);
        let is_real_time = [libc::SCHED_FIFO, libc::SCHED_RR].contains(&policy);
        let priority = if is_real_time { 1 + random.below(99) as u32 } else { 0 };
        match Attributes::of(policy, priority).set() {
            // Real time is for those who may have it, and so is the way out of SCHED_IDLE.
            Err(Errno::PERM) if is_real_time || before.policy == libc::SCHED_IDLE.unsigned_abs() => {}
            done => {
                done?;
                let now = Attributes::get()?;
                equal("policy and priority", (now.policy, now.priority), (policy.unsigned_abs(), priority))?;
            }
        }
        fails("a priority that does not exist", Attributes::of(libc::SCHED_OTHER, 7).set(), Errno::INVAL)?;
        fails("a policy that does not exist", Attributes::of(77, 0).set(), Errno::INVAL)
    });
    before.set()?;
    result
}

fn nices(worker: &Worker) -> Checked {
    worker.repeat(|| {
        let before = getpriority_process(None)?;
        helper(|| {
            for value in before..20 {
                setpriority_process(None, value)?;
                equal("the nice value", getpriority_process(None)?, value)?;
            }
            nice(100)?;
            equal("the highest nice value", getpriority_process(None)?, 19)
        })?
        .succeeds()?;
        equal("the nice value of the parent", getpriority_process(None)?, before)
    })
}

/// The CPUs that this process may run on.
fn allowed() -> Checked<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

fn run_on(cpu: usize) -> Result<(), Errno> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set)
}

fn affinities(worker: &Worker) -> Checked {
    let (cpus, mut random, mut next) = (allowed()?, worker.random(), 0);
    worker.repeat(|| {
        next = if worker.is_on(&RAND) { random.below(cpus.len()) } else { (next + 1) % cpus.len() };
        let cpu = cpus[next];
        run_on(cpu)?;
        equal("the CPU", sched_getcpu(), cpu)?;
        equal("the CPUs that are allowed", allowed()?, vec![cpu])?;
        fails("no CPU at all", sched_setaffinity(None, &CpuSet::new()), Errno::INVAL)
    })
}

/// Voluntary and other switches of this process: getrusage(2).
fn switches() -> i64 {
    // SAFETY: all zeroes is a valid value, and the kernel fills it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage.ru_nvcsw + usage.ru_nivcsw
    }
}

fn yields(worker: &Worker) -> Checked {
    let processes = worker.value(&PROCESSES);
    run_on(allowed()?[0])?;
    worker.repeat(|| {
        let before = switches();
        let thousand = || {
            (0..1000).for_each(|_| sched_yield());
            Ok(())
        };
        let others = (0..processes).map(|_| helper(thousand)).collect::<Checked<Vec<_>>>()?;
        thousand()?;
        others.into_iter().try_for_each(harness::child::Child::succeeds)?;
        holds("this process was switched", switches() > before)
    })
}
