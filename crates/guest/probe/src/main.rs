//! The instrument `probe`: see [`protocol::instrument`].

use std::process::ExitCode;

use harness::instrument::{Ending, Listener, run};
use protocol::probe::{ProbeReport, ProbeRequest};
use protocol::{Report, ReportKind};

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    probe::companion(&arguments).unwrap_or_else(|| run(|request, listener| carry_out(&request, listener)))
}

fn carry_out(request: &ProbeRequest, listener: Listener<'_, ProbeReport>) -> Ending<ProbeReport> {
    if let Err(error) = request.validate() {
        return Ending::WrongRequest(error.to_string());
    }
    match probe::probe(request, listener) {
        Ok(report) => {
            let text = format!("{} looked for {} ms", request.tool.name(), report.elapsed_ns / 1_000_000);
            Ending::Done(report, Report { kind: ReportKind::Pass, text })
        }
        Err(report) => Ending::Stopped(report),
    }
}
