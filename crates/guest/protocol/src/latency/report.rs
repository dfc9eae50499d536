//! What the instrument reports.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{CPUS_MAX, Latencies, LatencyRequest, Policy, Power, TEXT_MAX, WrongRequest};
use crate::stress::StressReport;
use crate::{Report, ReportKind};

/// Slots of a time series at most.
pub const SLOTS_MAX: usize = 512;

/// Lines of a trace at most.
pub const TRACE_LINES_MAX: usize = 40;

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LatencyReport {
    /// What was asked for.
    pub request: LatencyRequest,
    /// How long it has measured, by CLOCK_MONOTONIC.
    pub elapsed_ns: u64,
    /// What the figures depend on besides the request.
    pub conditions: Conditions,
    /// One for each CPU of the request, in the same order, or the one that is not pinned.
    pub threads: Vec<ThreadReport>,
    /// The latency that ended the measurement.
    pub breach: Option<Breach>,
    /// What the load did, if the request has one, once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<StressReport>,
    /// What the machine took meanwhile.
    pub power: Power,
}

/// What the machine is, and what it granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Conditions {
    /// The signature of the hypervisor in CPUID leaf 0x40000000, such as `KVMKVMKVM` or `TCGTCGTCGTCG`, or
    /// `User Mode Linux`: time is what it makes of it. Nothing on hardware.
    pub hypervisor: Option<String>,
    /// What the kernel reads the time from: `tsc`, `kvm-clock`.
    pub clocksource: Option<String>,
    /// The resolution of the clock: clock_getres(2). More than a microsecond means that there are no high-resolution
    /// timers.
    pub resolution_ns: u64,
    /// `sched_rt_runtime_us`: for how much of a period real-time threads may run; -1 for all of it.
    pub rt_runtime_us: Option<i64>,
    /// `sched_rt_period_us`.
    pub rt_period_us: Option<u64>,
    /// Whether all memory is locked.
    pub locked: Grant,
    /// Whether `/dev/cpu_dma_latency` is held open.
    pub cpu_dma_latency: Grant,
    /// Whether the kernel traces what runs.
    pub trace: Grant,
}

/// What came of something that was wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grant {
    /// The request does not ask for it.
    NotWanted,
    /// It was granted.
    Granted,
    /// It was refused, and why.
    Refused(String),
}

impl Grant {
    /// Why it was refused.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        match self {
            Self::Refused(why) => Some(why),
            Self::NotWanted | Self::Granted => None,
        }
    }
}

/// What one thread measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ThreadReport {
    /// The CPU that it is pinned to.
    pub cpu: Option<u32>,
    /// Its scheduling policy, as the kernel gives it.
    pub policy: Policy,
    /// Its priority, as the kernel gives it.
    pub priority: u32,
    /// Its timer slack, as the kernel gives it.
    pub timer_slack_ns: u64,
    /// How late it was woken. With absolute deadlines each deadline has a sample, also one that passed while the thread
    /// was still waiting for an earlier one. They are [condensed](Latencies::condensed) as long as it runs, since each report
    /// disturbs what is measured.
    pub latencies: Latencies,
    /// The largest latencies over time; without slots as long as it runs.
    pub maxima: Maxima,
    /// Wake-ups that were late by an interval or more.
    pub late_cycles: u64,
    /// Deadlines without a sample: the thread rested so that others could run, or the clock was set.
    pub unmeasured: u64,
    /// How often the thread rested: a real-time thread that takes nearly all of a CPU leaves a tenth of it to others.
    pub rests: u64,
    /// Wake-ups before their deadline, which have no sample. POSIX allows no timer to expire early.
    pub early: u64,
    /// By how much the earliest of them came too early.
    pub earliest_ns: u64,
    /// What the thread used from its first cycle to its last; nothing as long as it runs.
    pub usage: Option<Usage>,
}

/// A time series of maxima.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Maxima {
    /// The width of a slot. It is doubled, and each two slots become one, when there are [`SLOTS_MAX`] slots.
    pub slot_ns: u64,
    /// The largest latency of each slot, from the beginning of the measurement on; 0 in one without samples.
    pub slots: Vec<u64>,
}

/// What a thread used: getrusage(2) with RUSAGE_THREAD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Usage {
    /// Page faults that needed no I/O.
    pub minor_faults: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Context switches because it waited.
    pub voluntary_switches: u64,
    /// Context switches because another thread took the CPU.
    pub involuntary_switches: u64,
    /// CPU time in user mode.
    pub user_us: u64,
    /// CPU time in the kernel.
    pub system_us: u64,
}

/// A latency above the limit of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Breach {
    /// How late the wake-up was.
    pub latency_ns: u64,
    /// When it was, from the beginning of the measurement.
    pub at_ns: u64,
    /// The same as CLOCK_MONOTONIC, which is the clock of the trace.
    pub woken_ns: u64,
    /// The CPU on which the thread ran again.
    pub cpu: u32,
    /// What ran on this CPU: lines of a trace with the events of the scheduler, of interrupts and of softirqs.
    pub trace: Vec<String>,
}

