//! How long it took until something was done.

use serde_json::{Value, json};
use viewer::Latencies;

use crate::figures::count;
use crate::safe::safe_line;
use crate::table::Table;
use crate::times::{in_seconds, nanoseconds, spread_json};

/// A table for people; `begin` is that of the trace.
#[must_use]
pub fn text(latencies: &Latencies, begin: u64) -> String {
    let rows = latencies.rows.iter().map(|((kind, name), latency)| {
        let quantile = |fraction| nanoseconds(latency.times.quantile(fraction));
        let row = [
            count(latency.times.count),
            quantile(0.5),
            quantile(0.9),
            quantile(0.99),
            quantile(0.999),
            nanoseconds(latency.times.max),
            in_seconds(latency.at.saturating_sub(begin)),
            latency.thread.to_string(),
            kind.name().to_owned(),
            safe_line(name),
        ];
        (latency.times.max, row)
    });
    let head = ["COUNT", "P50", "P90", "P99", "P99.9", "MAX", "AT", "TID", "OF", "NAME"];
    Table::sorted(head, 2, rows).text().trim_start_matches('\n').to_owned()
}

/// The same for programs.
#[must_use]
pub fn json(latencies: &Latencies, begin: u64) -> Value {
    let rows = latencies.rows.iter().map(|((kind, name), latency)| {
        json!({
            "kind": kind.name(),
            "name": **name,
            "took": spread_json(&latency.times),
            "p90_ns": latency.times.quantile(0.9),
            "p999_ns": latency.times.quantile(0.999),
            "longest": {
                "time_ns": latency.at,
                "since_begin_ns": latency.at.saturating_sub(begin),
                "tid": latency.thread,
                "cpu": latency.cpu,
            },
        })
    });
    rows.collect()
}
