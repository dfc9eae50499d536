//! What runs say, one sample each, and the figures of a Kernel that come of them.

use std::collections::BTreeMap;
use std::time::Duration;

use host::Conditions;
use judge::Outcome;
use lab::experiment::choice::unit_of;
use ledger::ExperimentResult;
use measure::{Boot, BootSamples, Kind, Measurement, Metric, NotMeasured, Ran, Subject, Unit};
use script::Metadata;
use serde::{Deserialize, Serialize};

/// What a run says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Sample {
    /// The number of its Kernel, from 0.
    pub(super) side: usize,
    /// What the run drew its random numbers from.
    #[serde(with = "judge::json::seed")]
    pub(super) seed: u64,
    /// How it ended.
    pub(super) ran: Ran,
    #[serde(with = "judge::json::seconds")]
    took: Duration,
    conditions: Conditions,
    /// What it recorded of each metric, in the order in which the experiment declares them.
    values: Vec<Vec<f64>>,
}

impl Sample {
    /// That of a run on the Kernel with this number, under these conditions of the host.
    pub(super) fn of(
        side: usize,
        result: &ExperimentResult,
        about: &Metadata,
        conditions: Conditions,
    ) -> Self {
        let run = &result.run;
        let reason = run.reason.lines().next().unwrap_or_default().to_string();
        let values = about.measures.iter().map(|metric| result.values(&metric.name)).collect();
        let ran = Ran { outcome: run.outcome, reason };
        Self { side, seed: run.seed, ran, took: run.duration, conditions, values }
    }

    /// Whether it says something about the Kernel.
    pub(super) fn is_answer(&self) -> bool {
        self.ran.outcome == Outcome::Pass || self.ran.outcome.is_failure()
    }

    /// Adds it to the figures of its Kernel.
    pub(super) fn add_to(self, measured: &mut Measurement) {
        let is_answer = self.is_answer();
        let Self { seed, ran, took, conditions, values, .. } = self;
        if !is_answer {
            let (outcome, reason) = (ran.outcome.name(), ran.reason);
            let note = format!("a run with seed {seed} says nothing about the kernel: {outcome}: {reason}");
            return measured.notes.push(note);
        }
        let boot = u32::try_from(measured.boots.len()).unwrap_or(u32::MAX);
        for (metric, values) in measured.metrics.iter_mut().zip(&values) {
            metric.add(BootSamples { boot, costs: values.clone(), ticked: Vec::new() });
        }
        measured.boots.push(Boot { seed, took, conditions: Some(conditions), run: Some(ran) });
    }
}

/// What is known of a Kernel before its first run.
pub(super) fn nothing(subject: &Subject, about: &Metadata) -> Measurement {
    let metrics = about.measures.iter().map(|metric| Metric {
        name: metric.name.clone(),
        about: about.question.clone(),
        unit: Unit::Own(unit_of(metric)),
        values: Vec::new(),
        samples: Vec::new(),
        not_measured: None,
        detail: None,
    });
    Measurement {
        subject: subject.clone(),
        kind: Kind::Recorded,
        procedure: String::new(),
        boots: Vec::new(),
        metrics: metrics.collect(),
        code: BTreeMap::new(),
        notes: Vec::new(),
    }
}

/// Says of metrics without figures why there are none.
pub(super) fn explain(measured: &mut Measurement, lost: Option<NotMeasured>) {
    let runs: Vec<&Ran> = measured.boots.iter().filter_map(|boot| boot.run.as_ref()).collect();
    let all_fail = runs.first().filter(|_| runs.iter().all(|run| run.outcome.is_failure()));
    let failed = all_fail.map(|run| NotMeasured { outcome: run.outcome, reason: run.reason.clone() });
    let reason = if runs.is_empty() { "it was not run" } else { "no run recorded it" }.to_string();
    let why = failed.or(lost).unwrap_or(NotMeasured { outcome: Outcome::Skip, reason });
    for metric in measured.metrics.iter_mut().filter(|metric| metric.values.is_empty()) {
        metric.not_measured = Some(why.clone());
    }
}