/// A report that no instrument makes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WrongReport {
    /// Its request is none.
    #[error("the report of a latency measurement has a wrong request: {0}")]
    Request(#[from] WrongRequest),
    /// A part of it cannot be.
    #[error("the report of a latency measurement is wrong: {0}")]
    Part(&'static str),
}

impl LatencyReport {
    /// Checks what a guest sent: all lists and texts have their limits, and all figures are possible.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<(), WrongReport> {
        self.request.validate()?;
        let wrong = self
            .wrong_number()
            .or_else(|| self.wrong_text())
            .or_else(|| self.load.as_ref()?.validate().err())
            .or_else(|| self.power.wrong());
        wrong
            .or_else(|| self.threads.iter().find_map(ThreadReport::wrong))
            .map_or(Ok(()), |why| Err(WrongReport::Part(why)))
    }

    /// What all threads have measured.
    #[must_use]
    pub fn latencies(&self) -> Latencies {
        Latencies::merged(self.threads.iter().map(|thread| &thread.latencies))
    }

    /// The statistic in nanoseconds that accuses the kernel by the condition of the request.
    #[must_use]
    pub fn exceeded(&self) -> Option<f64> {
        self.request.fault?.exceeded(&self.latencies())
    }

    /// Whether a timer of a clock that nobody can set expired early.
    #[must_use]
    pub fn has_early_timer(&self) -> bool {
        !self.request.clock.can_be_set() && self.threads.iter().any(|thread| thread.early > 0)
    }

    /// What the measurement concludes: POSIX allows no timer to expire early, a load verifies what it does, and the
    /// request may have a condition.
    #[must_use]
    pub fn outcome(&self) -> Report {
        if self.has_early_timer() {
            return Report { kind: ReportKind::Fail, text: self.early() };
        }
        match self.load.as_ref().map(StressReport::outcome) {
            Some(Report { kind, text }) if kind != ReportKind::Pass => {
                Report { kind, text: format!("the load: {text}") }
            }
            _ => match self.late() {
                Some(text) => Report { kind: ReportKind::Fail, text },
                None => Report { kind: ReportKind::Pass, text: String::new() },
            },
        }
    }

    /// The condition of the request, if it holds.
    fn late(&self) -> Option<String> {
        let (condition, value) = (self.request.fault?, self.exceeded()?);
        Some(format!("{} is {value:.0} ns, above {} ns", condition.statistic, condition.above_ns))
    }

    fn early(&self) -> String {
        let wakeups = self.threads.iter().map(|thread| thread.early).fold(0, u64::saturating_add);
        let earliest = self.threads.iter().map(|thread| thread.earliest_ns).max().unwrap_or(0);
        format!("{wakeups} timers of {} expired early, by up to {earliest} ns", self.request.clock.name())
    }

    fn wrong_number(&self) -> Option<&'static str> {
        match () {
            () if self.threads.len() != self.request.threads() => {
                Some("another number of threads was asked for")
            }
            () if self.breach.as_ref().is_some_and(|it| it.cpu >= CPUS_MAX) => Some("there is no such CPU"),
            () if self.breach.as_ref().is_some_and(|it| it.trace.len() > TRACE_LINES_MAX) => {
                Some("the trace is too long")
            }
            () => None,
        }
    }

    fn wrong_text(&self) -> Option<&'static str> {
        let mut lines = self.breach.iter().flat_map(|breach| &breach.trace);
        let is_long = lines.any(|line| line.len() > TEXT_MAX);
        is_long.then_some(LONG).or_else(|| self.conditions.wrong())
    }
}

impl Conditions {
    /// What is wrong with it.
    pub(crate) fn wrong(&self) -> Option<&'static str> {
        let Self { hypervisor, clocksource, locked, cpu_dma_latency, trace, .. } = self;
        let known = [hypervisor, clocksource].into_iter().flatten().map(String::as_str);
        let mut texts = known.chain([locked, cpu_dma_latency, trace].into_iter().filter_map(Grant::refusal));
        texts.any(|text| text.len() > TEXT_MAX).then_some(LONG)
    }
}

/// What is wrong with a text above [`TEXT_MAX`].
const LONG: &str = "a text is too long";

