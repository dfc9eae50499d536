//! Where and how a worker is scheduled: sched(7).

use harness::check::{Checked, broken, describe, skip};
use harness::child::last_error;
use harness::sys::call;
use protocol::stress::{Scheduler, StressRequest};
use rustix::io::Errno;
use rustix::process::setpriority_process;
use rustix::thread::{CpuSet, sched_setaffinity};

/// `struct sched_attr` of sched_setattr(2).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Attributes {
    /// Size of the structure.
    pub(crate) size: u32,
    /// `SCHED_`.
    pub(crate) policy: u32,
    /// `SCHED_FLAG_`.
    pub(crate) flags: u64,
    /// Of `SCHED_OTHER` and `SCHED_BATCH`.
    pub(crate) nice: i32,
    /// Of `SCHED_FIFO` and `SCHED_RR`.
    pub(crate) priority: u32,
    /// Of `SCHED_DEADLINE`, in nanoseconds.
    pub(crate) runtime: u64,
    /// Of `SCHED_DEADLINE`, in nanoseconds.
    pub(crate) deadline: u64,
    /// Of `SCHED_DEADLINE`, in nanoseconds.
    pub(crate) period: u64,
}

impl Attributes {
    /// Those of a policy with a priority.
    #[must_use]
    pub(crate) fn of(policy: libc::c_int, priority: u32) -> Self {
        let size = u32::try_from(size_of::<Self>()).unwrap_or(0);
        Self { size, policy: policy.unsigned_abs(), priority, ..Self::default() }
    }

    /// Gives them to the calling thread.
    ///
    /// # Errors
    ///
    /// As sched_setattr(2) says.
    pub(crate) fn set(&self) -> Result<usize, Errno> {
        // SAFETY: the structure is valid and has the size that it names.
        unsafe { call(libc::SYS_sched_setattr, [0, (&raw const *self).addr(), 0]) }
    }

    /// Those of the calling thread.
    ///
    /// # Errors
    ///
    /// As sched_getattr(2) says.
    pub(crate) fn get() -> Result<Self, Errno> {
        let mut attributes = Self::default();
        // SAFETY: the structure has room for the given size.
        unsafe {
            call(libc::SYS_sched_getattr, [0, (&raw mut attributes).addr(), size_of::<Self>(), 0])?;
        }
        Ok(attributes)
    }
}

/// Places the calling process as `request` says.
///
/// # Errors
///
/// Skips where the user may not do it.
pub(crate) fn place(request: &StressRequest) -> Checked {
    if !request.cpus.is_empty() {
        let allowed = affinity(&request.cpus);
        allowed.or_else(|error| broken(&format!("CPUs {:?}: {}", request.cpus, describe(error))))?;
    }
    if let Some(nice) = request.nice {
        setpriority_process(None, nice).or_else(|error| match error {
            Errno::ACCESS | Errno::PERM => {
                skip(&format!("nice {nice} needs CAP_SYS_NICE, or RLIMIT_NICE of {}", 20 - nice))
            }
            other => broken(&format!("nice {nice}: {}", describe(other))),
        })?;
    }
    request.scheduler.map_or(Ok(()), schedule)
}

fn affinity(cpus: &[u32]) -> Result<(), Errno> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        let cpu = cpu as usize;
        if cpu >= CpuSet::MAX_CPU {
            return Err(Errno::INVAL);
        }
        set.set(cpu);
    }
    sched_setaffinity(None, &set)
}

fn schedule(scheduler: Scheduler) -> Checked {
    let attributes = match scheduler {
        Scheduler::Other => Attributes::of(libc::SCHED_OTHER, 0),
        Scheduler::Batch => Attributes::of(libc::SCHED_BATCH, 0),
        Scheduler::Idle => Attributes::of(libc::SCHED_IDLE, 0),
        Scheduler::Fifo(priority) => Attributes::of(libc::SCHED_FIFO, priority.into()),
        Scheduler::Rr(priority) => Attributes::of(libc::SCHED_RR, priority.into()),
        Scheduler::Deadline { runtime_ns, deadline_ns, period_ns } => Attributes {
            runtime: runtime_ns,
            deadline: deadline_ns,
            period: period_ns,
            // A thread of this policy may not fork otherwise.
            flags: libc::SCHED_FLAG_RESET_ON_FORK as u64,
            ..Attributes::of(libc::SCHED_DEADLINE, 0)
        },
    };
    match attributes.set() {
        Ok(_) => Ok(()),
        Err(Errno::PERM) => {
            skip("this scheduling policy needs CAP_SYS_NICE, or a large enough RLIMIT_RTPRIO")
        }
        Err(error) => broken(&format!("{scheduler:?}: {}", describe(error))),
    }
}

/// The most likely victim of the OOM killer is a worker, and it leaves no core file.
pub(crate) fn spare_the_others() {
    // A kernel without the file has no such preference.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    // Not 0, which does not keep the kernel from starting a program that takes cores: core(5).
    let limit = libc::rlimit { rlim_cur: 1, rlim_max: 1 };
    // SAFETY: the limit is valid. Where it cannot be set, it is 0 already.
    if unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const limit) } == -1 {
        let _ = last_error();
    }
}
