//! The latency that ended a measurement, with what ran there.

use protocol::latency::{Breach, LatencyReport, TRACE_LINES_MAX};

use super::{line, time};
use crate::columns::fit;
use crate::safe::safe_line;

/// Columns of a line of a trace at most.
const WIDTH: usize = 160;

/// Nanoseconds of a microsecond, to which a trace gives its times.
const MICROSECOND: u64 = 1_000;

pub(super) fn text(report: &LatencyReport) -> String {
    let Some(breach) = &report.breach else { return String::new() };
    let limit = report.request.break_above_ns.map(|limit| format!(" (limit {})", time(limit)));
    let mut out = format!(
        "\n{}",
        line(
            "breach",
            &format!(
                "{} late on CPU {}, {} after the start{}",
                time(breach.latency_ns),
                breach.cpu,
                time(breach.at_ns),
                limit.unwrap_or_default()
            )
        )
    );
    if !breach.trace.is_empty() {
        out += &line("trace", &head(breach));
    }
    for event in breach.trace.iter().take(TRACE_LINES_MAX) {
        // The kernel aligns its lines with blanks.
        out += &format!("  {}\n", fit(crate::safe::safe(event).replace('\n', " ").trim_end(), WIDTH));
    }
    if let Some(why) = report.conditions.trace.refusal() {
        out += &line("trace", &safe_line(why));
    }
    out
}

/// Where in the trace to look.
fn head(breach: &Breach) -> String {
    let deadline = breach.woken_ns.saturating_sub(breach.latency_ns);
    format!("deadline {}, woken {}", stamp(deadline), stamp(breach.woken_ns))
}

/// A time as a trace writes it: `1234.567890`.
fn stamp(nanoseconds: u64) -> String {
    let microseconds = nanoseconds / MICROSECOND;
    format!("{}.{:06}", microseconds / 1_000_000, microseconds % 1_000_000)
}