impl ThreadReport {
    fn wrong(&self) -> Option<&'static str> {
        match () {
            () if self.cpu.is_some_and(|cpu| cpu >= CPUS_MAX) => Some("there is no such CPU"),
            () if self.maxima.slots.len() > SLOTS_MAX => Some("the time series is too long"),
            () if self.maxima.slot_ns == 0 => Some("the time series has slots of no width"),
            () => self.latencies.wrong(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::{PowerSource, Watts};
    use crate::stress::InstanceReport;

    fn report() -> LatencyReport {
        let thread = ThreadReport {
            cpu: None,
            policy: Policy::Fifo,
            priority: 80,
            timer_slack_ns: 50_000,
            latencies: Latencies {
                minimum: 5,
                maximum: 5,
                sum: 5,
                histogram: vec![(5, 1)],
                ..Latencies::default()
            },
            maxima: Maxima { slot_ns: 1, slots: vec![5] },
            late_cycles: 0,
            unmeasured: 0,
            rests: 0,
            early: 0,
            earliest_ns: 0,
            usage: None,
        };
        let conditions = Conditions {
            hypervisor: None,
            clocksource: None,
            resolution_ns: 1,
            rt_runtime_us: None,
            rt_period_us: None,
            locked: Grant::Granted,
            cpu_dma_latency: Grant::NotWanted,
            trace: Grant::NotWanted,
        };
        let request = LatencyRequest::default();
        LatencyReport {
            request,
            elapsed_ns: 1,
            conditions,
            threads: vec![thread],
            breach: None,
            load: None,
            power: Power::Unknown("no RAPL and no battery".to_owned()),
        }
    }

    fn wrong(change: impl FnOnce(&mut LatencyReport)) -> String {
        let mut report = report();
        change(&mut report);
        report.validate().expect_err("this is wrong").to_string()
    }

    #[test]
    fn a_report_of_the_instrument_is_accepted() {
        assert_eq!(report().validate(), Ok(()));
        assert_eq!(report().latencies().count(), 1);
    }

    #[test]
    fn what_exceeds_a_limit_is_refused() {
        let breach = |cpu, trace| Some(Breach { latency_ns: 1, at_ns: 1, woken_ns: 1, cpu, trace });
        let watts = Watts {
            source: PowerSource::Battery,
            samples: 1,
            mean: 9.0,
            standard_deviation: 0.0,
            minimum: 9.0,
            maximum: 9.0,
        };
        let messages = [
            wrong(|it| it.request.interval_ns = 0),
            wrong(|it| it.threads.clear()),
            wrong(|it| it.threads[0].cpu = Some(1024)),
            wrong(|it| it.threads[0].maxima.slots = vec![0; SLOTS_MAX + 1]),
            wrong(|it| it.threads[0].maxima.slot_ns = 0),
            wrong(|it| it.threads[0].latencies.minimum = 6),
            wrong(|it| it.breach = breach(1024, Vec::new())),
            wrong(|it| it.breach = breach(0, vec![String::new(); TRACE_LINES_MAX + 1])),
            wrong(|it| it.breach = breach(0, vec!["x".repeat(TEXT_MAX + 1)])),
            wrong(|it| it.conditions.trace = Grant::Refused("x".repeat(TEXT_MAX + 1))),
            wrong(|it| it.power = Power::Unknown("x".repeat(TEXT_MAX + 1))),
            wrong(|it| it.power = Power::Measured(Watts { mean: f64::NAN, ..watts })),
        ];
        let expected = [
            "has a wrong request: an interval in nanoseconds of 0: use 1000 to 10000000000",
            "is wrong: another number of threads was asked for",
            "is wrong: there is no such CPU",
            "is wrong: the time series is too long",
            "is wrong: the time series has slots of no width",
            "is wrong: the minimum is above the maximum",
            "is wrong: there is no such CPU",
            "is wrong: the trace is too long",
            "is wrong: a text is too long",
            "is wrong: a text is too long",
            "is wrong: a text is too long",
            "is wrong: a power is none",
        ];
        assert_eq!(messages, expected.map(|text| format!("the report of a latency measurement {text}")));
    }

    #[test]
    fn only_a_clock_that_nobody_sets_shows_an_early_timer() {
        let mut report = report();
        report.threads[0].early = 1;
        assert!(report.has_early_timer());
        let conclusion = report.outcome();
        assert_eq!(conclusion.kind, ReportKind::Fail);
        assert_eq!(conclusion.text, "1 timers of CLOCK_MONOTONIC expired early, by up to 0 ns");
        report.request.clock = crate::latency::Clock::Tai;
        assert!(!report.has_early_timer());
        assert_eq!(report.outcome().kind, ReportKind::Pass);
    }

    #[test]
    fn a_load_decides_about_the_measurement_beside_it() {
        let mut report = report();
        let load = |kind| {
            let refused = Some(Report { kind, text: "no room".to_owned() });
            let instance = InstanceReport { stressor: "vm".to_owned(), refused, ..InstanceReport::default() };
            Some(StressReport { instances: vec![instance], ..StressReport::default() })
        };
        for kind in [ReportKind::Fail, ReportKind::Skip, ReportKind::Broken] {
            report.load = load(kind);
            assert_eq!(report.outcome(), Report { kind, text: "the load: vm: no room".to_owned() });
        }
        report.load = load(ReportKind::Pass);
        assert_eq!(report.outcome().kind, ReportKind::Pass);
        assert_eq!(report.validate(), Ok(()));
    }
}
