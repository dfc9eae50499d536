//! How late the kernel wakes a thread under many settings: what the instrument `sweep` is asked, and what it reports.
//!
//! It runs the instrument `latency` for each combination of governors, intervals and policies, in rounds, so that what
//! changes in the course of time concerns all combinations alike.

use serde::{Deserialize, Serialize};

use crate::latency::{Conditions, Latencies, LatencyRequest, Policy, Power, TEXT_MAX};
use crate::{Report, ReportKind};

/// Measurements of one sweep at most.
pub const RUNS_MAX: usize = 1000;

/// Governors of a machine at most; Linux has six.
pub const GOVERNORS_MAX: usize = 16;

/// Bytes of the name of a governor at most: CPUFREQ_NAME_LEN.
pub const GOVERNOR_MAX: usize = 16;

/// What is measured under which settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct SweepRequest {
    /// Each measurement, apart from what the combination sets.
    pub measurement: LatencyRequest,
    /// How CPU frequencies are governed.
    pub governors: Governors,
    /// Intervals in nanoseconds; that of the measurement if there are none.
    pub intervals_ns: Vec<u64>,
    /// Policies; that of the measurement if there are none.
    pub policies: Vec<Policy>,
    /// Rounds, in each of which every combination is measured once.
    pub repeat: u32,
}

impl Default for SweepRequest {
    fn default() -> Self {
        Self {
            measurement: LatencyRequest::default(),
            governors: Governors::default(),
            intervals_ns: Vec::new(),
            policies: Vec::new(),
            repeat: 5,
        }
    }
}

/// Governors of cpufreq: Documentation/admin-guide/pm/cpufreq.rst.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Governors {
    /// They stay as they are.
    #[default]
    Unchanged,
    /// All that the driver offers.
    All,
    /// These.
    Named(Vec<String>),
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SweepReport {
    /// What was asked for.
    pub request: SweepRequest,
    /// The drivers of cpufreq.
    pub drivers: Vec<String>,
    /// Why no governor was set, if all were asked for.
    pub no_governors: Option<String>,
    /// What the figures depend on besides the settings; nothing until the first measurement has ended.
    pub conditions: Option<Conditions>,
    /// One for each combination.
    pub rows: Vec<Row>,
    /// Measurements that have ended.
    pub finished: u64,
    /// A signal ended it before its time.
    pub interrupted: bool,
}

/// One combination.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Row {
    /// The governor, if one was set.
    pub governor: Option<String>,
    /// The interval in nanoseconds.
    pub interval_ns: u64,
    /// The policy.
    pub policy: Policy,
    /// Its measurements.
    pub runs: Vec<SweepRun>,
    /// Why there are no more of them.
    pub stopped: Option<Report>,
}

/// One measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SweepRun {
    /// Those of all threads, [condensed](Latencies::condensed).
    pub latencies: Latencies,
    /// What the machine took meanwhile.
    pub power: Power,
}

impl SweepRequest {
    /// Checks that each combination can be measured.
    ///
    /// # Errors
    ///
    /// What is wrong, and what is allowed.
    pub fn validate(&self) -> Result<(), String> {
        let governors = match &self.governors {
            Governors::Named(names) => names.as_slice(),
            Governors::Unchanged | Governors::All => &[],
        };
        let is_name = |name: &String| {
            (1..GOVERNOR_MAX).contains(&name.len())
                && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
        };
        let runs = self.runs_max();
        match governors.iter().find(|name| !is_name(name)) {
            Some(name) => return Err(format!("{name:?} is no name of a governor")),
            None if self.repeat == 0 => return Err("0 rounds: use 1 or more".to_owned()),
            None if runs > RUNS_MAX => return Err(format!("{runs} measurements: at most {RUNS_MAX}")),
            None if self.measurement.break_above_ns.is_some() => {
                return Err("a limit that ends a measurement: leave it out".to_owned());
            }
            None => {}
        }
        let rows = self.rows(&[]);
        rows.iter().try_for_each(|row| self.of(row).validate().map_err(|error| error.to_string()))
    }

    /// How many measurements it takes at most.
    #[must_use]
    pub fn runs_max(&self) -> usize {
        let governors = match &self.governors {
            Governors::Unchanged => 1,
            Governors::All => 6,
            Governors::Named(names) => names.len().max(1),
        };
        let combinations = governors
            .saturating_mul(self.intervals_ns.len().max(1))
            .saturating_mul(self.policies.len().max(1));
        combinations.saturating_mul(usize::try_from(self.repeat).unwrap_or(usize::MAX))
    }

    /// All combinations with these governors, or with the one that is set if there are none.
    #[must_use]
    pub fn rows(&self, governors: &[String]) -> Vec<Row> {
        let mut rows = Vec::new();
        for governor in axis(governors.iter().cloned().map(Some), None) {
            for interval_ns in axis(self.intervals_ns.iter().copied(), self.measurement.interval_ns) {
                for policy in axis(self.policies.iter().copied(), self.measurement.policy) {
                    let governor = governor.clone();
                    rows.push(Row { governor, interval_ns, policy, runs: Vec::new(), stopped: None });
                }
            }
        }
        rows
    }

