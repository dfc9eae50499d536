//! What `kiln latency` prints.
//!
//! * [`distribution`]: how many samples there are of which size; [`threads`]: each thread in a line
//! * [`breach`]: the latency that ended it, with its trace; [`notes`]: what disturbed

mod breach;
mod distribution;
mod notes;
mod threads;

pub(crate) use notes::machine;

use std::time::Duration;

use measure::Unit;
use protocol::latency::{Latencies, LatencyReport, LatencyRequest, Method, PERCENTILES, Power};
use protocol::stress::StressReport;

use crate::figures::{count, figure, number};
use crate::stress;
use crate::words::span;

/// Columns of what a line is about.
const LABEL: usize = 20;

/// Thousandths of a percent in all samples.
const ALL: u32 = 100_000;

/// A measurement as it stands, in a line: `9,000 samples in 9.0 s: median 5.191 µs, 99 % 8.942 µs, maximum 44.82 µs`.
#[must_use]
pub fn progress(report: &LatencyReport) -> String {
    let latencies = report.latencies();
    let begin = format!("{} in {}", many(latencies.count(), "sample"), elapsed(report));
    match (latencies.percentile(50_000), latencies.percentile(99_000)) {
        (Some(median), Some(late)) => format!(
            "{begin}: median {}, 99 % {}, maximum {}",
            time(median),
            time(late),
            time(latencies.maximum)
        ),
        _ => begin,
    }
}

/// All about a measurement. The distribution has buckets of this width, or of one that suits it.
#[must_use]
pub fn text(report: &LatencyReport, bucket: Option<Duration>) -> String {
    let latencies = report.latencies();
    let mut out = String::new();
    for (label, text) in facts(report, &latencies) {
        out += &line(label, &text);
    }
    out += &threads::table(&report.threads);
    let width = bucket.map(|bucket| u64::try_from(bucket.as_nanos()).unwrap_or(u64::MAX));
    out += &distribution::bars(&latencies, width);
    out += &breach::text(report);
    out += &load(report);
    out += &fault(report);
    out += &notes::text(report, &latencies);
    out
}

/// The figures of all threads together.
fn facts(report: &LatencyReport, latencies: &Latencies) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("threads", who(&report.request)),
        ("cycle", how(&report.request)),
        ("samples", format!("{} in {}", count(latencies.count()), elapsed(report))),
    ];
    if latencies.count() == 0 {
        return facts;
    }
    let known = |value: Option<u64>| value.map(time).unwrap_or_default();
    let fraction = |value: Option<f64>| value.map(|value| figure(value, &Unit::Nanoseconds));
    facts.extend([
        ("minimum", time(latencies.minimum)),
        ("mean", fraction(latencies.mean()).unwrap_or_default()),
        ("mode", known(latencies.mode())),
        ("standard deviation", fraction(latencies.standard_deviation()).unwrap_or_else(|| "-".to_owned())),
    ]);
    facts.extend(shown_percentiles(latencies).map(|it| (name(it), known(latencies.percentile(it)))));
    facts.push(("maximum", time(latencies.maximum)));
    facts.push(("maximum over time", over_time(report)));
    facts.extend(power(&report.power).map(|text| ("power", text)));
    facts
}

/// The condition of the request, if it holds.
fn fault(report: &LatencyReport) -> String {
    let Some((condition, value)) = report.request.fault.zip(report.exceeded()) else { return String::new() };
    let (value, limit) = (figure(value, &Unit::Nanoseconds), time(condition.above_ns));
    format!("\nThe kernel is at fault: {} is {value}, above {limit}.\n", condition.statistic)
}

/// Percentiles that are not the maximum for want of samples.
fn shown_percentiles(latencies: &Latencies) -> impl Iterator<Item = u32> {
    let samples = u128::from(latencies.count());
    PERCENTILES.into_iter().filter(move |it| samples * u128::from(ALL - it) >= u128::from(ALL))
}

