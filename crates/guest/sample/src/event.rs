//! The event at which samples are taken, on each CPU.

use harness::instrument::{broken, skip};
use harness::perf::flags::{
    COMM, DISABLED, ENABLE_ON_EXEC, EXCLUDE_CALLCHAIN_USER, EXCLUDE_HV, EXCLUDE_IDLE, EXCLUDE_KERNEL,
    INHERIT, MMAP, MMAP2, SAMPLE_ID_ALL, TASK,
};
use harness::perf::{self, Attributes, Ring, TASK_CLOCK, number, online_cpus, write_into};
use harness::workload::threads;
use protocol::Report;
use protocol::sample::SampleRequest;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::Pid;

use crate::taken::{REGISTERS, TYPE};

/// Pages of a CPU's buffer: a record has all bytes that are asked of a stack, also where the stack is shorter.
const PAGES: usize = 1024;

/// The buffers of all CPUs.
pub(crate) struct Events {
    pub(crate) rings: Vec<Ring>,
    /// This user sees nothing of the kernel.
    pub(crate) is_user_only: bool,
    _events: Vec<Vec<OwnedFd>>,
}

impl Events {
    /// Begins to take samples: of the program that a process executes next, of a process that runs, or of everything.
    ///
    /// # Errors
    ///
    /// `skip` if this kernel or this user has no such samples.
    pub(crate) fn open(request: &SampleRequest, process: Option<Pid>) -> Result<Self, Report> {
        let not = |why: String| skip(format!("{}: {why}", request.event));
        let (number, period) = match request.by_clock() {
            Some(nanoseconds) => (TASK_CLOCK, nanoseconds),
            None => (number(&request.event).map_err(not)?, request.period),
        };
        let process = process.filter(|_| !request.workload.everywhere);
        let tasks = match process {
            Some(process) if request.workload.process.is_some() => threads(process)?,
            process => process.into_iter().collect(),
        };
        let attributes = Attributes {
            sample_period: period,
            sample_type: TYPE,
            sample_regs_user: REGISTERS,
            sample_stack_user: request.stack,
            flags: flags(request, process.is_some()),
            ..number.attributes()
        };
        let user_only = Attributes { flags: attributes.flags | EXCLUDE_KERNEL | EXCLUDE_HV, ..attributes };
        let cpus: Vec<u32> = online_cpus().map_err(broken)?.collect();
        let (events, is_user_only) = match open_all(attributes, &tasks, &cpus) {
            Err(Errno::ACCESS | Errno::PERM) => (open_all(user_only, &tasks, &cpus), true),
            opened => (opened, false),
        };
        let events = events.map_err(|error| not(number.refusal(error)))?;
        let rings = events.iter().filter_map(|of_cpu| ring(of_cpu).transpose()).collect::<Result<_, _>>();
        let rings = rings.map_err(|error| broken(format!("the buffer of an event: {error}")))?;
        Ok(Self { rings, is_user_only, _events: events })
    }
}

fn flags(request: &SampleRequest, is_of_process: bool) -> u64 {
    let whose = match (request.workload.process, is_of_process) {
        (Some(_), _) => INHERIT,
        (None, true) => DISABLED | INHERIT | ENABLE_ON_EXEC,
        (None, false) => EXCLUDE_IDLE,
    };
    whose | MMAP | MMAP2 | COMM | TASK | SAMPLE_ID_ALL | EXCLUDE_CALLCHAIN_USER
}

/// The events of each CPU: of all tasks that have not ended, or one of everything if none are named.
fn open_all(attributes: Attributes, tasks: &[Pid], cpus: &[u32]) -> Result<Vec<Vec<OwnedFd>>, Errno> {
    let open = |task: Pid, cpu| {
        let number = task.as_raw_nonzero().get().unsigned_abs();
        match perf::open(attributes, Some(number), Some(cpu)) {
            Err(Errno::SRCH) => None,
            opened => Some(opened),
        }
    };
    let of_cpu = |&cpu: &u32| match tasks {
        [] => Ok(vec![perf::open(attributes, None, Some(cpu))?]),
        tasks => tasks.iter().filter_map(|&task| open(task, cpu)).collect(),
    };
    cpus.iter().map(of_cpu).collect()
}

/// The buffer of a CPU, into which all of its events are written.
fn ring(events: &[OwnedFd]) -> Result<Option<Ring>, Errno> {
    let Some((first, others)) = events.split_first() else { return Ok(None) };
    let ring = Ring::map(first, PAGES)?;
    others.iter().try_for_each(|other| write_into(other, first))?;
    Ok(Some(ring))
}
