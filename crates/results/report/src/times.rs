//! Times as people and programs read them.

use measure::Unit;
use serde_json::{Value, json};
use viewer::Spread;

use crate::figures::figure;

#[expect(clippy::cast_precision_loss, reason = "four digits are shown")]
pub(crate) fn nanoseconds(value: u64) -> String {
    figure(value as f64, &Unit::Nanoseconds)
}

/// A part of a whole in percent; nothing of nothing.
#[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
pub(crate) fn share(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { format!("{:.1}", 100.0 * part as f64 / whole as f64) }
}

/// A time in seconds to the microsecond.
pub(crate) fn in_microseconds(time: u64) -> String {
    format!("{}.{:06}", time / 1_000_000_000, time / 1000 % 1_000_000)
}

/// A time in seconds to the nanosecond.
pub(crate) fn in_seconds(time: u64) -> String {
    format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000)
}

pub(crate) fn spread_json(spread: &Spread) -> Value {
    json!({
        "count": spread.count,
        "total_ns": spread.total,
        "p50_ns": spread.quantile(0.5),
        "p99_ns": spread.quantile(0.99),
        "max_ns": spread.max,
    })
}
