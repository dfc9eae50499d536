//! What `kiln count` prints.

use std::time::Duration;

use protocol::count::{CountReport, Counted, Event, Part, Task};
use protocol::workload::Workload;

use crate::figures::{count, grouped};
use crate::safe::safe_line;
use crate::words::{counted, span};

/// Columns of a count.
const COUNT: usize = 18;

/// Processes or threads of which each has a line.
const TASKS: usize = 40;

/// Columns of what an event is called.
const NAME: usize = 26;

/// What is known so far, in a line: `3.0 s: 1,234 page-faults`.
#[must_use]
pub fn progress(report: &CountReport) -> String {
    let first = report.counted.first().map(|one| format!(": {} {}", value(&one.event, one.value), one.event));
    format!("{}{}", elapsed(report.elapsed_ns), first.unwrap_or_default())
}

/// All that was counted.
#[must_use]
pub fn text(report: &CountReport) -> String {
    let what = what(&report.request.workload, report.status, report.signal);
    let mut out = format!("{what}, {}\n\n", elapsed(report.elapsed_ns));
    for one in &report.counted {
        let line = format!("{:>COUNT$}  {:NAME$}{}", estimated(one), one.event.name(), rate(one, report));
        out += &format!("{}\n", line.trim_end());
    }
    for one in &report.missing {
        out += &format!("{:>COUNT$}  {:NAME$}{}\n", "-", one.event.name(), safe_line(&one.why));
    }
    out += &intervals(report);
    out += &report.request.per.map(|part| tasks(report, part)).unwrap_or_default();
    out += &notes(report);
    out
}

/// What was looked at, and how it ended.
pub(crate) fn what(workload: &Workload, status: Option<u8>, signal: Option<u8>) -> String {
    let end = match (status, signal) {
        (Some(status), _) => format!(", exit status {status}"),
        (None, Some(signal)) => format!(", ended by signal {signal}"),
        (None, None) => String::new(),
    };
    match (workload.command.as_slice(), workload.everywhere) {
        ([], _) => workload.process.map_or("everything".to_owned(), |process| format!("process {process}")),
        (words, true) => format!("everything beside {}{end}", safe_line(&words.join(" "))),
        (words, false) => format!("{}{end}", safe_line(&words.join(" "))),
    }
}

fn elapsed(nanoseconds: u64) -> String {
    span(Duration::from_nanos(nanoseconds))
}

/// A count, or a time in milliseconds.
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn value(event: &Event, value: u64) -> String {
    if event.is_time() { format!("{} ms", grouped(value as f64 / 1e6, 2)) } else { count(value) }
}

/// A count with its error, if it was made for a part of the time.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count for people")]
fn estimated(one: &Counted) -> String {
    match one.estimate() {
        None => "not counted".to_owned(),
        Some(estimate) if one.is_estimated() => format!("~{}", value(&one.event, estimate.round() as u64)),
        Some(_) => value(&one.event, one.value),
    }
}

/// How often a second, and for how much of the time it was counted.
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn rate(one: &Counted, report: &CountReport) -> String {
    let mut out = String::new();
    let share = one.estimate().filter(|_| report.elapsed_ns > 0).map(|all| all / report.elapsed_ns as f64);
    match share {
        Some(share) if one.event.is_time() => out += &format!("{:>COUNT$} CPUs", grouped(share, 2)),
        Some(share) if share > 0.0 => out += &format!("{:>COUNT$} /s", grouped(share * 1e9, 0)),
        _ => {}
    }
    if one.is_estimated() && one.enabled_ns > 0 {
        let share = one.running_ns as f64 / one.enabled_ns as f64 * 100.0;
        let error = one.error.map(|error| format!(", ±{} in 95 of 100 cases", grouped(error, 0)));
        out += &format!("  counted for {share:.0} % of the time{}", error.unwrap_or_default());
    }
    out
}

fn intervals(report: &CountReport) -> String {
    let Some(every) = report.request.interval_ms else { return String::new() };
    let every = span(Duration::from_millis(every));
    let mut out = format!("\nin intervals of {every}\n{}\n", heads(report, "AT"));
    for interval in &report.intervals {
        out += &format!("{}{:>12}\n", columns(report, &interval.counts), elapsed(interval.end_ns));
    }
    out
}

