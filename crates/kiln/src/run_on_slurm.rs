//! `kiln run --on slurm`: the boots of a session are jobs, and what they find is one report.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::Result;
use judge::exit::{BROKEN, INTERRUPTED};
use judge::{Exit, Summary};
use lab::{Event, HostBackend, Prepared};
use ledger::{Place, Wanted as KeptRun};
use slurm::{Spread, spread};

use crate::failure::complain;
use crate::listeners::{View, chosen, end_all};
use crate::terminal;

/// Places that are named of what did not go well.
const NAMED_MAX: usize = 10;

/// Runs what was prepared on the nodes of a cluster and gives the exit code.
pub(crate) fn run_on_slurm(
    prepared: &Prepared,
    view: View,
    sessions: &Path,
    interrupt: &AtomicBool,
) -> Result<u8> {
    let begun = Instant::now();
    let place = Place { backend: &HostBackend, sessions, interrupt };
    let mut line = terminal::Progress::new();
    let found = spread(prepared, place, &mut |progress| line.follow(&progress));
    drop(line);
    let found = match found {
        Err(error) if error.is_interrupt() => {
            complain(&error.to_string());
            return Ok(INTERRUPTED);
        }
        found => found?,
    };
    let summary = report(&found, view, begun)?;
    say_where(&found);
    let code = Exit::of_session(summary, false).code;
    if found.missing > 0 {
        let missing = found.missing;
        complain(&format!("{missing} jobs gave no result: the same command goes on with them"));
    }
    Ok(if code == 0 && found.missing > 0 { BROKEN } else { code })
}

/// Shows what was found as one session.
fn report(found: &Spread, view: View, begun: Instant) -> Result<Summary> {
    let mut reports = chosen(view, None);
    let mut emit = |event: Event| reports.iter_mut().for_each(|report| report.on_event(&event));
    let mut summary = Summary::default();
    emit(Event::Planned(Box::new(found.session.clone())));
    for KeptRun { run, .. } in &found.runs {
        summary.count(run.outcome);
        emit(Event::Finished(Box::new(run.clone())));
    }
    emit(Event::Ended { summary, took: begun.elapsed(), interrupted: false, exit: None });
    end_all(reports)?;
    Ok(summary)
}

/// Says which sessions show what did not go well.
fn say_where(found: &Spread) {
    let bad = found.runs.iter().filter(|kept| !kept.run.outcome.is_well());
    for KeptRun { past, run } in bad.take(NAMED_MAX) {
        let session = ledger::short_name(past.directory());
        complain(&format!("{}: kiln show {session}/{}", run.case, run.case));
    }
}
