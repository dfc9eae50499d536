//! What the instrument reports.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::thread_time::{THREADS_MAX, ThreadTime};
use super::trace::CAUSES_MAX;
use super::{Accounting, CPUS_MAX, Setup, StealRequest, Trace, WrongRequest};

mod figures;
mod verdict;

pub use verdict::Verdict;

/// Classes of the histogram of gaps.
pub const CLASSES: usize = 16;

/// Bytes of a text at most.
pub const TEXT_MAX: usize = 320;

/// What work and gaps say of the stolen share may differ by so much; by more, something else disturbed the probe.
pub const AGREEMENT: f64 = 0.02;

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct StealReport {
    /// What was asked for.
    pub request: StealRequest,
    /// The CPU of the victim.
    pub cpu: u32,
    /// What the figures depend on besides the request.
    pub conditions: Conditions,
    /// What the probe does when nothing else runs; nothing for a command.
    pub calibration: Option<Calibration>,
    /// Each set-up, as far as it was measured.
    pub sides: Vec<Side>,
    /// A signal ended it before its time.
    pub interrupted: bool,
}

/// What the machine is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Conditions {
    /// How the kernel accounts for CPU time.
    pub accounting: Accounting,
    /// The signature of the hypervisor, which can take the CPU, too.
    pub hypervisor: Option<String>,
    /// The CPU of the load's sender: that of the victim if there is no other one.
    pub sender: Option<u32>,
    /// How much `net_rx_action` does at once.
    pub budget: Option<Budget>,
}

/// Limits of receive processing: Documentation/admin-guide/sysctl/net.rst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Budget {
    /// `net.core.dev_weight`: packets of one poll.
    pub weight: u32,
    /// `net.core.netdev_budget`: packets of one run of the softirq.
    pub packets: u32,
    /// `net.core.netdev_budget_usecs`: microseconds of one run of the softirq.
    pub usecs: u32,
}

/// How fast the probe is on its CPU before the load begins, in windows of about a millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Calibration {
    /// Windows in all.
    pub windows: u32,
    /// Windows that something interrupted. They do not count, unless there are no others.
    pub disturbed: u32,
    /// The median time of a unit of work, in picoseconds.
    pub unit_ps: u64,
    /// From the 10th to the 90th percentile of the windows that count, as a share of the median.
    pub spread: f64,
    /// The sum of all gaps in the time of all windows: what is stolen without the load.
    pub stolen: f64,
    /// A gap is longer than this.
    pub threshold_ns: u64,
}

/// One set-up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Side {
    /// How the load was set up.
    pub setup: Setup,
    /// Passes without tracing.
    pub passes: Vec<Pass>,
    /// The pass with tracing.
    pub trace: Traced,
}

/// What came of the second pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Traced {
    /// It was not asked for, or has not begun.
    None,
    /// This kernel or user cannot trace, and why.
    Missing(String),
    /// What it saw.
    Seen(Trace),
}

/// A pass without tracing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Pass {
    /// By CLOCK_MONOTONIC.
    pub elapsed_ns: u64,
    /// What the probe did; nothing for a command.
    pub work: Option<Work>,
    /// What the kernel charged the victim with.
    pub usage: Usage,
    /// What `/proc/stat` says of the CPU.
    pub times: Option<CpuTimes>,
    /// Other threads that were on this CPU, those that ran the longest first.
    pub threads: Vec<ThreadTime>,
    /// What the load did: [`Load::unit`](super::Load::unit).
    pub load_count: Option<u64>,
    /// How long the load kept the CPU of the victim busy, where it knows.
    pub load_busy_ns: Option<u64>,
    /// The exit status of a command; nothing for the probe, and for a command that a signal ended.
    pub status: Option<u8>,
}

/// What the probe did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Work {
    /// The time that its units of work take when nothing else runs.
    pub done_ns: u64,
    /// Gaps in the time-stamp counter.
    pub gaps: Gaps,
}

/// Times in which the probe did not run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Gaps {
    /// How many.
    pub count: u64,
    /// All of them.
    pub sum_ns: u64,
    /// The longest.
    pub longest_ns: u64,
    /// How many there are below 2 µs, below 4 µs, and so on; the last class has all that are longer.
    pub histogram: Vec<u64>,
}