fn tasks(report: &CountReport, part: Part) -> String {
    let (second, last) = match part {
        Part::Process => ("PARENT", "PROCESS"),
        Part::Thread => ("TID", "THREAD"),
    };
    let mut out = format!("\n{}  {:>9} {second:>9}  {last}\n", heads(report, "").trim_end(), "PID");
    for Task { pid, tid, parent, name, counts } in report.tasks.iter().take(TASKS) {
        let (pid, second) = (number(*pid), number(tid.unwrap_or(*parent)));
        out += &format!("{}  {pid:>9} {second:>9}  {}\n", columns(report, counts), safe_line(name));
    }
    let left = report.tasks.len().saturating_sub(TASKS);
    let omitted = u64::try_from(left).unwrap_or(u64::MAX).saturating_add(report.tasks_omitted);
    if omitted > 0 {
        out += &format!("and {} more with smaller counts; --json has more\n", count(omitted));
    }
    out
}

/// The number of a task, if it is known.
fn number(number: u32) -> String {
    if number == 0 { "-".to_owned() } else { number.to_string() }
}

fn heads(report: &CountReport, last: &str) -> String {
    let names = report.counted.iter().map(|one| format!("{:>COUNT$}", one.event.name().to_uppercase()));
    format!("{}{last:>12}", names.collect::<String>())
}

fn columns(report: &CountReport, counts: &[u64]) -> String {
    let column = |(one, &of): (&Counted, &u64)| format!("{:>COUNT$}", value(&one.event, of));
    report.counted.iter().zip(counts).map(column).collect()
}

fn notes(report: &CountReport) -> String {
    let mut out = String::new();
    let request = &report.request;
    if let Some(nanoseconds) = report.counted.iter().find_map(|one| request.by_clock(&one.event)) {
        out += &format!(
            "\nthe machine's clock goes by instructions, {nanoseconds} ns each: they are exact, and all times are in this clock\n"
        );
    }
    if report.lost > 0 {
        out += &format!(
            "\n{} of processes lost: what they say is in the sums, and in the first process\n",
            counted(usize::try_from(report.lost).unwrap_or(usize::MAX), "record")
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::count::{CountRequest, Interval, Missing};

    fn event(name: &str) -> Event {
        name.parse().expect("an event")
    }

    fn report() -> CountReport {
        let count = |name: &str, value, running_ns, error| Counted {
            event: event(name),
            value,
            enabled_ns: 4_000_000_000,
            running_ns,
            error,
        };
        let whole = 4_000_000_000;
        CountReport {
            request: CountRequest {
                events: ["page-faults", "task-clock", "cycles", "instructions"].map(event).to_vec(),
                workload: Workload {
                    command: ["make", "-j2", "\u{1b}[31m"].map(str::to_owned).to_vec(),
                    ..Workload::default()
                },
                per: Some(Part::Process),
                interval_ms: Some(1000),
                instruction_ns: None,
            },
            elapsed_ns: 2_000_000_000,
            status: Some(2),
            signal: None,
            counted: vec![
                count("page-faults", 12_345, whole, None),
                count("task-clock", 3_500_000_000, whole, None),
                count("cycles", 1_000_000, 1_000_000_000, Some(5000.0)),
            ],
            missing: vec![Missing {
                event: event("instructions"),
                why: "this machine has no unit".to_owned(),
            }],
            tasks: vec![Task {
                pid: 17,
                tid: None,
                parent: 0,
                name: "make".to_owned(),
                counts: vec![12_345, 3_500_000_000, 1_000_000],
            }],
            tasks_omitted: 3,
            lost: 2,
            intervals: vec![Interval { end_ns: 1_000_000_000, counts: vec![12_000, 3_000_000_000, 900_000] }],
        }
    }

    #[test]
    fn a_report_is_a_page() {
        insta::assert_snapshot!(text(&report()));
        assert_eq!(progress(&report()), "2.0 s: 12,345 page-faults");
    }

    #[test]
    fn threads_have_lines_of_their_own() {
        let mut report = report();
        report.request.per = Some(Part::Thread);
        report.tasks[0].tid = Some(19);
        let text = text(&report);
        let lines: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        for line in
            ["PAGE-FAULTS TASK-CLOCK CYCLES PID TID THREAD", "12,345 3,500.00 ms 1,000,000 17 19 make"]
        {
            assert!(lines.iter().any(|one| one == line), "{line}\n{text}");
        }
    }

    #[test]
    fn a_machine_whose_clock_goes_by_instructions_is_named() {
        let mut report = report();
        report.request.instruction_ns = std::num::NonZeroU32::new(8);
        assert!(!text(&report).contains("goes by instructions"), "{}", text(&report));
        report.counted[0].event = event("instructions");
        assert!(text(&report).contains("goes by instructions, 8 ns each"), "{}", text(&report));
    }
}
