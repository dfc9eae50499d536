//! Why the kernel does not grant a scheduling policy, and what to do about it.

use std::fs;

use protocol::latency::{LatencyRequest, Policy};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use crate::conditions::sysctl;
use crate::scheduling::reservation;

/// Number of CAP_SYS_NICE: capabilities(7).
const CAP_SYS_NICE: u32 = 23;

/// Where version 1 of cgroups mounts the controller for CPUs.
const CPU_CONTROLLER: &str = "/sys/fs/cgroup/cpu";

/// The way that is open to everybody.
const OTHERWISE: &str = "use --policy other, which needs no privilege";

/// What decides about a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Facts {
    /// This process has CAP_SYS_NICE.
    capable: bool,
    /// It is in a user namespace, whose capabilities do not count for this.
    in_user_namespace: bool,
    /// RLIMIT_RTPRIO.
    rtprio: u64,
    /// The cgroup of the process, and its budget for real-time threads, which only version 1 tells.
    cgroup: String,
    cgroup_rt_runtime_us: Option<i64>,
    /// `sched_rt_runtime_us`.
    rt_runtime_us: Option<i64>,
}

/// Why real-time threads would be refused or never run, before one is tried.
pub(crate) fn expected(request: &LatencyRequest) -> Option<String> {
    without_runtime(request.policy, sysctl("sched_rt_runtime_us"))
}

/// Why the kernel has refused the policy of the request with this error.
pub(crate) fn explain(request: &LatencyRequest, error: Errno) -> String {
    reason(request, error, &Facts::look())
}

fn without_runtime(policy: Policy, rt_runtime_us: Option<i64>) -> Option<String> {
    (policy.is_real_time() && rt_runtime_us == Some(0)).then(|| {
        format!(
            "{}: kernel.sched_rt_runtime_us is 0, so real-time threads may not run: set it to 950000 or -1, or {OTHERWISE}",
            policy.name()
        )
    })
}

fn reason(request: &LatencyRequest, error: Errno, facts: &Facts) -> String {
    let (name, priority) = (request.policy.name(), request.priority);
    match (request.policy, error) {
        (Policy::Fifo | Policy::Rr, Errno::PERM) if facts.lacks_privilege(priority) => format!(
            "{name} with priority {priority}: it needs CAP_SYS_NICE{}, or a RLIMIT_RTPRIO of {priority} or more, which is {} \
             (ulimit -r); or {OTHERWISE}",
            facts.namespace(),
            facts.rtprio
        ),
        (Policy::Fifo | Policy::Rr, Errno::PERM) if facts.cgroup_rt_runtime_us == Some(0) => format!(
            "{name}: the cgroup {} has no budget for real-time threads: write microseconds to its cpu.rt_runtime_us, or \
             {OTHERWISE}",
            facts.cgroup
        ),
        (Policy::Fifo | Policy::Rr, Errno::PERM) => format!(
            "{name}: EPERM in spite of privilege: the cgroup {} may have no budget for real-time threads \
             (CONFIG_RT_GROUP_SCHED), or seccomp forbids it; move to the root cgroup, or {OTHERWISE}",
            facts.cgroup
        ),
        (Policy::Deadline, Errno::PERM) if !facts.is_privileged() => {
            format!("{name}: it needs CAP_SYS_NICE{}; or {OTHERWISE}", facts.namespace())
        }
        (Policy::Deadline, Errno::PERM) if !request.cpus.is_empty() => format!(
            "{name}: the kernel grants it to no thread that is pinned to a part of the CPUs: leave out the CPUs, or use an \
             exclusive cpuset"
        ),
        (Policy::Deadline, Errno::BUSY) => {
            let (runtime, period) = reservation(request.interval_ns);
            format!(
                "{name}: {} us in each {} us for each thread are more than is left of kernel.sched_rt_runtime_us, which is \
                 {}; use fewer CPUs, or --policy fifo",
                runtime / 1000,
                period / 1000,
                facts.rt_runtime_us.map_or_else(|| "unknown".to_owned(), |runtime| runtime.to_string())
            )
        }
        (Policy::Deadline, Errno::INVAL) => format!(
            "{name}: the kernel allows no period of {} us: see kernel.sched_deadline_period_min_us and _max_us",
            reservation(request.interval_ns).1 / 1000
        ),
        (Policy::Other | Policy::Batch, Errno::PERM) => format!(
            "{name}: this process has SCHED_IDLE, which it may not leave without CAP_SYS_NICE or RLIMIT_NICE (ulimit -e): \
             start it with another policy"
        ),
        _ => format!("{name}: {error}"),
    }
}

impl Facts {
    fn look() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
        let (cgroup, cgroup_rt_runtime_us) =
            cgroup(&fs::read_to_string("/proc/self/cgroup").unwrap_or_default());
        Self {
            capable: has_capability(&status),
            in_user_namespace: !is_initial(&map),
            rtprio: getrlimit(Resource::Rtprio).current.unwrap_or(u64::MAX),
            cgroup,
            cgroup_rt_runtime_us,
            rt_runtime_us: sysctl("sched_rt_runtime_us"),
        }
    }

    fn is_privileged(&self) -> bool {
        self.capable && !self.in_user_namespace
    }

    fn lacks_privilege(&self, priority: u32) -> bool {
        !self.is_privileged() && self.rtprio < priority.into()
    }

    fn namespace(&self) -> &'static str {
        if self.in_user_namespace { " outside of this user namespace" } else { "" }
    }
}

