//! A sweep from its first to its last measurement.

use std::path::Path;
use std::time::Duration;

use harness::companion::Companion;
use harness::instrument::{Listener, broken, skip};
use harness::sys::{block, fetch_within};
use protocol::instrument::scheme;
use protocol::latency::{LatencyReport, LatencyRequest};
use protocol::sweep::{Governors, Row, SweepReport, SweepRequest, SweepRun};
use protocol::{Report, ReportKind};

use crate::cpufreq::Cpufreq;
use crate::order::order;
use crate::restore::Restorer;

/// The name of the instrument that measures.
const LATENCY: &str = "latency";

/// They end a sweep early.
const ENDS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// How often signals are looked for.
const TICK: Duration = Duration::from_millis(100);

/// Makes one measurement: its report, or nothing if a signal ended it.
type Measure<'a> = &'a mut dyn FnMut(&LatencyRequest) -> Result<Option<LatencyReport>, Report>;

/// Measures all combinations of a valid request, with the sysfs that is mounted at `system`. The listener gets what is
/// known so far after each measurement; if it fails, nobody listens any more, and the sweep ends.
///
/// The process must have one thread; signals are blocked from then on.
///
/// # Errors
///
/// `skip` if a governor that is named is not there, `broken` if its own part failed.
pub fn run(
    request: &SweepRequest,
    system: &Path,
    listener: Listener<'_, SweepReport>,
) -> Result<SweepReport, Report> {
    block(&ENDS).map_err(|error| broken(format!("signals: {error}")))?;
    sweep(request, system, &mut run_latency, listener)
}

fn sweep(
    request: &SweepRequest,
    system: &Path,
    measure: Measure<'_>,
    listener: Listener<'_, SweepReport>,
) -> Result<SweepReport, Report> {
    let cpufreq = Cpufreq::find(system);
    let (governors, no_governors) = choose(&request.governors, cpufreq.offered())?;
    let files = if governors.is_empty() { Vec::new() } else { cpufreq.files() };
    let restorer = Restorer::keep(files).map_err(|error| broken(format!("governors: {error}")))?;
    let mut report = SweepReport {
        request: request.clone(),
        drivers: cpufreq.drivers(),
        no_governors,
        conditions: None,
        rows: request.rows(&governors),
        finished: 0,
        interrupted: false,
    };
    for place in order(report.rows.len(), request.repeat) {
        if report.interrupted {
            break;
        }
        if report.rows[place].stopped.is_none() {
            let measured =
                set(&cpufreq, &report.rows[place]).and_then(|()| measure(&request.of(&report.rows[place])));
            add(&mut report, place, measured);
            report.interrupted |= listener(&so_far(&report)).is_err();
        }
    }
    restorer.restore().map_err(|error| broken(format!("governors: {error}")))?;
    Ok(report)
}

/// The governors that are set in turn, or why there are none.
fn choose(wanted: &Governors, offered: Vec<String>) -> Result<(Vec<String>, Option<String>), Report> {
    const NONE: &str = "there are none: no driver of cpufreq";
    match wanted {
        Governors::Unchanged => Ok((Vec::new(), None)),
        Governors::All if offered.is_empty() => Ok((Vec::new(), Some(NONE.to_owned()))),
        Governors::All => Ok((offered, None)),
        Governors::Named(names) => match names.iter().find(|name| !offered.contains(name)) {
            None => Ok((names.clone(), None)),
            Some(_) if offered.is_empty() => Err(skip(format!("governors: {NONE}"))),
            Some(name) => Err(skip(format!("governor {name}: this machine has {}", offered.join(", ")))),
        },
    }
}

/// Adds what came of one measurement.
fn add(report: &mut SweepReport, place: usize, measured: Result<Option<LatencyReport>, Report>) {
    let row = &mut report.rows[place];
    match measured {
        Ok(None) => report.interrupted = true,
        Ok(Some(measured)) => {
            let outcome = measured.outcome();
            row.stopped = (outcome.kind != ReportKind::Pass).then_some(outcome);
            row.runs.push(SweepRun { latencies: measured.latencies().condensed(), power: measured.power });
            report.conditions.get_or_insert(measured.conditions);
            report.finished += 1;
        }
        Err(why) => row.stopped = Some(why),
    }
}

fn set(cpufreq: &Cpufreq, row: &Row) -> Result<(), Report> {
    let Some(governor) = &row.governor else { return Ok(()) };
    cpufreq.set(governor).map_err(|error| skip(format!("governor {governor}: {error}")))
}

/// Runs the instrument.
fn run_latency(request: &LatencyRequest) -> Result<Option<LatencyReport>, Report> {
    let mut latency = Companion::start(LATENCY, request)
        .map_err(|error| broken(format!("{}: {error}: a sweep needs this program", scheme(LATENCY))))?;
    while latency.hear(TICK) {
        if fetch_within(&ENDS, Duration::ZERO).is_some() {
            return Ok(None);
        }
    }
    latency.finish().map(Some)
}

/// How far it is: what was measured comes at the end.
fn so_far(report: &SweepReport) -> SweepReport {
    let mut report = report.clone();
    report.rows.iter_mut().for_each(|row| row.runs.clear());
    report
}

#[cfg(test)]
mod tests;
