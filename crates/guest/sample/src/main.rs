//! The instrument `sample`: see [`protocol::instrument`].

use std::process::ExitCode;

use harness::instrument::{Ending, Listener, run};
use protocol::sample::{SampleReport, SampleRequest};
use protocol::{Report, ReportKind};

fn main() -> ExitCode {
    run(|request, listener| carry_out(&request, listener))
}

fn carry_out(request: &SampleRequest, listener: Listener<'_, SampleReport>) -> Ending<SampleReport> {
    if let Err(error) = request.validate() {
        return Ending::WrongRequest(error.to_string());
    }
    match sample::sample(request, listener) {
        Ok(report) => {
            let text = format!("took {} samples", report.samples);
            Ending::Done(report, Report { kind: ReportKind::Pass, text })
        }
        Err(report) => Ending::Stopped(report),
    }
}