    /// The measurement of a combination. A policy that has priorities has the one of the measurement, or the usual one.
    #[must_use]
    pub fn of(&self, row: &Row) -> LatencyRequest {
        let priority = match (row.policy.has_priority(), self.measurement.priority) {
            (false, _) => 0,
            (true, 0) => LatencyRequest::default().priority,
            (true, priority) => priority,
        };
        let Row { interval_ns, policy, .. } = *row;
        LatencyRequest { interval_ns, policy, priority, ..self.measurement.clone() }
    }
}

/// The values of an axis, or the only one.
fn axis<T>(values: impl Iterator<Item = T>, only: T) -> Vec<T> {
    let values: Vec<T> = values.collect();
    if values.is_empty() { vec![only] } else { values }
}

impl SweepReport {
    /// Checks what a guest sent: all lists and texts have their limits, and all figures are possible.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<(), String> {
        self.request.validate()?;
        let names = || self.drivers.iter().chain(self.rows.iter().filter_map(|row| row.governor.as_ref()));
        let runs = || self.rows.iter().flat_map(|row| &row.runs);
        let texts = || {
            let stopped = self.rows.iter().filter_map(|row| row.stopped.as_ref()).map(|report| &report.text);
            names().chain(stopped).chain(&self.no_governors)
        };
        let wrong = match () {
            () if self.rows.len() > RUNS_MAX * GOVERNORS_MAX => Some("there are too many combinations"),
            () if runs().count() > RUNS_MAX * GOVERNORS_MAX => Some("there are too many measurements"),
            () if texts().any(|text| text.len() > TEXT_MAX) => Some("a text is too long"),
            () => runs().find_map(SweepRun::wrong).or_else(|| self.conditions.as_ref()?.wrong()),
        };
        wrong.map_or(Ok(()), |why| Err(format!("the report of a sweep is wrong: {why}")))
    }

    /// What it concludes. It is a skip only if nothing was measured.
    #[must_use]
    pub fn outcome(&self) -> Report {
        let stopped = || self.rows.iter().filter_map(|row| row.stopped.as_ref());
        let has = |kind| stopped().find(|report| report.kind == kind).cloned();
        let is_empty = self.rows.iter().all(|row| row.runs.is_empty());
        has(ReportKind::Fail)
            .or_else(|| has(ReportKind::Broken))
            .or_else(|| has(ReportKind::Skip).filter(|_| is_empty))
            .unwrap_or(Report { kind: ReportKind::Pass, text: String::new() })
    }
}

impl SweepRun {
    fn wrong(&self) -> Option<&'static str> {
        self.latencies.wrong().or_else(|| self.power.wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> SweepRequest {
        SweepRequest {
            intervals_ns: vec![1_000_000, 100_000],
            policies: vec![Policy::Fifo, Policy::Other],
            ..SweepRequest::default()
        }
    }

    fn wrong(change: impl FnOnce(&mut SweepRequest)) -> String {
        let mut request = request();
        change(&mut request);
        request.validate().expect_err("this is wrong")
    }

    #[test]
    fn each_combination_is_a_row_with_a_request_that_can_be_meant() {
        let request = request();
        assert_eq!(request.validate(), Ok(()));
        let rows = request.rows(&["performance".to_owned(), "powersave".to_owned()]);
        assert_eq!((rows.len(), request.runs_max()), (8, 20));
        let last = request.of(&rows[7]);
        assert_eq!((rows[7].governor.as_deref(), last.interval_ns), (Some("powersave"), 100_000));
        assert_eq!((last.policy, last.priority), (Policy::Other, 0));
        assert_eq!((request.of(&rows[0]).policy, request.of(&rows[0]).priority), (Policy::Fifo, 80));
        assert_eq!(SweepRequest::default().rows(&[]).len(), 1);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let messages = [
            wrong(|it| it.governors = Governors::Named(vec!["../x".to_owned()])),
            wrong(|it| it.repeat = 0),
            wrong(|it| it.repeat = 1000),
            wrong(|it| it.measurement.break_above_ns = Some(1)),
            wrong(|it| it.intervals_ns = vec![1]),
        ];
        let expected = [
            "\"../x\" is no name of a governor",
            "0 rounds: use 1 or more",
            "4000 measurements: at most 1000",
            "a limit that ends a measurement: leave it out",
            "an interval in nanoseconds of 1: use 1000 to 10000000000",
        ];
        assert_eq!(messages, expected);
    }

    #[test]
    fn a_sweep_that_measured_something_is_no_skip() {
        let request = request();
        let rows = request.rows(&[]);
        let mut report = SweepReport {
            request,
            drivers: Vec::new(),
            no_governors: None,
            conditions: None,
            rows,
            finished: 0,
            interrupted: false,
        };
        let stopped = |kind| Some(Report { kind, text: "why".to_owned() });
        report.rows[0].stopped = stopped(ReportKind::Skip);
        assert_eq!((report.validate(), report.outcome().kind), (Ok(()), ReportKind::Skip));
        let power = Power::Unknown("no RAPL and no battery".to_owned());
        report.rows[1].runs.push(SweepRun { latencies: Latencies::default(), power });
        assert_eq!((report.validate(), report.outcome().kind), (Ok(()), ReportKind::Pass));
        report.rows[1].stopped = stopped(ReportKind::Fail);
        assert_eq!(report.outcome().kind, ReportKind::Fail);
        report.rows[1].stopped = Some(Report { kind: ReportKind::Fail, text: "x".repeat(TEXT_MAX + 1) });
        assert_eq!(report.validate(), Err("the report of a sweep is wrong: a text is too long".to_owned()));
    }
}
