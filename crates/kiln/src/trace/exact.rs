//! Records in a machine that counts instructions for a clock: the same work gives the same trace.

use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use judge::Outcome;
use judge::run::Summary;
use lab::backend::store;
use lab::prepare::exact::Recordable;
use lab::request::words::call;
use lab::request::{KernelRequest, RunRequest, Selection};
use ledger::REQUEST;
use measure::recording::Recording;
use measure::{Candidate, Recorded, record as record_job};
use protocol::ReportKind;
use report::{Measuring, safe};

use super::inside::wanted;
use super::record::{SUMMARY, TRACE, folder, missing};
use crate::cli::Trace;
use crate::failure::{WrongUsage, complain};
use crate::find::preparing;
use crate::signals;

/// Records while cases or a program run, each once and by itself, and gives the exit code.
pub(super) fn record(args: &Trace, kernel: KernelRequest, color: bool) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let wanted = wanted(args, kernel);
    let recordable = preparing(&interrupt, |context| Recordable::find(&wanted, context))?;
    let candidates = recordable.candidates()?;
    if args.output.is_some() && candidates.len() > 1 {
        let text = format!("-o is for one recording, and these are {} cases", candidates.len());
        return Err(WrongUsage(text).into());
    }
    let mut summary = Summary::default();
    for candidate in &candidates {
        let outcome = record_one(args, (&wanted, candidate), &interrupt, color)?;
        summary.count(outcome);
    }
    Ok(summary.exit_code())
}

/// Records one case or the program, and says what came of it.
fn record_one(
    args: &Trace,
    (wanted, candidate): (&RunRequest, &Candidate<'_>),
    interrupt: &AtomicBool,
    color: bool,
) -> Result<Outcome> {
    let Some(job) = candidate.jobs.first() else { return Ok(Outcome::Skip) };
    if let Some(why) = &job.skip {
        return Ok(skipped(&job.name, &why.reason));
    }
    let Some(trace) = &wanted.trace else { return Ok(Outcome::Skip) };
    let (folder, name) = folder(args)?;
    // There may be others, and `kiln trace diff` takes two.
    let kept = folder.directory().file_name().map(|name| name.to_string_lossy().into_owned());
    let name = kept.filter(|_| args.output.is_none()).unwrap_or(name);
    let recording = Recording { request: trace, folder: &folder.path(TRACE) };
    let measuring = RefCell::new(Measuring::stderr(color));
    let emit = |progress| measuring.borrow_mut().on_event(&progress);
    let recorded = record_job(candidate, recording, &store(), interrupt, &emit);
    // Nobody is before a terminal that does not take it.
    let _ = measuring.into_inner().finish();
    let is_there = |recorded: &Recorded| recorded.summary.refused.is_none();
    if !recorded.as_ref().is_ok_and(is_there) {
        // There is nothing in it that anybody would look at.
        let _ = std::fs::remove_dir_all(folder.directory());
    }
    let Recorded { summary, ended, notes } = recorded.map_err(compare::Error::from)?;
    notes.iter().for_each(|note| complain(note));
    missing(&summary).for_each(|note| complain(&note));
    if let Some(why) = &summary.refused {
        let outcome = if why.kind == ReportKind::Skip { Outcome::Skip } else { Outcome::Broken };
        complain(&format!("{}: {}: {}", job.name, outcome.name(), safe(&why.text)));
        return Ok(outcome);
    }
    folder.keep(REQUEST, &of_job(wanted, &job.name))?;
    folder.keep(SUMMARY, &report::trace::document(&summary, None))?;
    let (outcome, why) = match &ended {
        Ok(()) => (Outcome::Pass, String::new()),
        Err(why) => (why.outcome, format!(": {}", safe(&why.reason))),
    };
    complain(&format!("{}: {}{why}; {}", job.name, outcome.name(), report::trace::summary(&summary, None)));
    complain(&format!("{} shows them", call(&["trace", "view", &name].map(str::to_owned))));
    Ok(outcome)
}

fn skipped(job: &str, why: &str) -> Outcome {
    complain(&format!("{job}: skip: {}", safe(why)));
    Outcome::Skip
}

/// The same request of this job alone.
fn of_job(wanted: &RunRequest, job: &str) -> RunRequest {
    let mut wanted = wanted.clone();
    if let Selection::Suite { patterns, .. } = &mut wanted.cases {
        *patterns = vec![job.to_owned()];
    }
    wanted
}
