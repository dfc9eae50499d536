//! What the reader of the figures must know.

use protocol::latency::{Conditions, Grant, Latencies, LatencyReport, PERCENTILES, ThreadReport};

use super::{many, shown_percentiles, time};
use crate::columns::hanging;
use crate::safe::safe_line;

/// Columns of a line.
const WIDTH: usize = 110;

/// Columns for the word before a note.
const INDENT: usize = 8;

/// A resolution above this is that of the tick.
const HIGH_RESOLUTION_NS: u64 = 1_000;

pub(super) fn text(report: &LatencyReport, latencies: &Latencies) -> String {
    let notes = [
        machine(&report.conditions),
        resolution(report),
        memory(report),
        faults(report),
        slack(report),
        omission(report),
        late(report),
        unmeasured(report),
        early(report),
        few(latencies),
        report.conditions.cpu_dma_latency.refusal().map(safe_line),
    ];
    let lines: Vec<String> =
        notes.into_iter().flatten().flat_map(|note| hanging("note", INDENT, &note, WIDTH)).collect();
    if lines.is_empty() { String::new() } else { format!("\n{}\n", lines.join("\n")) }
}

/// Whose time it is.
pub(crate) fn machine(conditions: &Conditions) -> Option<String> {
    let name = conditions.hypervisor.as_deref()?;
    Some(match name {
        "TCGTCGTCGTCG" => {
            "TCG executes this machine in software: its times are not those of hardware".to_owned()
        }
        "User Mode Linux" => {
            "the kernel is a process of its host: times are those that the host gives it, not those of hardware".to_owned()
        }
        "KVMKVMKVM" => hypervisor("KVM"),
        other => hypervisor(&safe_line(other)),
    })
}

fn hypervisor(name: &str) -> String {
    format!(
        "a hypervisor ({name}) runs this machine's CPUs and timers: its own delays are part of the figures"
    )
}

fn resolution(report: &LatencyReport) -> Option<String> {
    let (clock, resolution) = (report.request.clock.name(), report.conditions.resolution_ns);
    (resolution > HIGH_RESOLUTION_NS).then(|| {
        format!("timers of {clock} have a resolution of {}: they are those of the tick", time(resolution))
    })
}

fn memory(report: &LatencyReport) -> Option<String> {
    match &report.conditions.locked {
        Grant::Granted => None,
        Grant::NotWanted => Some("memory is not locked, as was asked".to_owned()),
        Grant::Refused(why) => Some(format!("memory is not locked: {}", safe_line(why))),
    }
}

fn faults(report: &LatencyReport) -> Option<String> {
    let usages = || report.threads.iter().filter_map(|thread| thread.usage);
    let faults = sum(usages().map(|usage| usage.minor_faults.saturating_add(usage.major_faults)));
    (faults > 0)
        .then(|| format!("{} in the loops: some latencies may be due to them", many(faults, "page fault")))
}

fn slack(report: &LatencyReport) -> Option<String> {
    let slack =
        report.threads.iter().filter(|thread| !thread.policy.is_real_time()).map(|it| it.timer_slack_ns);
    let largest = slack.max().filter(|slack| *slack > 1)?;
    Some(format!(
        "a timer slack of {}: the kernel may wake these threads up to that much later",
        time(largest)
    ))
}

fn omission(report: &LatencyReport) -> Option<String> {
    report.request.relative.then(|| {
        "relative sleeps: a late wake-up puts off all that follow, so that the deadlines it missed are not counted".to_owned()
    })
}

fn late(report: &LatencyReport) -> Option<String> {
    let late = total(report, |thread| thread.late_cycles);
    (late > 0).then(|| format!("{} late by an interval or more", many(late, "wake-up")))
}

fn unmeasured(report: &LatencyReport) -> Option<String> {
    let (left_out, rests) = (total(report, |it| it.unmeasured), total(report, |it| it.rests));
    match (left_out, rests) {
        (0, 0) => None,
        (left_out, 0) => Some(format!("{} without a sample: the clock was set", many(left_out, "deadline"))),
        (left_out, rests) => Some(format!(
            "{} of a few milliseconds, so that others could run: {} without a sample",
            many(rests, "rest"),
            many(left_out, "deadline")
        )),
    }
}

fn early(report: &LatencyReport) -> Option<String> {
    let early = total(report, |thread| thread.early);
    let earliest = report.threads.iter().map(|thread| thread.earliest_ns).max()?;
    let why = if report.has_early_timer() { "no timer may expire early" } else { "the clock was set" };
    (early > 0).then(|| {
        format!("{} before the deadline, by up to {}: {why}", many(early, "wake-up"), time(earliest))
    })
}

fn few(latencies: &Latencies) -> Option<String> {
    let shown = shown_percentiles(latencies).count();
    (0 < latencies.count() && shown < PERCENTILES.len())
        .then(|| "too few samples for the percentiles that are not shown: measure longer".to_owned())
}

fn total(report: &LatencyReport, of: fn(&ThreadReport) -> u64) -> u64 {
    sum(report.threads.iter().map(of))
}

fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}
