//! A row for each sample of measurements.

use host::Conditions;
use ledger::KeptMeasurement;
use measure::{Boot, BootSamples, Kind, Metric};

use super::columns::{Cell, Column, Columns};
use crate::figures::unit;

/// What one repetition cost in a boot; of what has no samples, what the boot said.
#[derive(Debug)]
pub struct Sample<'a> {
    of: &'a KeptMeasurement,
    metric: &'a Metric,
    number: u32,
    boot: Option<&'a Boot>,
    statistic: &'static str,
    repetition: u32,
    value: f64,
    is_ticked: bool,
}

/// The samples of measurements, in the order of these, of their metrics and of the boots.
#[must_use]
pub fn samples(measurements: &[KeptMeasurement]) -> Vec<Sample<'_>> {
    let metrics =
        measurements.iter().flat_map(|of| of.measurement.metrics.iter().map(move |metric| (of, metric)));
    metrics.flat_map(|(of, metric)| samples_of(of, metric)).collect()
}

fn samples_of<'a>(of: &'a KeptMeasurement, metric: &'a Metric) -> Vec<Sample<'a>> {
    let sample = |number: u32, statistic, value| {
        let boot = usize::try_from(number).ok().and_then(|number| of.measurement.boots.get(number));
        Sample { of, metric, number, boot, statistic, repetition: 0, value, is_ticked: false }
    };
    if metric.samples.is_empty() {
        return metric.values.iter().map(|value| sample(value.boot, "median", value.median)).collect();
    }
    let of_boot = |one: &'a BootSamples| {
        let costs = (0..).zip(&one.costs);
        costs.map(move |(repetition, &cost)| Sample {
            repetition,
            is_ticked: one.ticked.contains(&repetition),
            ..sample(one.boot, "sample", cost)
        })
    };
    metric.samples.iter().flat_map(of_boot).collect()
}

impl Sample<'_> {
    fn condition(&self, which: fn(&Conditions) -> f64) -> Option<f64> {
        self.boot?.conditions.as_ref().map(which)
    }
}

/// The columns of samples.
#[must_use]
pub fn sample_columns<'a>() -> Columns<Sample<'a>> {
    let column = |name, cell| Column { name, cell };
    Columns(vec![
        column("measurement", Cell::Text(|sample: &Sample<'a>| &sample.of.folder)),
        column("side", Cell::OptionalText(|sample| sample.of.side.as_deref())),
        column("locator", Cell::Text(|sample| &sample.of.measurement.subject.locator)),
        column("kernel", Cell::Text(|sample| &sample.of.measurement.subject.kernel)),
        column("release", Cell::Text(|sample| &sample.of.measurement.subject.release)),
        column("identity", Cell::Text(|sample| &sample.of.measurement.subject.identity)),
        column("parameters", Cell::Text(|sample| &sample.of.measurement.subject.parameters)),
        column("machine", Cell::Text(|sample| &sample.of.measurement.subject.machine)),
        column("kind", Cell::Text(|sample| kind(sample.of.measurement.kind))),
        column("procedure", Cell::Text(|sample| &sample.of.measurement.procedure)),
        column("metric", Cell::Text(|sample| &sample.metric.name)),
        column("unit", Cell::Text(|sample| unit(&sample.metric.unit))),
        column("more_is_better", Cell::Flag(|sample| sample.metric.unit.more_is_better())),
        column("boot", Cell::Count(|sample| sample.number)),
        column("boot_seconds", Cell::OptionalNumber(|sample| Some(sample.boot?.took.as_secs_f64()))),
        column("load", Cell::OptionalNumber(|sample| sample.condition(|host| host.load))),
        column("cpu_pressure", Cell::OptionalNumber(|sample| sample.condition(|host| host.cpu_pressure))),
        column(
            "memory_pressure",
            Cell::OptionalNumber(|sample| sample.condition(|host| host.memory_pressure)),
        ),
        column("io_pressure", Cell::OptionalNumber(|sample| sample.condition(|host| host.io_pressure))),
        column("steal", Cell::OptionalNumber(|sample| sample.condition(|host| host.steal))),
        column("statistic", Cell::Text(|sample| sample.statistic)),
        column("repetition", Cell::Count(|sample| sample.repetition)),
        column("is_ticked", Cell::Flag(|sample| sample.is_ticked)),
        column("value", Cell::Number(|sample| sample.value)),
    ])
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Exact => "exact",
        Kind::Timed => "timed",
        Kind::Recorded => "recorded",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept() -> KeptMeasurement {
        let document = r#"{
            "subject": {"label": "x", "locator": "deb:x", "kernel": "deb:x@1", "provenance": "", "release": "6.1",
                "identity": "i", "parameters": "", "machine": "QEMU"},
            "kind": "exact", "procedure": "p", "notes": [],
            "boots": [{"seed": "7", "took": 1.5, "conditions": null}],
            "metrics": [
                {"name": "pipe/one", "about": "", "unit": "instructions", "not_measured": null, "detail": null,
                    "values": [], "samples": [{"boot": 0, "costs": [5, 7.5], "ticked": [1]}]},
                {"name": "pipe/old", "about": "", "unit": "nanoseconds", "not_measured": null, "detail": null,
                    "values": [{"boot": 0, "min": 1, "median": 2, "max": 3, "repetitions": 9, "left_out": 0}]}
            ]}"#;
        let measurement = serde_json::from_str(document).expect("a measurement");
        KeptMeasurement { folder: "2026-1".to_owned(), side: None, measurement }
    }

    #[test]
    fn a_row_is_a_sample_or_what_a_boot_said() {
        let kept = [kept()];
        let mut out = Vec::new();
        sample_columns().csv(&samples(&kept), &mut out).expect("written");
        let text = String::from_utf8(out).expect("UTF-8");
        let head = "2026-1,,deb:x,deb:x@1,6.1,i,,QEMU,exact,p,";
        let rows: Vec<&str> =
            text.lines().skip(1).map(|line| line.strip_prefix(head).expect("its beginning")).collect();
        assert_eq!(
            rows,
            [
                "pipe/one,instructions,false,0,1.5,,,,,,sample,0,false,5",
                "pipe/one,instructions,false,0,1.5,,,,,,sample,1,true,7.5",
                "pipe/old,nanoseconds,false,0,1.5,,,,,,median,0,false,2",
            ]
        );
    }
}
