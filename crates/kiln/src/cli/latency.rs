//! What can be said of a measurement of latencies.

use std::time::Duration;

use clap::{Args, ValueEnum};
use protocol::latency::{Clock, Condition, LatencyRequest, Method, Policy};

use super::axes::{self, Axes};
use super::scheduling::PolicyName;
use super::{OUTPUT, Place};
use crate::units;

/// `kiln latency`.
#[derive(Debug, Args)]
pub(crate) struct Latency {
    /// What puts the kernel at fault: mean, sd, min, max or a percentile, above a time, such as 'p99.9 > 200us'
    #[arg(value_name = "CONDITION")]
    pub(crate) condition: Vec<String>,
    /// Scheduling policy of the measuring threads
    #[arg(long, value_enum, default_value = "fifo")]
    pub(crate) policy: PolicyName,
    /// Their priority, 1 to 99 [default: 80 for fifo and rr; the other policies have none]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) priority: Option<u32>,
    /// Time from one deadline to the next, such as 20us
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = units::fine_duration)]
    pub(crate) interval: Duration,
    /// How a thread waits for its deadline
    #[arg(long, value_enum, default_value = "clock-nanosleep")]
    pub(crate) method: MethodName,
    /// Clock of the deadlines
    #[arg(long, value_enum, default_value = "monotonic")]
    pub(crate) clock: ClockName,
    /// Sleep from wake-up to wake-up: a late one puts off all that follow [default: deadlines are absolute]
    #[arg(long)]
    pub(crate) relative: bool,
    /// CPUs that get a pinned thread each, such as 0,2-3 [default: one thread that is not pinned]
    #[arg(long, value_name = "LIST", value_parser = units::cpus)]
    pub(crate) cpu: Option<units::Cpus>,
    /// Timer slack of the threads, such as 1us; real-time threads have none
    #[arg(long, value_name = "TIME", value_parser = units::fine_duration)]
    pub(crate) timer_slack: Option<Duration>,
    /// Keep the CPUs out of idle states that take longer to leave, such as 0: /dev/cpu_dma_latency
    #[arg(long, value_name = "TIME", value_parser = units::fine_duration)]
    pub(crate) cpu_dma_latency: Option<Duration>,
    /// How long to measure
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = units::duration)]
    pub(crate) duration: Duration,
    /// End when each thread has so many samples
    #[arg(long, value_name = "COUNT")]
    pub(crate) samples: Option<u64>,
    /// End with the first latency above this, and show what ran there
    #[arg(long, value_name = "TIME", value_parser = units::fine_duration)]
    pub(crate) break_above: Option<Duration>,
    /// Run a load of kiln stress beside it: a class, such as stress:vm, or a stressor, such as stress:vm=2,bytes=25%
    #[arg(long, value_name = "LOAD")]
    pub(crate) with: Vec<String>,
    /// Measure each combination of settings in turn, such as governor=all,interval=1ms,100us,policy=fifo,other
    #[arg(long, value_name = "AXES", value_parser = axes::read, conflicts_with_all = ["break_above", "bucket"])]
    pub(crate) sweep: Option<Axes>,
    /// How often a sweep measures each combination
    #[arg(long, value_name = "COUNT", default_value = "5", requires = "sweep")]
    pub(crate) repeat: u32,
    /// Do not lock memory
    #[arg(long)]
    pub(crate) no_lock: bool,
    /// Width of the classes of the distribution that is shown [default: one that gives about 20]
    #[arg(long, value_name = "TIME", value_parser = units::fine_duration, help_heading = OUTPUT)]
    pub(crate) bucket: Option<Duration>,
    /// One JSON object, with all samples as a histogram
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// Names of [`Method`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodName {
    /// clock_nanosleep(2)
    ClockNanosleep,
    /// nanosleep(2)
    Nanosleep,
    /// timer_create(2)
    Timer,
    /// Reading the clock all the time
    Poll,
}

/// Names of [`Clock`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClockName {
    /// CLOCK_MONOTONIC
    Monotonic,
    /// CLOCK_REALTIME
    Realtime,
    /// CLOCK_BOOTTIME
    Boottime,
    /// CLOCK_TAI
    Tai,
}

impl Latency {
    /// What is asked.
    ///
    /// # Errors
    ///
    /// When the condition is none.
    pub(crate) fn request(&self) -> Result<LatencyRequest, String> {
        let policy = self.policy.into();
        let usual = if Policy::has_priority(policy) { LatencyRequest::default().priority } else { 0 };
        Ok(LatencyRequest {
            policy,
            priority: self.priority.unwrap_or(usual),
            interval_ns: units::nanoseconds(self.interval),
            method: self.method.into(),
            clock: self.clock.into(),
            relative: self.relative,
            cpus: self.cpu.iter().flat_map(|cpus| &cpus.0).copied().collect(),
            timer_slack_ns: self.timer_slack.map(units::nanoseconds),
            cpu_dma_latency_us: self
                .cpu_dma_latency
                .map(|latency| u32::try_from(latency.as_micros()).unwrap_or(u32::MAX)),
            duration_ms: units::milliseconds(self.duration),
            samples: self.samples,
            break_above_ns: self.break_above.map(units::nanoseconds),
            fault: self.fault()?,
            lock_memory: !self.no_lock,
            load: None,
        })
    }

    fn fault(&self) -> Result<Option<Condition>, String> {
        let text = self.condition.join(" ");
        (!text.is_empty()).then(|| condition(&text)).transpose()
    }
}

/// Reads `p99.9 > 200us`.
fn condition(text: &str) -> Result<Condition, String> {
    let (statistic, limit) =
        text.split_once('>').ok_or_else(|| format!("{text:?} is no condition: write 'p99.9 > 200us'"))?;
    let above_ns = units::nanoseconds(units::fine_duration(limit.trim())?);
    Ok(Condition { statistic: statistic.trim().parse()?, above_ns })
}

impl From<MethodName> for Method {
    fn from(name: MethodName) -> Self {
        match name {
            MethodName::ClockNanosleep => Self::ClockNanosleep,
            MethodName::Nanosleep => Self::Nanosleep,
            MethodName::Timer => Self::Timer,
            MethodName::Poll => Self::Poll,
        }
    }
}

impl From<ClockName> for Clock {
    fn from(name: ClockName) -> Self {
        match name {
            ClockName::Monotonic => Self::Monotonic,
            ClockName::Realtime => Self::Realtime,
            ClockName::Boottime => Self::Boottime,
            ClockName::Tai => Self::Tai,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        for text in ["p99.9 > 200us", "p99.9>0.2ms", " p99.9  >  200us "] {
            let read = condition(text).map(|it| (it.statistic.to_string(), it.above_ns));
            assert_eq!(read, Ok(("p99.9".to_owned(), 200_000)), "{text}");
        }
        for (text, why) in [
            ("p99.9", "is no condition: write 'p99.9 > 200us'"),
            ("p99 < 1us", "is no condition: write 'p99.9 > 200us'"),
            ("> 1us", "\"\" is no statistic: write mean, sd, min, max, or a percentile such as p99.9"),
            ("p99 > ", "\"\" is not a time"),
            ("p99 > 1", "\"1\" is not a time"),
            ("p99 > > 1us", "\"> 1us\" is not a time"),
            ("p99 >= 1us", "\"= 1us\" is not a time"),
        ] {
            let error = condition(text).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
