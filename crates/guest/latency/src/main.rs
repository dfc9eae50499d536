//! The instrument `latency`: see [`protocol::instrument`].

use std::process::ExitCode;

use harness::instrument::{Ending, Listener, run};
use protocol::latency::{LatencyReport, LatencyRequest};
use protocol::{Report, ReportKind};

fn main() -> ExitCode {
    run(|request, listener| carry_out(&request, listener))
}

fn carry_out(request: &LatencyRequest, listener: Listener<'_, LatencyReport>) -> Ending<LatencyReport> {
    if let Err(error) = request.validate() {
        return Ending::WrongRequest(error.to_string());
    }
    match latency::measure(request, listener) {
        Ok(report) => {
            let fault = report.has_early_timer().then(|| early(&report)).or_else(|| late(&report));
            let kind = if fault.is_some() { ReportKind::Fail } else { ReportKind::Pass };
            Ending::Done(report, Report { kind, text: fault.unwrap_or_default() })
        }
        Err(report) => Ending::Stopped(report),
    }
}

/// POSIX allows no timer to expire early.
fn early(report: &LatencyReport) -> String {
    let wakeups: u64 = report.threads.iter().map(|thread| thread.early).sum();
    let earliest = report.threads.iter().map(|thread| thread.earliest_ns).max().unwrap_or(0);
    format!("{wakeups} timers of {} expired early, by up to {earliest} ns", report.request.clock.name())
}

/// What the request calls a fault.
fn late(report: &LatencyReport) -> Option<String> {
    let (condition, value) = (report.request.fault?, report.exceeded()?);
    Some(format!("{} is {value:.0} ns, above {} ns", condition.statistic, condition.above_ns))
}
