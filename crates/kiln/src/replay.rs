//! `kiln replay`: the same case again.

use anyhow::Result;
use judge::{Outcome, Run};
use lab::Request;
use lab::bundle::request;
use ledger::sessions;
use protocol::Work;
use protocol::waiting::FOREGROUND;

use crate::cli::Replay;
use crate::failure::INTERRUPTED;
use crate::listeners::print;
use crate::output::Output;
use crate::recall::{Alone, Recalled, recall};
use crate::{kunit, run, shell};

/// Runs a case once more, says whether it ended as before, and gives the exit code of the new Run.
pub(crate) fn replay(args: &Replay, color: bool) -> Result<u8> {
    let recalled = recall(&args.kept)?;
    if args.shell {
        return shell(&recalled);
    }
    let output = Output::of_replay(&recalled.root, color);
    let code = match &recalled.request {
        Request::Run(request) => run::run_again(request, &recalled.again, output)?,
        Request::Kunit(request) => kunit::boot(request, Some(&recalled.again), output)?,
    };
    if code == INTERRUPTED {
        return Ok(code);
    }
    let now = now(&recalled);
    print(&format!("{}\n", report::compared(recalled.before(), now.as_ref())))?;
    match (&recalled.request, now) {
        // The session had other tests as well.
        (Request::Kunit(_), Some(now)) => Ok(now.outcome.exit_code()),
        _ => Ok(code),
    }
}

/// A shell in the machine of the case.
fn shell(recalled: &Recalled) -> Result<u8> {
    let Alone { kernel, mut spec, item, .. } = recalled.prepare()?;
    spec.payload.file(FOREGROUND, request(&item, recalled.before().seed, item.limit)?);
    let what = match item.work {
        Work::Case(name) => format!("the case {name}"),
        Work::Program(command) => command.argv.join(" "),
    };
    let greeting = format!("kiln-case runs {}; Ctrl-A x leaves\n", report::safe(&what));
    shell::at_hand(&spec, &kernel, &greeting)
}

/// The new Run: that of the case, else that of the boot.
fn now(recalled: &Recalled) -> Option<Run> {
    let own = format!("-{}", std::process::id());
    let past = sessions(&recalled.root).into_iter().find(|past| past.name().ends_with(&own))?;
    let Run { case, is_boot, .. } = recalled.before();
    let good_boot = || Run { case: case.clone(), outcome: Outcome::Pass, ..Run::unstarted() };
    let of_case = if *is_boot { past.boot() } else { past.run(case) };
    match of_case.or_else(|_| past.boot()) {
        Ok(run) => Some(run),
        // Only a boot that went badly leaves a Run.
        Err(_) => (*is_boot && past.ended()).then(good_boot),
    }
}
