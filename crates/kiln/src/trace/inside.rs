//! Records in a machine.

use anyhow::{Context, Result};
use lab::request::KernelRequest;
use lab::{Prepared, RunRequest};

use super::record::beside;
use super::request;
use crate::cli::{Format, Trace};
use crate::find::preparing;
use crate::listeners::View;
use crate::output::Output;
use crate::requests::program_or_cases;
use crate::run::run_with;
use crate::signals;

/// The first process of a machine, which starts all others.
const INIT: u32 = 1;

/// Records while cases or a program run, each in a clone of its own, and gives the exit code.
pub(super) fn record(args: &Trace, kernel: KernelRequest, color: bool) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let wanted = wanted(args, kernel);
    let prepared = preparing(&interrupt, |context| Prepared::new(&wanted, context))?;
    let view = View { format: Format::Human, color, verbose: false };
    let run =
        || run_with(prepared, Output { view, results: args.place.results.as_deref() }, None, &interrupt);
    if args.host { beside(args, run) } else { run() }
}

/// What is asked for.
pub(super) fn wanted(args: &Trace, kernel: KernelRequest) -> RunRequest {
    let program = (args.exec.as_deref(), &args.arguments[..]);
    let cases = program_or_cases(program, (args.suite.as_deref(), &args.case));
    let mut wanted = RunRequest::new(kernel, cases);
    wanted.machine = args.place.machine();
    // What failed is recorded, and not run again behind the user's back.
    wanted.policy.no_retry = true;
    wanted.trace = Some(request(args, INIT, Vec::new()));
    wanted
}
