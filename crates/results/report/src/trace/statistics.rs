//! How many events there were, and how long things took.

use maud::{Markup, html};
use serde_json::{Value, json};
use viewer::{Spread, Statistics};

use crate::figures::count;
use crate::safe::safe_line;
use crate::table::Table;
use crate::times::{nanoseconds, share, spread_json};

/// Tables for people.
#[must_use]
pub fn text(statistics: &Statistics) -> String {
    let span = nanoseconds(statistics.span);
    let head = format!("{} events in {span}\n", count(statistics.events));
    head + &names(statistics).text()
        + &cpus(statistics).text()
        + &threads(statistics).text()
        + &calls(statistics).text()
        + &interrupts(statistics).text()
}

/// The same tables for a page.
pub(super) fn tables(statistics: &Statistics) -> Markup {
    html! {
        (names(statistics).html())
        (cpus(statistics).html())
        (threads(statistics).html())
        (calls(statistics).html())
        (interrupts(statistics).html())
    }
}

fn names(statistics: &Statistics) -> Table<2> {
    let rows =
        statistics.names().into_iter().map(|(name, number)| (number, [count(number), safe_line(name)]));
    Table::sorted(["EVENTS", "NAME"], 1, rows)
}

fn cpus(statistics: &Statistics) -> Table<4> {
    let rows = statistics.cpus.iter().map(|(number, cpu)| {
        let share = share(cpu.busy, cpu.busy + cpu.idle);
        (u64::from(u32::MAX - number), [number.to_string(), count(cpu.events), nanoseconds(cpu.busy), share])
    });
    Table::sorted(["CPU", "EVENTS", "BUSY", "%"], 0, rows)
}

fn threads(statistics: &Statistics) -> Table<4> {
    let rows = statistics.threads.iter().map(|(number, thread)| {
        let row =
            [nanoseconds(thread.running), count(thread.events), number.to_string(), safe_line(&thread.comm)];
        ((thread.running, thread.events), row)
    });
    Table::sorted(["RUNNING", "EVENTS", "TID", "THREAD"], 1, rows)
}

fn calls(statistics: &Statistics) -> Table<7> {
    let rows = statistics.calls.iter().map(|(name, call)| {
        let [number, total, p50, p99, max] = times(&call.took);
        (call.took.total, [total, number, count(call.failed), p50, p99, max, safe_line(name)])
    });
    Table::sorted(["TOTAL", "CALLS", "ERRORS", "P50", "P99", "MAX", "SYSTEM CALL"], 1, rows)
}

fn interrupts(statistics: &Statistics) -> Table<6> {
    let rows = statistics.interrupts.iter().map(|(name, took)| {
        let [number, total, p50, p99, max] = times(took);
        (took.total, [total, number, p50, p99, max, safe_line(name)])
    });
    Table::sorted(["TOTAL", "COUNT", "P50", "P99", "MAX", "INTERRUPT"], 1, rows)
}

fn times(took: &Spread) -> [String; 5] {
    let quantile = |fraction| nanoseconds(took.quantile(fraction));
    [count(took.count), nanoseconds(took.total), quantile(0.5), quantile(0.99), nanoseconds(took.max)]
}

/// The same for programs: times are in nanoseconds.
#[must_use]
pub fn json(statistics: &Statistics) -> Value {
    let threads = statistics.threads.iter().map(|(tid, thread)| {
        json!({ "tid": tid, "comm": thread.comm, "events": thread.events, "running_ns": thread.running })
    });
    let cpus = statistics
        .cpus
        .iter()
        .map(|(number, cpu)| json!({ "cpu": number, "events": cpu.events, "busy_ns": cpu.busy, "idle_ns": cpu.idle }));
    let calls = statistics.calls.iter().map(
        |(name, call)| json!({ "name": **name, "failed": call.failed, "took": spread_json(&call.took) }),
    );
    let interrupts =
        statistics.interrupts.iter().map(|(name, took)| json!({ "name": **name, "took": spread_json(took) }));
    json!({
        "events": statistics.events,
        "span_ns": statistics.span,
        "names": statistics.names(),
        "cpus": cpus.collect::<Vec<_>>(),
        "threads": threads.collect::<Vec<_>>(),
        "system_calls": calls.collect::<Vec<_>>(),
        "interrupts": interrupts.collect::<Vec<_>>(),
    })
}
