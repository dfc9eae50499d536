//! Records what a kernel does while one job is done, under the clock of instructions: the same job gives the same recording each time.

use std::sync::atomic::AtomicBool;

use kernel::Store;
use machine::TimeoutScale;
use transcode::Summary;

use crate::context::Context;
use crate::count::Candidate;
use crate::event::Progress;
use crate::exact::Counted;
use crate::recording::Recording;
use crate::table::SymbolTable;
use crate::{Failure, NotMeasured, Profiling};

/// What came of it.
#[derive(Debug)]
pub struct Recorded {
    /// What is known of the trace.
    pub summary: Summary,
    /// How the job ended.
    pub ended: Result<(), NotMeasured>,
    /// Worth knowing, a line each.
    pub notes: Vec<String>,
}

/// Records the only job of a candidate, on its first boot.
///
/// # Errors
///
/// When it cannot be recorded, or `interrupt` is set.
pub fn record(
    candidate: &Candidate<'_>,
    recording: Recording<'_>,
    store: &Store,
    interrupt: &AtomicBool,
    emit: &dyn Fn(Progress),
) -> Result<Recorded, Failure> {
    let Candidate { subject, kernel, spec, jobs, first_seed } = candidate;
    let (label, table) = (&subject.label, &SymbolTable::default());
    let (boots, first_seed, recording) = (1, *first_seed, Some(recording));
    let counted = Counted { label, kernel, spec, jobs, store, table, boots, first_seed, recording };
    let context = Context { timeouts: TimeoutScale::new(spec.engine), interrupt, emit };
    let take = counted.boot(0, Profiling::Events, &context)?;
    let ended = take.jobs.into_iter().next().flatten().map(|result| result.map(drop));
    let silent = |why| Failure::Silent { kernel: label.clone(), why };
    let summary =
        take.recorded.map(|summary| *summary).ok_or_else(|| silent("nothing was recorded".to_owned()))?;
    match (ended, &summary.refused) {
        (Some(ended), _) => Ok(Recorded { summary, ended, notes: take.notes }),
        // It was not even begun.
        (None, Some(_)) => Ok(Recorded { summary, ended: Ok(()), notes: Vec::new() }),
        (None, None) => Err(silent(take.notes.join("; "))),
    }
}
