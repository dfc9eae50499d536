//! The pass with tracing.

use protocol::steal::{Cause, Polls, Trace, Traced};

use super::pass::time;
use super::{line, percent};
use crate::columns::Columns;
use crate::figures::{count, grouped};
use crate::safe::safe_line;

const COLUMNS: Columns<5> = Columns {
    head: ["TAKEN BY", "TIMES", "TIME", "OF THE CPU", "CHARGED"],
    right: &[1, 2, 3, 4],
    spared: &[],
};

/// What took less is not shown.
const LEAST: f64 = 0.0005;

/// Where the time went; why nothing is known where nothing is.
pub(super) fn text(traced: &Traced) -> String {
    match traced {
        Traced::None => String::new(),
        Traced::Missing(why) => format!("\n{}", line("second pass", &safe_line(why))),
        Traced::Seen(trace) => seen(trace),
    }
}

fn seen(trace: &Trace) -> String {
    let mut out = format!("\n{}", line("second pass", &format!("{} with tracing", time(trace.traced_ns))));
    let rows = rows(trace);
    let widths = COLUMNS.widths(&rows, None);
    for row in std::iter::once(&COLUMNS.heads()).chain(&rows) {
        out += &COLUMNS.line(row, &widths);
        out.push('\n');
    }
    if trace.polls.count > 0 {
        out += &line("NAPI polls", &polls(&trace.polls));
    }
    if let Some(stolen) = trace.stolen() {
        let [charged, waited] = [trace.charged_ns(), trace.waited_ns].map(|ns| share(trace, ns));
        let text = format!(
            "{} of the time in which it could run: {charged} charged, {waited} waited",
            percent(stolen)
        );
        out += &line("stolen", &text);
    }
    if trace.dropped > 0 {
        let text = format!(
            "{} events did not fit into the buffer: the trace ends before them",
            count(trace.dropped)
        );
        out += &line("note", &text);
    }
    if trace.unread > 0 {
        out += &line("note", &format!("{} events had no beginning, no end or no sense", count(trace.unread)));
    }
    out
}

/// The victim, interrupts, softirqs and other threads.
fn rows(trace: &Trace) -> Vec<[String; 5]> {
    let victim = [
        "(the victim)".to_owned(),
        String::new(),
        time(trace.victim_ns.saturating_sub(trace.charged_ns())),
        share(trace, trace.victim_ns.saturating_sub(trace.charged_ns())),
        String::new(),
    ];
    let is_shown = |ns: u64| ns as f64 >= LEAST * trace.traced_ns as f64;
    let cause = |kind: &str, cause: &Cause| {
        [
            format!("{kind} {}", safe_line(&cause.name)),
            count(cause.count),
            time(cause.ns),
            share(trace, cause.ns),
            share(trace, cause.charged_ns),
        ]
    };
    let interrupts = trace.interrupts.iter().map(|it| (it.ns, cause("interrupt", it)));
    let softirqs = trace.softirqs.iter().map(|it| (it.ns, cause("softirq", it)));
    let threads = trace.threads.iter().map(|it| {
        let name = format!("thread {}", safe_line(&it.name));
        (it.ns, [name, String::new(), time(it.ns), share(trace, it.ns), String::new()])
    });
    let all = interrupts.chain(softirqs).chain(threads);
    std::iter::once(victim).chain(all.filter(|(ns, _)| is_shown(*ns)).map(|(_, row)| row)).collect()
}

fn polls(polls: &Polls) -> String {
    let each = polls.packets as f64 / polls.count as f64;
    let full = polls.full as f64 / polls.count as f64;
    format!(
        "{} with {} packets, {} each; {} used their whole budget",
        count(polls.count),
        count(polls.packets),
        grouped(each, 1),
        percent(full)
    )
}

fn share(trace: &Trace, ns: u64) -> String {
    percent(ns as f64 / trace.traced_ns.max(1) as f64)
}
