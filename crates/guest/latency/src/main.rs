//! The instrument `latency`: see [`protocol::instrument`].

use std::process::ExitCode;

use harness::instrument::{Ending, Listener, run};
use protocol::latency::{LatencyReport, LatencyRequest};

fn main() -> ExitCode {
    run(|request, listener| carry_out(&request, listener))
}

fn carry_out(request: &LatencyRequest, listener: Listener<'_, LatencyReport>) -> Ending<LatencyReport> {
    if let Err(error) = request.validate() {
        return Ending::WrongRequest(error.to_string());
    }
    match latency::measure(request, listener) {
        Ok(report) => {
            let conclusion = report.outcome();
            Ending::Done(report, conclusion)
        }
        Err(report) => Ending::Stopped(report),
    }
}
