//! The instrument `count`: see [`protocol::instrument`].

use std::process::ExitCode;

use harness::instrument::{Ending, Listener, run};
use protocol::count::{CountReport, CountRequest};
use protocol::{Report, ReportKind};

fn main() -> ExitCode {
    run(|request, listener| carry_out(&request, listener))
}

fn carry_out(request: &CountRequest, listener: Listener<'_, CountReport>) -> Ending<CountReport> {
    if let Err(error) = request.validate() {
        return Ending::WrongRequest(error.to_string());
    }
    match count::count(request, listener) {
        Ok(report) => {
            let text = format!("counted {} of {} events", report.counted.len(), request.events.len());
            Ending::Done(report, Report { kind: ReportKind::Pass, text })
        }
        Err(report) => Ending::Stopped(report),
    }
}
