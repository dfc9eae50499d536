//! The instrument `sweep`: see [`protocol::instrument`].

use std::path::Path;
use std::process::ExitCode;

use harness::instrument::{Ending, Listener, run};
use protocol::sweep::{SweepReport, SweepRequest};

fn main() -> ExitCode {
    run(|request, listener| carry_out(&request, listener))
}

fn carry_out(request: &SweepRequest, listener: Listener<'_, SweepReport>) -> Ending<SweepReport> {
    if let Err(why) = request.validate() {
        return Ending::WrongRequest(why);
    }
    match sweep::run(request, Path::new("/sys"), listener) {
        Ok(report) => {
            let conclusion = report.outcome();
            Ending::Done(report, conclusion)
        }
        Err(report) => Ending::Stopped(report),
    }
}
