//! Scheduling policies, affinity and timer slack of the calling thread: sched(7).

use std::num::NonZeroU64;

use harness::sys::succeeded;
use protocol::latency::{LatencyRequest, Policy};
use rustix::io::Errno;
use rustix::process::getpriority_process;
use rustix::thread::{CpuSet, current_timer_slack, sched_setaffinity, set_current_timer_slack};

/// The kernel allows no shorter period, unless `sched_deadline_period_min_us` says otherwise.
const PERIOD_MIN_NS: u64 = 100_000;

/// Nor a longer one, unless `sched_deadline_period_max_us` says otherwise: 2²² µs.
const PERIOD_MAX_NS: u64 = 1_000 << 22;

/// What the kernel granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scheduling {
    pub(crate) policy: Policy,
    pub(crate) priority: u32,
    pub(crate) timer_slack_ns: u64,
}

/// Lets the thread run on one CPU only.
///
/// # Errors
///
/// `EINVAL` when there is no such CPU or a cpuset excludes it.
pub(crate) fn pin(cpu: u32) -> Result<(), Errno> {
    let mut set = CpuSet::new();
    set.set(cpu as usize);
    sched_setaffinity(None, &set)
}

/// Gives the thread the policy, the priority and the timer slack of the request. A slack that is set while the policy is
/// a real-time one would be ignored.
///
/// # Errors
///
/// As sched_setattr(2) and PR_SET_TIMERSLACK(2const) say.
pub(crate) fn set(request: &LatencyRequest) -> Result<(), Errno> {
    if let Some(slack) = request.timer_slack_ns.and_then(NonZeroU64::new) {
        set_current_timer_slack(Some(slack))?;
    }
    // The nice value stays what it is: lowering it takes a privilege.
    let attributes = attributes(request, getpriority_process(None)?);
    // SAFETY: the attributes are valid; 0 is the calling thread, and there are no flags.
    let returned = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    succeeded(i32::try_from(returned).unwrap_or(0))
}

/// What the kernel says about the thread.
///
/// # Errors
///
/// As sched_getattr(2) says, and `EPROTO` for a policy that nobody asked for.
pub(crate) fn get() -> Result<Scheduling, Errno> {
    let mut attributes = empty();
    let size = attributes.size;
    // SAFETY: the kernel writes `size` bytes at most; 0 is the calling thread, and there are no flags.
    let returned = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size, 0) };
    succeeded(i32::try_from(returned).unwrap_or(0))?;
    let is_granted = |policy: &Policy| number(*policy).cast_unsigned() == attributes.sched_policy;
    let policy = Policy::ALL.into_iter().find(is_granted).ok_or(Errno::PROTO)?;
    Ok(Scheduling { policy, priority: attributes.sched_priority, timer_slack_ns: current_timer_slack()? })
}

/// Runtime and period of SCHED_DEADLINE. Half of the period is far more than a cycle takes, and far less than what the
/// kernel can grant for one CPU.
pub(crate) fn reservation(interval_ns: u64) -> (u64, u64) {
    let period = interval_ns.clamp(PERIOD_MIN_NS, PERIOD_MAX_NS);
    (period / 2, period)
}

fn attributes(request: &LatencyRequest, nice: i32) -> libc::sched_attr {
    let policy = number(request.policy).cast_unsigned();
    let attributes = libc::sched_attr { sched_policy: policy, sched_priority: request.priority, ..empty() };
    match request.policy {
        Policy::Deadline => {
            let (sched_runtime, period) = reservation(request.interval_ns);
            libc::sched_attr { sched_runtime, sched_deadline: period, sched_period: period, ..attributes }
        }
        Policy::Other | Policy::Batch => libc::sched_attr { sched_nice: nice, ..attributes },
        Policy::Fifo | Policy::Rr | Policy::Idle => attributes,
    }
}

fn empty() -> libc::sched_attr {
    // SAFETY: all zeroes are valid attributes.
    let attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    libc::sched_attr { size: size_of::<libc::sched_attr>() as u32, ..attributes }
}

const fn number(policy: Policy) -> libc::c_int {
    match policy {
        Policy::Fifo => libc::SCHED_FIFO,
        Policy::Rr => libc::SCHED_RR,
        Policy::Deadline => libc::SCHED_DEADLINE,
        Policy::Other => libc::SCHED_OTHER,
        Policy::Batch => libc::SCHED_BATCH,
        Policy::Idle => libc::SCHED_IDLE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_is_what_the_kernel_says() {
        let request = LatencyRequest {
            policy: Policy::Batch,
            priority: 0,
            timer_slack_ns: Some(12_345),
            ..LatencyRequest::default()
        };
        std::thread::spawn(move || {
            set(&request).expect("anybody may leave SCHED_OTHER for SCHED_BATCH");
            let expected = Scheduling { policy: Policy::Batch, priority: 0, timer_slack_ns: 12_345 };
            assert_eq!(get(), Ok(expected));
        })
        .join()
        .expect("the thread did not panic");
    }

    #[test]
    fn a_period_is_one_that_the_kernel_allows() {
        let reservations = [1_000, 100_000, 1_000_000, 10_000_000_000].map(reservation);
        let expected =
            [(50_000, 100_000), (50_000, 100_000), (500_000, 1_000_000), (2_097_152_000, 4_194_304_000)];
        assert_eq!(reservations, expected);
    }

    #[test]
    fn there_is_no_cpu_beyond_the_last() {
        assert_eq!(pin(protocol::latency::CPUS_MAX - 1), Err(Errno::INVAL));
    }
}
