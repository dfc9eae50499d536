//! The event at which samples are taken, on each CPU.

use harness::instrument::{broken, skip};
use harness::perf::flags::{
    COMM, DISABLED, ENABLE_ON_EXEC, EXCLUDE_CALLCHAIN_USER, EXCLUDE_HV, EXCLUDE_IDLE, EXCLUDE_KERNEL,
    INHERIT, MMAP, MMAP2, SAMPLE_ID_ALL, TASK,
};
use harness::perf::{self, Attributes, Ring, TASK_CLOCK, number, online_cpus};
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
    _events: Vec<OwnedFd>,
}

impl Events {
    /// Begins to take samples: of the program that a process executes next, or of everything.
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
        let attributes = Attributes {
            sample_period: period,
            sample_type: TYPE,
            sample_regs_user: REGISTERS,
            sample_stack_user: request.stack,
            flags: flags(process.is_some()),
            ..number.attributes()
        };
        let user_only = Attributes { flags: attributes.flags | EXCLUDE_KERNEL | EXCLUDE_HV, ..attributes };
        let cpus: Vec<u32> = online_cpus().map_err(broken)?.collect();
        let (events, is_user_only) = match open_all(attributes, process, &cpus) {
            Err(Errno::ACCESS | Errno::PERM) => (open_all(user_only, process, &cpus), true),
            opened => (opened, false),
        };
        let events = events.map_err(|error| not(number.refusal(error)))?;
        let rings = events.iter().map(|event| Ring::map(event, PAGES)).collect::<Result<_, _>>();
        let rings = rings.map_err(|error| broken(format!("the buffer of an event: {error}")))?;
        Ok(Self { rings, is_user_only, _events: events })
    }
}

fn flags(is_of_program: bool) -> u64 {
    let whose = if is_of_program { DISABLED | INHERIT | ENABLE_ON_EXEC } else { EXCLUDE_IDLE };
    whose | MMAP | MMAP2 | COMM | TASK | SAMPLE_ID_ALL | EXCLUDE_CALLCHAIN_USER
}

fn open_all(attributes: Attributes, process: Option<Pid>, cpus: &[u32]) -> Result<Vec<OwnedFd>, Errno> {
    let process = process.map(|process| process.as_raw_nonzero().get().unsigned_abs());
    cpus.iter().map(|&cpu| perf::open(attributes, process, Some(cpu))).collect()
}
