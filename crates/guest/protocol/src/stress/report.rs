//! What `stress` reports: figures as they were counted; rates and outcomes are derived when they are read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::coverage::{Coverage, POINTS_MAX, Sources};
use super::request::WORKERS_MAX;
use crate::{End, Leftover, Report, ReportKind};

/// Reports that are kept of one worker.
pub const REPORTS_MAX: usize = 8;

/// Leftovers that are named.
pub const LEFTOVERS_MAX: usize = 20;

/// Figures and options of one stressor.
pub const FIGURES_MAX: usize = 64;

/// Thermal zones of a machine.
pub const ZONES_MAX: usize = 256;

/// Longest text of any kind, in bytes.
pub const TEXT_MAX: usize = 320;

/// How the name of a leftover begins that is a process.
pub const PROCESS: &str = "process ";

/// What was done so far, or in all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct StressReport {
    /// The instances that were begun, in the order of the request.
    pub instances: Vec<InstanceReport>,
    /// What was there after all had ended and not before.
    pub leftovers: Vec<Leftover>,
    /// Temperatures, if they were asked for.
    pub thermal: Vec<ThermalZone>,
    /// How often a core was throttled meanwhile, if it was asked for and the machine counts it.
    pub throttled: Option<u64>,
    /// A signal ended it before its time.
    pub interrupted: bool,
    /// The union of what all instances reached of the kernel's source, once the host has added it.
    #[serde(default, skip_serializing_if = "Sources::is_empty")]
    pub sources: Sources,
}

/// What the workers of one instance did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct InstanceReport {
    /// Name of the stressor.
    pub stressor: String,
    /// The values of all its options.
    pub options: BTreeMap<String, String>,
    /// Why no worker was started.
    pub refused: Option<Report>,
    /// One each.
    pub workers: Vec<WorkerReport>,
    /// What it reached of the kernel, if that was asked for and it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
}

/// What one worker did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct WorkerReport {
    /// Bogo operations.
    pub operations: u64,
    /// Verifications that held.
    pub verified: u64,
    /// Time from the start to the end of its work, in nanoseconds.
    pub wall_ns: u64,
    /// CPU time in user mode, of it and those of its children that have ended, in nanoseconds.
    pub user_ns: u64,
    /// CPU time in the kernel, of the same, in nanoseconds.
    pub system_ns: u64,
    /// How its process ended; nothing while it runs.
    pub end: Option<End>,
    /// What it reported besides what held: failed verifications, why it was skipped. At most [`REPORTS_MAX`].
    pub reports: Vec<Report>,
    /// Figures of its own.
    pub rates: Vec<Rate>,
}

/// A figure that a stressor measured itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Rate {
    /// What it is of.
    pub name: String,
    /// Its unit, such as `MB/s`.
    pub unit: String,
    /// The figure.
    pub value: f64,
    /// What an option asked it to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<f64>,
}

/// By how much a figure may differ from what was asked for, as a share of that.
const TOLERANCE: f64 = 0.005;

impl Rate {
    /// What was asked for, if it was not reached or exceeded.
    #[must_use]
    pub fn missed(&self) -> Option<f64> {
        self.asked.filter(|asked| (self.value - asked).abs() > asked * TOLERANCE)
    }
}

/// A thermal zone of `/sys/class/thermal`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ThermalZone {
    /// What it measures, such as `x86_pkg_temp`.
    pub kind: String,
    /// At the start, in thousandths of a degree Celsius.
    pub before: i64,
    /// The highest that was seen, in thousandths of a degree Celsius.
    pub highest: i64,
    /// At the end, in thousandths of a degree Celsius.
    pub after: i64,
}

