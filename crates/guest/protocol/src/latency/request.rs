//! What the instrument is asked.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Condition;
use crate::stress::{Mode, StressRequest};

/// Most threads of one measurement, and one more than the highest number of a CPU: sched_setaffinity(2) takes no more
/// in a `cpu_set_t`.
pub const CPUS_MAX: u32 = 1024;

/// The shortest interval: a microsecond is less than any kernel takes for a cycle.
pub const INTERVAL_MIN_NS: u64 = 1_000;

/// The longest interval.
pub const INTERVAL_MAX_NS: u64 = 10_000_000_000;

/// The longest interval of [`Method::Poll`], during which a CPU does nothing else.
pub const POLL_INTERVAL_MAX_NS: u64 = 100_000_000;

/// The longest measurement: 30 days.
pub const DURATION_MAX_MS: u64 = 30 * 24 * 3600 * 1000;

/// The highest priority of SCHED_FIFO and SCHED_RR: sched(7).
const PRIORITY_MAX: u32 = 99;

/// The longest timer slack.
const SLACK_MAX_NS: u64 = 10_000_000_000;

/// The longest CPU latency that can be asked for: the kernel reads a signed number.
const DMA_LATENCY_MAX_US: u32 = i32::MAX as u32;

/// What is measured, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct LatencyRequest {
    /// The scheduling policy of the measuring threads.
    pub policy: Policy,
    /// Their priority: 1 to 99 for [`Policy::Fifo`] and [`Policy::Rr`], 0 for the others.
    pub priority: u32,
    /// From one deadline to the next: [`INTERVAL_MIN_NS`] to [`INTERVAL_MAX_NS`], or [`POLL_INTERVAL_MAX_NS`].
    pub interval_ns: u64,
    /// How a thread waits.
    pub method: Method,
    /// The clock of the deadlines, which is also the one that is read.
    pub clock: Clock,
    /// Each cycle sleeps for the interval from its own beginning, so that a late wake-up puts off all that follow, as
    /// `cyclictest --relative` does. Otherwise deadlines are absolute, and a wake-up that comes after several of
    /// them is a late one for each.
    pub relative: bool,
    /// One thread for each of these CPUs, pinned to it; one thread that is not pinned if there are none.
    pub cpus: Vec<u32>,
    /// The timer slack of the threads: PR_SET_TIMERSLACK(2const). It is left as it is if there is none; real-time
    /// threads have none in any case.
    pub timer_slack_ns: Option<u64>,
    /// The longest time in which a CPU may leave an idle state, for the whole machine: `/dev/cpu_dma_latency`. It is left
    /// as it is if there is none; `cyclictest` asks for 0 by default.
    pub cpu_dma_latency_us: Option<u32>,
    /// How long: 1 to [`DURATION_MAX_MS`].
    pub duration_ms: u64,
    /// Each thread ends when it has so many samples.
    pub samples: Option<u64>,
    /// The first latency above this ends the measurement, and with it a trace of what ran.
    pub break_above_ns: Option<u64>,
    /// The kernel is at fault if this holds in the end.
    pub fault: Option<Condition>,
    /// All memory of the instrument is locked: mlockall(2).
    pub lock_memory: bool,
    /// The instrument `stress` runs this beside the measurement, for as long as it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<StressRequest>,
}

/// What `cyclictest --mlock --priority=80` does, for ten seconds.
impl Default for LatencyRequest {
    fn default() -> Self {
        Self {
            policy: Policy::Fifo,
            priority: 80,
            interval_ns: 1_000_000,
            method: Method::ClockNanosleep,
            clock: Clock::Monotonic,
            relative: false,
            cpus: Vec::new(),
            timer_slack_ns: None,
            cpu_dma_latency_us: None,
            duration_ms: 10_000,
            samples: None,
            break_above_ns: None,
            fault: None,
            lock_memory: true,
            load: None,
        }
    }
}