/// What the victim was charged with: getrusage(2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Usage {
    /// CPU time in user mode, as the kernel accounts for it.
    pub user_us: u64,
    /// CPU time in the kernel, as the kernel accounts for it.
    pub system_us: u64,
    /// The scheduler's run time, which is precise: CLOCK_THREAD_CPUTIME_ID, for a command the sum of both times.
    pub run_ns: u64,
    /// Context switches because it waited.
    pub voluntary: u64,
    /// Context switches because another thread took the CPU.
    pub involuntary: u64,
}

/// What the CPU did: proc_stat(5), in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CpuTimes {
    /// Time in user mode, with that of niced tasks.
    pub user_ms: u64,
    /// Time in the kernel.
    pub system_ms: u64,
    /// Interrupts.
    pub irq_ms: u64,
    /// Softirqs.
    pub softirq_ms: u64,
    /// What the hypervisor took.
    pub steal_ms: u64,
    /// Time without any task, with that in which one waited for I/O.
    pub idle_ms: u64,
}

/// A report that no instrument makes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WrongReport {
    /// Its request is none.
    #[error("the report of stolen time has a wrong request: {0}")]
    Request(#[from] WrongRequest),
    /// A part of it cannot be.
    #[error("the report of stolen time is wrong: {0}")]
    Part(&'static str),
}

impl StealReport {
    /// Checks what a guest sent: all lists and texts have their limits, and all figures are possible.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<(), WrongReport> {
        self.request.validate()?;
        let wrong =
            self.wrong_number().or_else(|| self.sides.iter().find_map(|side| side.wrong(&self.request)));
        wrong.map_or(Ok(()), |why| Err(WrongReport::Part(why)))
    }

    fn wrong_number(&self) -> Option<&'static str> {
        let is_cpu = |cpu: u32| cpu < CPUS_MAX;
        match () {
            () if !is_cpu(self.cpu) || !self.conditions.sender.is_none_or(is_cpu) => {
                Some("there is no such CPU")
            }
            () if self.conditions.hypervisor.as_deref().is_some_and(is_long) => Some("a text is too long"),
            () if self.calibration.is_some_and(|it| !it.spread.is_finite() || !it.stolen.is_finite()) => {
                Some("the calibration is not finite")
            }
            () if self.sides.len() > self.request.setups().count() => Some("there are too many set-ups"),
            () => None,
        }
    }
}

impl Side {
    fn wrong(&self, request: &StealRequest) -> Option<&'static str> {
        if self.passes.len() > request.passes() as usize {
            return Some("there are too many passes");
        }
        let trace = match &self.trace {
            Traced::None => None,
            Traced::Missing(why) => is_long(why).then_some("a text is too long"),
            Traced::Seen(trace) => wrong_trace(trace),
        };
        trace.or_else(|| self.passes.iter().find_map(|pass| pass.wrong(request)))
    }
}

impl Pass {
    fn wrong(&self, request: &StealRequest) -> Option<&'static str> {
        match &self.work {
            _ if self.elapsed_ns == 0 => Some("a pass took no time"),
            Some(_) if !request.command.is_empty() => Some("a command does no work of the probe"),
            None if request.command.is_empty() => Some("the probe did no work"),
            Some(work) if work.gaps.histogram.len() != CLASSES => Some("the histogram has other classes"),
            _ => wrong_threads(&self.threads),
        }
    }
}

fn wrong_trace(trace: &Trace) -> Option<&'static str> {
    let causes = [&trace.interrupts, &trace.softirqs];
    match () {
        () if causes.iter().any(|causes| causes.len() > CAUSES_MAX) => Some("there are too many causes"),
        () if causes.into_iter().flatten().any(|cause| is_long(&cause.name)) => Some("a text is too long"),
        () => wrong_threads(&trace.threads),
    }
}

fn wrong_threads(threads: &[ThreadTime]) -> Option<&'static str> {
    match () {
        () if threads.len() > THREADS_MAX => Some("there are too many threads"),
        () if threads.iter().any(|thread| is_long(&thread.name)) => Some("a text is too long"),
        () => None,
    }
}

fn is_long(text: &str) -> bool {
    text.len() > TEXT_MAX
}

#[cfg(test)]
pub(super) mod tests;
