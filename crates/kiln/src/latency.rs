//! `kiln latency`: how late the kernel wakes a thread.

use std::time::Duration;

use anyhow::Result;
use machine::instruments::{self, Instrument};
use protocol::Need;
use protocol::latency::{LatencyReport, LatencyRequest};
use protocol::sweep::{SweepReport, SweepRequest};

use crate::cli::{Axes, Latency};
use crate::failure::WrongUsage;
use crate::instruments::{Call, Json, run};
use crate::order::Order;
use crate::{load, stress};

/// What a measurement of a sweep takes besides its duration.
const START: Duration = Duration::from_secs(2);

/// Measures and gives the exit code.
pub(crate) fn latency(args: &Latency) -> Result<u8> {
    let (order, json, bucket) = (order(args)?, args.json, args.bucket);
    match &args.sweep {
        None => run(
            Call {
                order,
                validate: |report: &LatencyReport| Ok(report.validate()?),
                complete: |_, _| Ok(()),
                progress: report::latency::progress,
                text: Box::new(move |report| report::latency::text(report, bucket)),
                files: Vec::new(),
                json: json.then_some(report::json_line as Json<_>),
                live: false,
            },
            &args.place,
        ),
        Some(_) => run(
            Call {
                order,
                validate: |report: &SweepReport| report.validate().map_err(anyhow::Error::msg),
                complete: |_, _| Ok(()),
                progress: report::sweep::progress,
                text: Box::new(report::sweep::text),
                files: Vec::new(),
                json: json.then_some(report::json_line as Json<_>),
                live: false,
            },
            &args.place,
        ),
    }
}

/// What is asked.
pub(crate) fn order(args: &Latency) -> Result<Order> {
    let measurement = args.request().map_err(WrongUsage)?;
    let measurement = LatencyRequest { load: load::request(&args.with)?, ..measurement };
    match &args.sweep {
        None => once(args, &measurement),
        Some(axes) => sweep(args, axes, measurement),
    }
}

fn once(args: &Latency, request: &LatencyRequest) -> Result<Order> {
    request.validate().map_err(|error| WrongUsage(error.to_string()))?;
    Ok(Order {
        instrument: &instruments::LATENCY,
        request: serde_json::to_string(request)?,
        duration: duration(args, request),
        others: load(request).collect(),
        needs: needs(request),
    })
}

fn sweep(args: &Latency, axes: &Axes, measurement: LatencyRequest) -> Result<Order> {
    let Axes { governors, intervals_ns, policies } = axes.clone();
    let request = SweepRequest { measurement, governors, intervals_ns, policies, repeat: args.repeat };
    request.validate().map_err(WrongUsage)?;
    let measurement = &request.measurement;
    let runs = u32::try_from(request.runs_max()).unwrap_or(u32::MAX);
    Ok(Order {
        instrument: &instruments::SWEEP,
        request: serde_json::to_string(&request)?,
        duration: (duration(args, measurement) + START).saturating_mul(runs),
        others: load(measurement).chain([&instruments::LATENCY]).collect(),
        needs: needs(measurement),
    })
}

/// How long a measurement takes at most.
fn duration(args: &Latency, request: &LatencyRequest) -> Duration {
    args.duration + request.load.as_ref().map_or(Duration::ZERO, |_| load::GRACE)
}

/// The instrument that runs the load.
fn load(request: &LatencyRequest) -> impl Iterator<Item = &'static Instrument> {
    request.load.iter().map(|_| &instruments::STRESS)
}

fn needs(request: &LatencyRequest) -> Vec<Need<String>> {
    let cpus = request.cpus.iter().max().map_or(1, |last| last + 1);
    request.load.iter().flat_map(stress::needs).chain([Need::Cpus(cpus)]).collect()
}