/// Scheduling policies: sched(7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// SCHED_FIFO.
    Fifo,
    /// SCHED_RR.
    Rr,
    /// SCHED_DEADLINE, with a period and a deadline of the interval and a runtime of half of it.
    Deadline,
    /// SCHED_OTHER.
    Other,
    /// SCHED_BATCH.
    Batch,
    /// SCHED_IDLE.
    Idle,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Fifo, Self::Rr, Self::Deadline, Self::Other, Self::Batch, Self::Idle];

    /// The name that sched(7) gives it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fifo => "SCHED_FIFO",
            Self::Rr => "SCHED_RR",
            Self::Deadline => "SCHED_DEADLINE",
            Self::Other => "SCHED_OTHER",
            Self::Batch => "SCHED_BATCH",
            Self::Idle => "SCHED_IDLE",
        }
    }

    /// Whether it is one of the two that have priorities.
    #[must_use]
    pub const fn has_priority(self) -> bool {
        matches!(self, Self::Fifo | Self::Rr)
    }

    /// Whether a thread of it runs before all those of the other three.
    #[must_use]
    pub const fn is_real_time(self) -> bool {
        matches!(self, Self::Fifo | Self::Rr | Self::Deadline)
    }
}

/// How a thread waits for its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// clock_nanosleep(2), with TIMER_ABSTIME unless deadlines are relative.
    ClockNanosleep,
    /// nanosleep(2) for as long as the deadline is away. The kernel measures this sleep by CLOCK_MONOTONIC.
    Nanosleep,
    /// A timer of timer_create(2), armed for each deadline, whose signal is fetched with sigwaitinfo(2).
    Timer,
    /// Reading the clock again and again.
    Poll,
}

impl Method {
    /// What it is in a sentence.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClockNanosleep => "clock_nanosleep",
            Self::Nanosleep => "nanosleep",
            Self::Timer => "timer_create",
            Self::Poll => "polling",
        }
    }
}

/// Clocks: clock_getres(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// CLOCK_MONOTONIC.
    Monotonic,
    /// CLOCK_REALTIME, which can be set.
    Realtime,
    /// CLOCK_BOOTTIME, which goes on while the machine is suspended.
    Boottime,
    /// CLOCK_TAI, which is set with CLOCK_REALTIME.
    Tai,
}

impl Clock {
    /// Its name in C.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Monotonic => "CLOCK_MONOTONIC",
            Self::Realtime => "CLOCK_REALTIME",
            Self::Boottime => "CLOCK_BOOTTIME",
            Self::Tai => "CLOCK_TAI",
        }
    }

    /// Whether somebody may set it, so that a wake-up seems early or late.
    #[must_use]
    pub const fn can_be_set(self) -> bool {
        matches!(self, Self::Realtime | Self::Tai)
    }
}

/// A request that cannot be meant: what is wrong, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct WrongRequest(String);

