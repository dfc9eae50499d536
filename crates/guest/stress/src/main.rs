//! The instrument `stress`: see [`protocol::instrument`]. It also writes its catalogue.

use std::process::ExitCode;

use harness::instrument::{Ending, Listener, run, write};
use protocol::instrument::{BROKEN, DONE};
use protocol::stress::{StressReport, StressRequest, catalogue};
use stress::{EXIT_AT_ONCE, Refusal, Stressor};

fn main() -> ExitCode {
    let argument = std::env::args_os().nth(1).unwrap_or_default();
    match argument.as_encoded_bytes() {
        it if it == EXIT_AT_ONCE.to_bytes() => ExitCode::SUCCESS,
        it if it == catalogue::ARGUMENT.as_bytes() => {
            ExitCode::from(if write(&stress::catalogue()).is_ok() { DONE } else { BROKEN })
        }
        _ => run(|request, listener| carry_out(&request, listener)),
    }
}

fn carry_out(request: &StressRequest, listener: Listener<'_, StressReport>) -> Ending<StressReport> {
    stress::engine::isolate();
    let stressors: Vec<&'static Stressor> = stress::all().collect();
    // A reader that has gone gets nothing more; what runs is still ended in order.
    let mut so_far = |report| drop(listener(&report));
    match stress::run(request, &stressors, &mut so_far) {
        Ok(report) => {
            let conclusion = report.outcome();
            Ending::Done(report, conclusion)
        }
        Err(Refusal::Stopped(report)) => Ending::Stopped(report),
        Err(Refusal::WrongRequest(text)) => Ending::WrongRequest(text),
    }
}
