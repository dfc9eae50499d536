//! What `kiln steal` prints.
//!
//! * [`pass`]: a pass without tracing; [`trace`]: the one with
//! * [`comparison`]: two set-ups

mod comparison;
mod pass;
mod trace;

use std::time::Duration;

use protocol::ReportKind;
use protocol::steal::{Accounting, Budget, Calibration, Conditions, Pass, Side, StealReport};

use crate::figures::{count, grouped};
use crate::safe::safe_line;
use crate::words::{counted, span};

/// Columns of what a line is about.
const LABEL: usize = 20;

/// A measurement as it stands, in a line: `3.0 s on CPU 1: 61.6 % stolen`.
#[must_use]
pub fn progress(report: &StealReport) -> String {
    let passes: usize = report.sides.iter().map(|side| side.passes.len()).sum();
    let last = report.sides.iter().filter_map(|side| side.passes.last()).next_back();
    let Some(pass) = last else { return format!("calibrates on CPU {}", report.cpu) };
    let stolen = pass.stolen_by_gaps().map(|stolen| format!(": {} stolen", percent(stolen)));
    format!("pass {passes}, {} on CPU {}{}", elapsed(pass), report.cpu, stolen.unwrap_or_default())
}

/// All about a measurement.
#[must_use]
pub fn text(report: &StealReport) -> String {
    let mut out = line("victim", &victim(report));
    if let Some(load) = report.request.load {
        let sender = report.conditions.sender.map(|cpu| format!(", sent by CPU {cpu}"));
        out += &line("load", &format!("{load}{}", sender.unwrap_or_default()));
    }
    if let Some(Budget { weight, packets, usecs }) = report.conditions.budget {
        out += &line(
            "NAPI budget",
            &format!("{weight} packets a poll, {packets} packets or {usecs} µs a softirq"),
        );
    }
    out += &line("accounting", accounting(report.conditions.accounting));
    if let Some(calibration) = &report.calibration {
        out += &line("calibration", &calibrated(calibration));
    }
    for side in &report.sides {
        out += &self::side(report, side);
    }
    out += &comparison::text(report);
    out += &notes(report);
    out += &limit(report);
    out
}

/// Whether more was stolen than may be.
fn limit(report: &StealReport) -> String {
    let Some(limit) = report.request.max_steal else { return String::new() };
    let conclusion = report.conclusion();
    match conclusion.kind {
        ReportKind::Pass => format!("\nNo more than the limit of {} was stolen.\n", percent(limit)),
        _ => format!("\n{}\n", conclusion.text),
    }
}

fn side(report: &StealReport, side: &Side) -> String {
    let mut out = "\n".to_owned();
    if report.request.load.is_some_and(protocol::steal::Load::is_network) {
        out += &line("set-up", &side.setup.to_string());
    }
    match side.passes.as_slice() {
        [] => out += "nothing was measured\n",
        [pass] => out += &pass::text(report, pass),
        passes => out += &pass::summary(side, passes),
    }
    out + &trace::text(&side.trace)
}

fn victim(report: &StealReport) -> String {
    let cpu = report.cpu;
    match report.request.command.as_slice() {
        [] => format!("the probe on CPU {cpu}: it computes, makes no system call and never sleeps"),
        words => format!("{} on CPU {cpu}", safe_line(&words.join(" "))),
    }
}

fn accounting(accounting: Accounting) -> &'static str {
    match accounting {
        Accounting::Tick => "by ticks: interrupts and softirqs are charged to the task that they interrupt",
        Accounting::IrqTime => {
            "by ticks, interrupts and softirqs measured (CONFIG_IRQ_TIME_ACCOUNTING): no task is charged for them"
        }
        Accounting::VirtualGeneric => {
            "generic (CONFIG_VIRT_CPU_ACCOUNTING_GEN): interrupts and softirqs are charged to the task that they interrupt"
        }
        Accounting::Unknown => "unknown: there is neither /proc/config.gz nor a configuration in /boot",
    }
}

fn calibrated(calibration: &Calibration) -> String {
    let Calibration { windows, disturbed, unit_ps, spread, stolen, .. } = calibration;
    let doubt = if disturbed == windows { ": none was free of interruptions, so that all count" } else { "" };
    format!(
        "{} of 1 ms, {} of them interrupted ({} stolen){doubt}; a unit of work takes {} ns, spread {}",
        counted(*windows as usize, "window"),
        count(u64::from(*disturbed)),
        percent(*stolen),
        grouped(*unit_ps as f64 / 1000.0, 2),
        percent(*spread),
    )
}

/// What makes the figures doubtful.
fn notes(report: &StealReport) -> String {
    let Conditions { hypervisor, sender, .. } = &report.conditions;
    let passes = || report.sides.iter().flat_map(|side| &side.passes);
    let all = passes().count();
    let disturbed = passes().filter(|pass| pass.is_disturbed()).count();
    let mut notes = Vec::new();
    if disturbed > 0 {
        notes.push(format!(
            "disturbed: work and gaps differ by more than 2 points in {disturbed} of {all} passes; the CPU changed its speed, \
             shared it with a sibling, or was interrupted for less than the threshold",
        ));
    }
    if *sender == Some(report.cpu) {
        notes.push("there is one CPU only: the sender takes its time from the victim, too".to_owned());
    }
    if let Some(hypervisor) = hypervisor {
        let name = safe_line(hypervisor);
        notes.push(format!("this is a guest ({name}): its host steals, too, and no tracepoint shows that"));
    }
    if report.interrupted {
        notes.push("interrupted before its end".to_owned());
    }
    let lines: String = notes.iter().map(|note| line("note", note)).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// A fact in a line.
fn line(label: &str, text: &str) -> String {
    format!("{label:<LABEL$}{text}\n")
}

fn elapsed(pass: &Pass) -> String {
    span(Duration::from_nanos(pass.elapsed_ns))
}

/// A share: `61.6 %`.
fn percent(share: f64) -> String {
    format!("{} %", grouped(share * 100.0, 1))
}

#[cfg(test)]
mod tests;