impl StressReport {
    /// Whether it is as large as the instrument writes it, and its figures are numbers: it comes from a stranger.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn validate(&self) -> Result<(), &'static str> {
        let workers = || self.instances.iter().flat_map(|instance| &instance.workers);
        let points = || self.instances.iter().filter_map(|instance| instance.coverage.as_ref());
        let rates = || workers().flat_map(|worker| &worker.rates);
        let wrong = match () {
            () if self.instances.len() > WORKERS_MAX as usize => "there are too many instances",
            () if workers().count() > WORKERS_MAX as usize => "there are too many workers",
            () if self.leftovers.len() > LEFTOVERS_MAX => "there are too many leftovers",
            () if self.thermal.len() > ZONES_MAX => "there are too many thermal zones",
            () if workers().any(|worker| worker.reports.len() > REPORTS_MAX) => {
                "a worker has too many reports"
            }
            () if workers().any(|worker| worker.rates.len() > FIGURES_MAX) => "a worker has too many figures",
            () if self.instances.iter().any(|it| it.options.len() > FIGURES_MAX) => {
                "an instance has too many options"
            }
            () if points().map(|it| it.points.len()).sum::<usize>() > POINTS_MAX => {
                "there are too many points of coverage"
            }
            () if !rates().all(|rate| rate.value.is_finite() && rate.asked.is_none_or(f64::is_finite)) => {
                "a figure is no number"
            }
            () if self.texts().any(|text| text.len() > TEXT_MAX) => "a text is too long",
            () => return Ok(()),
        };
        Err(wrong)
    }

    /// All texts in it.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let instances = self.instances.iter().flat_map(|instance| {
            let refused = instance.refused.iter().map(|report| &report.text);
            instance
                .options
                .iter()
                .flat_map(|(name, value)| [name, value])
                .chain(refused)
                .chain([&instance.stressor])
        });
        let workers = self.instances.iter().flat_map(|instance| &instance.workers).flat_map(|worker| {
            let end = match &worker.end {
                Some(End::TimedOut { stacks: text, .. } | End::NotStarted(text)) => Some(text),
                _ => None,
            };
            let rates = worker.rates.iter().flat_map(|rate| [&rate.name, &rate.unit]);
            worker.reports.iter().map(|report| &report.text).chain(end).chain(rates)
        });
        let leftovers =
            self.leftovers.iter().flat_map(|left| [Some(&left.name), left.stuck.as_ref()]).flatten();
        let zones = self.thermal.iter().map(|zone| &zone.kind);
        instances.chain(workers).chain(leftovers).chain(zones).map(String::as_str)
    }

    /// The most serious outcome: `fail` before `broken` before `pass`; `skip` only if nothing ran.
    #[must_use]
    pub fn outcome(&self) -> Report {
        let reports: Vec<Report> = self.instances.iter().map(InstanceReport::outcome).collect();
        let has = |kind| reports.iter().find(|report| report.kind == kind).cloned();
        let is_process = |leftover: &&Leftover| leftover.name.starts_with(PROCESS);
        let left = |kind, leftover: &Leftover| Report { kind, text: format!("left behind: {leftover}") };
        // A process that cannot be killed is the kernel's doing; other leftovers are those of a stressor.
        let mut processes = self.leftovers.iter().filter(is_process);
        let unkillable = processes.find(|process| process.stuck.is_some());
        let unkillable = unkillable.map(|process| left(ReportKind::Fail, process));
        let leftover = self.leftovers.first().map(|leftover| left(ReportKind::Broken, leftover));
        has(ReportKind::Fail)
            .or(unkillable)
            .or_else(|| has(ReportKind::Broken))
            .or(leftover)
            .or_else(|| has(ReportKind::Pass))
            .or_else(|| has(ReportKind::Skip))
            .unwrap_or_else(|| report(ReportKind::Skip, "there was nothing to do"))
    }
}