/// Whether the effective set has CAP_SYS_NICE: proc_pid_status(5).
fn has_capability(status: &str) -> bool {
    let set = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    set.and_then(|text| u64::from_str_radix(text.trim(), 16).ok())
        .is_some_and(|set| set >> CAP_SYS_NICE & 1 == 1)
}

/// Whether a map of user ids is that of the initial namespace: user_namespaces(7).
fn is_initial(map: &str) -> bool {
    map.split_whitespace().eq(["0", "0", "4294967295"]) || map.is_empty()
}

/// The cgroup with the controller for CPUs, and its budget if that is version 1: cgroups(7).
fn cgroup(text: &str) -> (String, Option<i64>) {
    let paths = || text.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    if let Some((_, path)) = paths().find(|(controllers, _)| controllers.split(',').any(|it| it == "cpu")) {
        let file = format!("{CPU_CONTROLLER}{path}/cpu.rt_runtime_us");
        let runtime = fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok());
        return (path.to_owned(), runtime);
    }
    let unified = paths().find(|(controllers, _)| controllers.is_empty());
    (unified.map_or("/", |(_, path)| path).to_owned(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Facts = Facts {
        capable: true,
        in_user_namespace: false,
        rtprio: 0,
        cgroup: String::new(),
        cgroup_rt_runtime_us: None,
        rt_runtime_us: Some(950_000),
    };

    fn facts() -> Facts {
        Facts { cgroup: "/user.slice".to_owned(), ..FREE }
    }

    fn request(policy: Policy) -> LatencyRequest {
        let priority = if policy.has_priority() { 80 } else { 0 };
        LatencyRequest { policy, priority, ..LatencyRequest::default() }
    }

    #[test]
    fn each_refusal_names_what_is_missing() {
        let (fifo, deadline) = (request(Policy::Fifo), request(Policy::Deadline));
        let pinned = LatencyRequest { cpus: vec![0], ..deadline.clone() };
        let user = Facts { capable: false, ..facts() };
        let container = Facts { in_user_namespace: true, ..facts() };
        let poor = Facts { cgroup_rt_runtime_us: Some(0), ..facts() };
        let reasons = [
            (
                &fifo,
                Errno::PERM,
                &user,
                "needs CAP_SYS_NICE, or a RLIMIT_RTPRIO of 80 or more, which is 0 (ulimit -r); or use --policy other",
            ),
            (
                &fifo,
                Errno::PERM,
                &container,
                "needs CAP_SYS_NICE outside of this user namespace, or a RLIMIT_RTPRIO of 80",
            ),
            (&fifo, Errno::PERM, &poor, "the cgroup /user.slice has no budget for real-time threads"),
            (&fifo, Errno::PERM, &facts(), "(CONFIG_RT_GROUP_SCHED), or seccomp forbids it"),
            (&deadline, Errno::PERM, &user, "SCHED_DEADLINE: it needs CAP_SYS_NICE; or use --policy other"),
            (&pinned, Errno::PERM, &facts(), "no thread that is pinned to a part of the CPUs"),
            (
                &deadline,
                Errno::BUSY,
                &facts(),
                "500 us in each 1000 us for each thread are more than is left of kernel.sched_rt_runtime_us, which is 950000",
            ),
            (&deadline, Errno::INVAL, &facts(), "no period of 1000 us"),
            (&request(Policy::Batch), Errno::PERM, &user, "SCHED_BATCH: this process has SCHED_IDLE"),
            (&request(Policy::Idle), Errno::NOSYS, &facts(), "SCHED_IDLE: Function not implemented"),
        ];
        for (request, error, facts, expected) in reasons {
            let reason = reason(request, error, facts);
            assert!(reason.contains(expected), "{reason}");
        }
    }

    #[test]
    fn an_rtprio_that_suffices_is_not_blamed() {
        let user = Facts { capable: false, rtprio: 80, ..facts() };
        assert!(reason(&request(Policy::Rr), Errno::PERM, &user).contains("in spite of privilege"));
    }

    #[test]
    fn without_runtime_no_real_time_thread_is_tried() {
        for policy in Policy::ALL {
            assert_eq!(without_runtime(policy, Some(0)).is_some(), policy.is_real_time());
            assert_eq!(without_runtime(policy, Some(-1)), None);
            assert_eq!(without_runtime(policy, None), None);
        }
    }

    #[test]
    fn files_of_proc_are_read() {
        assert!(has_capability("Name:\tx\nCapEff:\t000001ffffffffff\n"));
        assert!(!has_capability("CapEff:\t00000000ff7fffff\n") && !has_capability(""));
        assert!(is_initial("         0          0 4294967295\n") && !is_initial("0 1000 1\n"));
        assert_eq!(cgroup("0::/user.slice/a:b\n"), ("/user.slice/a:b".to_owned(), None));
        assert_eq!(
            cgroup("4:cpu,cpuacct:/no/such\n1:name=systemd:/x\n0::/y\n"),
            ("/no/such".to_owned(), None)
        );
        assert_eq!(cgroup("\n:\n"), ("/".to_owned(), None));
    }
}
