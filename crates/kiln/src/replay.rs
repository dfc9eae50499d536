//! `kiln replay`: the same case again.

use anyhow::{Context, Result};
use lab::Request;
use lab::prepare::Alone;
use lab::request::{KeptRequest, ReplayRequest, Version};
use lab::shell::PreparedShell;
use ledger::{Recalled, recall};
use protocol::Work;

use crate::cli::{Kept, Replay};
use crate::find::preparing;
use crate::listeners::print;
use crate::output::Output;
use crate::{exp, kunit, old_sessions, run, shell, signals};
use judge::exit::INTERRUPTED;

/// Runs a case once more, says whether it ended as before, and gives the exit code of the new Run.
pub(crate) fn replay(args: &Replay, color: bool) -> Result<u8> {
    let request = args.request();
    let recalled = recalled(&request.kept)?;
    if request.shell {
        return shell(&recalled);
    }
    // It is replayed as long as there is another place for what is new.
    let _hold = recalled.hold()?;
    let output = Output::of_replay(&recalled.sessions, color);
    let code = match &recalled.request {
        Request::Run(request) => run::run_again(request, &recalled.again, output)?,
        Request::Kunit(request) => kunit::boot(request, Some(&recalled.again), output)?,
        Request::Experiment(request) => exp::run::again(request, &recalled.again, output)?,
    };
    let now = recalled.made_again();
    // The program itself may end with this status.
    if code == INTERRUPTED && now.is_none() {
        return Ok(code);
    }
    for note in recalled.other_roots() {
        print(&format!("note: {}\n", report::safe(&note)))?;
    }
    print(&format!("{}\n", report::compared(&recalled.run, now.as_ref())))?;
    match (&recalled.request, now) {
        // The session had other tests as well.
        (Request::Kunit(_), Some(now)) => Ok(now.outcome.exit_code()),
        _ => Ok(code),
    }
}

impl Replay {
    /// What is asked.
    fn request(&self) -> ReplayRequest {
        ReplayRequest { version: Version, kept: self.kept.request(), shell: self.shell }
    }
}

impl Kept {
    /// Which Run.
    pub(crate) fn request(&self) -> KeptRequest {
        KeptRequest { run: self.run.clone(), sessions: self.results.clone() }
    }
}

/// Finds the Run and goes to the folder where its session began.
pub(crate) fn recalled(kept: &KeptRequest) -> Result<Recalled> {
    let recalled = recall(kept, &old_sessions::request)?;
    let directory = &recalled.directory;
    std::env::set_current_dir(directory)
        .with_context(|| format!("the folder where the session began, {}", directory.display()))?;
    Ok(recalled)
}

/// The case with its machine.
pub(crate) fn alone(recalled: &Recalled) -> Result<Alone> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let Recalled { request, again, run, .. } = recalled;
    Ok(preparing(&interrupt, |context| Alone::new(request, again, run, context))?)
}

/// A shell in the machine of the case.
fn shell(recalled: &Recalled) -> Result<u8> {
    let alone = alone(recalled)?;
    let what = match &alone.item.work {
        Work::Case(name) => format!("the case {name}"),
        Work::Program(command) => command.argv.join(" "),
    };
    let greeting = format!("kiln-case runs {}; Ctrl-A x exits\n", report::safe(&what));
    shell::at_hand(&PreparedShell::beside(alone)?, &greeting)
}
