//! The instrument `steal`: see [`protocol::instrument`].

use std::process::ExitCode;

use harness::instrument::{Ending, Listener, run};
use protocol::steal::{StealReport, StealRequest};

fn main() -> ExitCode {
    run(|request, listener| carry_out(&request, listener))
}

fn carry_out(request: &StealRequest, listener: Listener<'_, StealReport>) -> Ending<StealReport> {
    if let Err(error) = request.validate() {
        return Ending::WrongRequest(error.to_string());
    }
    match steal::measure(request, listener) {
        Ok(report) => {
            let conclusion = report.conclusion();
            Ending::Done(report, conclusion)
        }
        Err(report) => Ending::Stopped(report),
    }
}