impl LatencyRequest {
    /// Checks that all numbers are in their ranges and go together.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<(), WrongRequest> {
        let wrong = self
            .wrong_scheduling()
            .or_else(|| self.wrong_time())
            .or_else(|| self.wrong_cpus())
            .or_else(|| self.wrong_load());
        wrong.map_or(Ok(()), |why| Err(WrongRequest(why)))
    }

    /// How many threads measure.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.cpus.len().max(1)
    }

    fn wrong_scheduling(&self) -> Option<String> {
        let Self { policy, priority, .. } = *self;
        match policy {
            Policy::Fifo | Policy::Rr if !(1..=PRIORITY_MAX).contains(&priority) => {
                Some(format!("priority {priority} of {}: use 1 to {PRIORITY_MAX}", policy.name()))
            }
            Policy::Fifo | Policy::Rr => None,
            _ if priority != 0 => {
                Some(format!("priority {priority} of {}, which has none: use 0", policy.name()))
            }
            Policy::Deadline if self.method == Method::Poll => {
                Some("SCHED_DEADLINE throttles a thread that polls: use another policy or method".to_owned())
            }
            _ => None,
        }
    }

    fn wrong_time(&self) -> Option<String> {
        let interval_max = if self.method == Method::Poll { POLL_INTERVAL_MAX_NS } else { INTERVAL_MAX_NS };
        let outside = |what: &str, value: u64, least: u64, most: u64| {
            let is_outside = !(least..=most).contains(&value);
            is_outside.then(|| format!("{what} of {value}: use {least} to {most}"))
        };
        outside("an interval in nanoseconds", self.interval_ns, INTERVAL_MIN_NS, interval_max)
            .or_else(|| outside("a duration in milliseconds", self.duration_ms, 1, DURATION_MAX_MS))
            .or_else(|| outside("a number of samples", self.samples?, 1, u64::MAX))
            .or_else(|| outside("a timer slack in nanoseconds", self.timer_slack_ns?, 1, SLACK_MAX_NS))
            .or_else(|| {
                let latency = u64::from(self.cpu_dma_latency_us?);
                outside("a CPU latency in microseconds", latency, 0, DMA_LATENCY_MAX_US.into())
            })
    }

    fn wrong_cpus(&self) -> Option<String> {
        if let Some(cpu) = self.cpus.iter().find(|cpu| **cpu >= CPUS_MAX) {
            return Some(format!("CPU {cpu}: use 0 to {}", CPUS_MAX - 1));
        }
        let mut sorted = self.cpus.clone();
        sorted.sort_unstable();
        let twice = sorted.windows(2).find(|pair| pair[0] == pair[1])?;
        Some(format!("CPU {} is there twice: name each CPU once", twice[0]))
    }

    /// What lasts as long as the measurement has no end of its own.
    fn wrong_load(&self) -> Option<String> {
        let load = self.load.as_ref()?;
        let wrong = match load.validate() {
            Err(why) => why,
            Ok(()) if load.timeout_ms.is_some() => "it has a timeout: leave it out".to_owned(),
            Ok(()) if load.mode == Mode::Sequential => {
                "its stressors take turns: run them at once".to_owned()
            }
            Ok(()) => {
                let limited = load.instances.iter().find(|instance| instance.operations.is_some())?;
                format!("{} has a limit of operations: leave it out", limited.stressor)
            }
        };
        Some(format!("the load: {wrong}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stress::Instance;

    fn wrong(change: impl FnOnce(&mut LatencyRequest)) -> String {
        let mut request = LatencyRequest::default();
        change(&mut request);
        request.validate().expect_err("this is wrong").to_string()
    }

    fn load(operations: Option<u64>) -> StressRequest {
        let instance = Instance { stressor: "vm".to_owned(), operations, ..Instance::default() };
        StressRequest { instances: vec![instance], ..StressRequest::default() }
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let messages = [
            wrong(|it| it.priority = 100),
            wrong(|it| it.policy = Policy::Other),
            wrong(|it| it.interval_ns = 999),
            wrong(|it| (it.method, it.interval_ns) = (Method::Poll, 100_000_001)),
            wrong(|it| (it.method, it.policy, it.priority) = (Method::Poll, Policy::Deadline, 0)),
            wrong(|it| it.duration_ms = 0),
            wrong(|it| it.samples = Some(0)),
            wrong(|it| it.timer_slack_ns = Some(0)),
            wrong(|it| it.cpu_dma_latency_us = Some(u32::MAX)),
            wrong(|it| it.cpus = vec![1024]),
            wrong(|it| it.cpus = vec![3, 1, 3]),
            wrong(|it| it.load = Some(StressRequest::default())),
            wrong(|it| it.load = Some(StressRequest { timeout_ms: Some(1), ..load(None) })),
            wrong(|it| it.load = Some(StressRequest { mode: Mode::Sequential, ..load(None) })),
            wrong(|it| it.load = Some(load(Some(1)))),
        ];
        let expected = [
            "priority 100 of SCHED_FIFO: use 1 to 99",
            "priority 80 of SCHED_OTHER, which has none: use 0",
            "an interval in nanoseconds of 999: use 1000 to 10000000000",
            "an interval in nanoseconds of 100000001: use 1000 to 100000000",
            "SCHED_DEADLINE throttles a thread that polls: use another policy or method",
            "a duration in milliseconds of 0: use 1 to 2592000000",
            "a number of samples of 0: use 1 to 18446744073709551615",
            "a timer slack in nanoseconds of 0: use 1 to 10000000000",
            "a CPU latency in microseconds of 4294967295: use 0 to 2147483647",
            "CPU 1024: use 0 to 1023",
            "CPU 3 is there twice: name each CPU once",
            "the load: it names no stressor",
            "the load: it has a timeout: leave it out",
            "the load: its stressors take turns: run them at once",
            "the load: vm has a limit of operations: leave it out",
        ];
        assert_eq!(messages, expected);
    }

    #[test]
    fn the_default_and_its_limits_are_accepted() {
        let mut request = LatencyRequest::default();
        assert_eq!((request.validate(), request.threads()), (Ok(()), 1));
        request.interval_ns = INTERVAL_MIN_NS;
        request.duration_ms = DURATION_MAX_MS;
        request.cpus = (0..CPUS_MAX).collect();
        request.load = Some(load(None));
        assert_eq!((request.validate(), request.threads()), (Ok(()), 1024));
    }
}