fn name(percentile: u32) -> &'static str {
    const NAMES: [&str; PERCENTILES.len()] = [
        "25 %",
        "50 % (median)",
        "75 %",
        "90 %",
        "95.4 %",
        "99 %",
        "99.5 %",
        "99.9 %",
        "99.99 %",
        "99.999 %",
    ];
    PERCENTILES.iter().position(|it| *it == percentile).map_or("", |index| NAMES[index])
}

/// The threads: `one on each of the CPUs 0-3; SCHED_FIFO, priority 80`.
fn who(request: &LatencyRequest) -> String {
    let priority = if request.policy.has_priority() {
        format!(", priority {}", request.priority)
    } else {
        String::new()
    };
    let place = match request.cpus.as_slice() {
        [] => "one, not pinned".to_owned(),
        [cpu] => format!("one on CPU {cpu}"),
        cpus => format!("one on each of the CPUs {}", list(cpus)),
    };
    format!("{place}; {}{priority}", request.policy.name())
}

/// The cycles: `1.000 ms, clock_nanosleep to absolute deadlines of CLOCK_MONOTONIC`.
fn how(request: &LatencyRequest) -> String {
    let (interval, method, clock) = (time(request.interval_ns), request.method.name(), request.clock.name());
    match (request.method, request.relative) {
        (Method::Poll, _) => format!("{interval}, {method} {clock}"),
        (_, false) => format!("{interval}, {method} to absolute deadlines of {clock}"),
        (_, true) => format!("{interval}, {method} for the whole of it, by {clock}"),
    }
}

/// The largest latency of each tenth of the measurement.
fn over_time(report: &LatencyReport) -> String {
    const PARTS: usize = 10;
    let end =
        report.threads.iter().map(|it| it.maxima.slot_ns.saturating_mul(it.maxima.slots.len() as u64)).max();
    let part = (end.unwrap_or(0) / PARTS as u64).max(1);
    let mut largest = [0; PARTS];
    for maxima in report.threads.iter().map(|thread| &thread.maxima) {
        for (slot, latency) in (0_u64..).zip(&maxima.slots) {
            let index = slot.saturating_mul(maxima.slot_ns) / part;
            let index = usize::try_from(index).unwrap_or(usize::MAX).min(PARTS - 1);
            largest[index] = (*latency).max(largest[index]);
        }
    }
    let texts = largest.map(|latency| if latency == 0 { "-".to_owned() } else { time(latency) });
    texts.join(", ")
}

/// `1 sample`, `9,000 samples`.
fn many(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

fn elapsed(report: &LatencyReport) -> String {
    span(Duration::from_nanos(report.elapsed_ns))
}

/// `12.50 W (RAPL, processor packages), standard deviation 0.30 W`.
fn power(power: &Power) -> Option<String> {
    let Power::Measured(watts) = power else { return None };
    let [mean, deviation] = [watts.mean, watts.standard_deviation].map(number);
    Some(format!("{mean} W ({}), standard deviation {deviation} W", watts.source.name()))
}

/// What ran beside it.
fn load(report: &LatencyReport) -> String {
    let Some(load) = &report.load else { return String::new() };
    // It is always the measurement that ends it.
    let load = StressReport { interrupted: false, ..load.clone() };
    format!("\nload\n{}", stress::text(&load))
}

/// Nanoseconds with four digits that count.
pub(crate) fn time(nanoseconds: u64) -> String {
    figure(nanoseconds as f64, &Unit::Nanoseconds)
}

/// A fact in a line.
fn line(label: &str, text: &str) -> String {
    format!("{label:<LABEL$}{text}\n")
}

/// Numbers as cpuset(7) writes them: `0,2-5`.
fn list(numbers: &[u32]) -> String {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let texts: Vec<String> = runs
        .map(|run| match run {
            [first, .., last] => format!("{first}-{last}"),
            rest => rest.iter().map(u32::to_string).collect(),
        })
        .collect();
    texts.join(",")
}

#[cfg(test)]
mod tests;