impl InstanceReport {
    /// Bogo operations of all workers.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.sum(|worker| worker.operations)
    }

    /// Verifications that held, of all workers.
    #[must_use]
    pub fn verified(&self) -> u64 {
        self.sum(|worker| worker.verified)
    }

    /// CPU time of all workers, in nanoseconds.
    #[must_use]
    pub fn cpu_ns(&self) -> u64 {
        self.sum(|worker| worker.user_ns.saturating_add(worker.system_ns))
    }

    /// The time that the longest worker took, in nanoseconds.
    #[must_use]
    pub fn wall_ns(&self) -> u64 {
        self.workers.iter().map(|worker| worker.wall_ns).max().unwrap_or(0)
    }

    fn sum(&self, of: impl Fn(&WorkerReport) -> u64) -> u64 {
        self.workers.iter().map(of).fold(0, u64::saturating_add)
    }

    /// Bogo operations of all workers per second of wall time.
    #[must_use]
    pub fn per_second(&self) -> Option<f64> {
        per_second(self.operations(), self.wall_ns())
    }

    /// Bogo operations per second of CPU time.
    #[must_use]
    pub fn per_cpu_second(&self) -> Option<f64> {
        per_second(self.operations(), self.cpu_ns())
    }

    /// The mean of each figure over the workers that measured it.
    #[must_use]
    pub fn mean_rates(&self) -> Vec<Rate> {
        let mut sums: Vec<(Rate, f64)> = Vec::new();
        for rate in self.workers.iter().flat_map(|worker| &worker.rates) {
            match sums.iter_mut().find(|(sum, _)| sum.name == rate.name && sum.unit == rate.unit) {
                Some((sum, count)) => (sum.value, *count) = (sum.value + rate.value, *count + 1.0),
                None => sums.push((rate.clone(), 1.0)),
            }
        }
        sums.into_iter().map(|(sum, count)| Rate { value: sum.value / count, ..sum }).collect()
    }

    /// Failed verifications and other failures of its workers.
    pub fn failures(&self) -> impl Iterator<Item = &Report> {
        self.workers
            .iter()
            .flat_map(|worker| &worker.reports)
            .filter(|report| report.kind == ReportKind::Fail)
    }

    /// What it concludes. A stressor that did nothing has not passed.
    #[must_use]
    pub fn outcome(&self) -> Report {
        if let Some(report) = &self.refused {
            return self.named(report);
        }
        let outcomes: Vec<Report> = self.workers.iter().map(WorkerReport::outcome).collect();
        let has = |kind| outcomes.iter().find(|report| report.kind == kind);
        let serious = has(ReportKind::Fail).or_else(|| has(ReportKind::Broken));
        let is_running = self.workers.iter().any(|worker| worker.end.is_none());
        match serious {
            Some(report) => self.named(report),
            None if self.operations() > 0 || is_running => self.named(&report(ReportKind::Pass, "")),
            None => {
                let nothing = report(ReportKind::Fail, "it did no operation");
                self.named(has(ReportKind::Skip).unwrap_or(&nothing))
            }
        }
    }

    fn named(&self, outcome: &Report) -> Report {
        let text = match outcome.text.as_str() {
            "" => self.stressor.clone(),
            text => format!("{}: {text}", self.stressor),
        };
        Report { kind: outcome.kind, text }
    }
}

impl WorkerReport {
    /// What it concludes from its reports and its end.
    #[must_use]
    pub fn outcome(&self) -> Report {
        let has = |kind| self.reports.iter().find(|report| report.kind == kind).cloned();
        has(ReportKind::Fail)
            .or_else(|| self.bad_end())
            .or_else(|| has(ReportKind::Broken))
            .or_else(|| has(ReportKind::Skip))
            .unwrap_or_else(|| report(ReportKind::Pass, ""))
    }

    /// What is wrong about its end. Whoever sends SIGKILL is not the kernel's fault, and neither is a worker that
    /// does not look at the time.
    fn bad_end(&self) -> Option<Report> {
        match self.end.as_ref()? {
            End::Exited(0) => None,
            End::Exited(_) if !self.reports.is_empty() => None,
            End::Exited(code) => Some(report(ReportKind::Broken, &format!("a worker exited with {code}"))),
            End::Signalled(SIGKILL) => {
                Some(report(ReportKind::Broken, "a worker was killed: by the OOM killer, or by a user"))
            }
            End::Signalled(signal) => {
                Some(report(ReportKind::Fail, &format!("a worker died of signal {signal}")))
            }
            End::TimedOut { stacks, killed: true } => {
                Some(report(ReportKind::Broken, &format!("a worker did not stop in time, {stacks}")))
            }
            End::TimedOut { stacks, killed: false } => {
                Some(report(ReportKind::Fail, &format!("a worker cannot be killed, {stacks}")))
            }
            End::NotStarted(why) => {
                Some(report(ReportKind::Broken, &format!("a worker was not started: {why}")))
            }
        }
    }
}

/// As in <asm-generic/signal.h>.
const SIGKILL: i32 = 9;

fn report(kind: ReportKind, text: &str) -> Report {
    Report { kind, text: text.to_string() }
}

fn per_second(count: u64, ns: u64) -> Option<f64> {
    (ns > 0).then(|| count as f64 * 1e9 / ns as f64)
}

#[cfg(test)]
mod tests;
