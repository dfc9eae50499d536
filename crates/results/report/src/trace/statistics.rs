//! How many events there were, and how long things took.

use measure::Unit;
use serde_json::{Value, json};
use viewer::{Spread, Statistics};

use crate::columns::Columns;
use crate::figures::{count, figure};
use crate::safe::safe_line;

/// Rows of a table that are shown; the others are a line.
const ROWS_MAX: usize = 20;

/// Tables for people.
#[must_use]
pub fn text(statistics: &Statistics) -> String {
    let span = nanoseconds(statistics.span);
    let mut text = format!("{} events in {span}\n", count(statistics.events));
    let events = statistics.names.iter().map(|(name, number)| (*number, [count(*number), safe_line(name)]));
    text += &table(Columns { head: ["EVENTS", "NAME"], right: &[0], spared: &[] }, events);
    let cpus = statistics.cpus.iter().map(|(number, cpu)| {
        let share = share(cpu.busy, cpu.busy + cpu.idle);
        (u64::from(u32::MAX - number), [number.to_string(), count(cpu.events), nanoseconds(cpu.busy), share])
    });
    text += &table(Columns { head: ["CPU", "EVENTS", "BUSY", "%"], right: &[0, 1, 2, 3], spared: &[] }, cpus);
    let threads = statistics.threads.iter().map(|(number, thread)| {
        let row =
            [nanoseconds(thread.running), count(thread.events), number.to_string(), safe_line(&thread.comm)];
        ((thread.running, thread.events), row)
    });
    text += &table(
        Columns { head: ["RUNNING", "EVENTS", "TID", "THREAD"], right: &[0, 1, 2], spared: &[] },
        threads,
    );
    let calls = statistics.calls.iter().map(|(name, call)| {
        let [number, total, p50, p99, max] = times(&call.took);
        (call.took.total, [total, number, count(call.failed), p50, p99, max, safe_line(name)])
    });
    let head = ["TOTAL", "CALLS", "ERRORS", "P50", "P99", "MAX", "SYSTEM CALL"];
    text += &table(Columns { head, right: &[0, 1, 2, 3, 4, 5], spared: &[] }, calls);
    let interrupts = statistics.interrupts.iter().map(|(name, took)| {
        let [number, total, p50, p99, max] = times(took);
        (took.total, [total, number, p50, p99, max, safe_line(name)])
    });
    let head = ["TOTAL", "COUNT", "P50", "P99", "MAX", "INTERRUPT"];
    text + &table(Columns { head, right: &[0, 1, 2, 3, 4], spared: &[] }, interrupts)
}

/// A table with an empty line above, the largest first; nothing if it has no rows.
fn table<K: Ord, const N: usize>(
    columns: Columns<N>,
    rows: impl Iterator<Item = (K, [String; N])>,
) -> String {
    let mut rows: Vec<(K, [String; N])> = rows.collect();
    if rows.is_empty() {
        return String::new();
    }
    rows.sort_by(|(one, _), (other, _)| other.cmp(one));
    let more = rows.len().saturating_sub(ROWS_MAX);
    let rows: Vec<[String; N]> = rows.into_iter().take(ROWS_MAX).map(|(_, row)| row).collect();
    let widths = columns.widths(&rows, None);
    let head = columns.line(&columns.head.map(str::to_owned), &widths);
    let lines: String = rows.iter().map(|row| columns.line(row, &widths) + "\n").collect();
    let rest = if more > 0 { format!("... {more} more\n") } else { String::new() };
    format!("\n{head}\n{lines}{rest}")
}

fn times(took: &Spread) -> [String; 5] {
    let quantile = |fraction| nanoseconds(took.quantile(fraction));
    [count(took.count), nanoseconds(took.total), quantile(0.5), quantile(0.99), nanoseconds(took.max)]
}

#[expect(clippy::cast_precision_loss, reason = "four digits are shown")]
fn nanoseconds(value: u64) -> String {
    figure(value as f64, &Unit::Nanoseconds)
}

#[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
fn share(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { format!("{:.1}", 100.0 * part as f64 / whole as f64) }
}

/// The same for programs: times are in nanoseconds.
#[must_use]
pub fn json(statistics: &Statistics) -> Value {
    let spread = |took: &Spread| json!({ "count": took.count, "total_ns": took.total, "p50_ns": took.quantile(0.5), "p99_ns": took.quantile(0.99), "max_ns": took.max });
    let threads = statistics.threads.iter().map(|(tid, thread)| {
        json!({ "tid": tid, "comm": thread.comm, "events": thread.events, "running_ns": thread.running })
    });
    let cpus = statistics
        .cpus
        .iter()
        .map(|(number, cpu)| json!({ "cpu": number, "events": cpu.events, "busy_ns": cpu.busy, "idle_ns": cpu.idle }));
    let calls = statistics
        .calls
        .iter()
        .map(|(name, call)| json!({ "name": name, "failed": call.failed, "took": spread(&call.took) }));
    let interrupts =
        statistics.interrupts.iter().map(|(name, took)| json!({ "name": name, "took": spread(took) }));
    json!({
        "events": statistics.events,
        "span_ns": statistics.span,
        "names": statistics.names,
        "cpus": cpus.collect::<Vec<_>>(),
        "threads": threads.collect::<Vec<_>>(),
        "system_calls": calls.collect::<Vec<_>>(),
        "interrupts": interrupts.collect::<Vec<_>>(),
    })
}
