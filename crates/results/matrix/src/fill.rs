//! Runs what the ledger has not: on this host, or on the nodes of a cluster.

use std::sync::atomic::Ordering;

use ledger::{Durations, Hold, Ledger, Place, Progress, run_session};
use slurm::{Carried, Resources, Wanted};

use crate::error::Error;
use crate::grid::Grid;
use crate::request::MatrixRequest;
use crate::survey::{Missing, Runner, Survey};

/// A matrix that was filled.
#[derive(Debug)]
pub struct Filled {
    /// A grid for each selection.
    pub grids: Vec<Grid>,
    /// Sessions that could not be run.
    pub failed: usize,
    /// Sessions in which something else than the kernel or a case broke a Run: the next call runs them again.
    pub incomplete: usize,
}

/// Runs the sessions of a matrix that the ledger has not: with the same kernel, parameters, machine and content. A session that cannot be
/// run is a note, so that the others are.
///
/// # Errors
///
/// When no session can be run, when nothing can be kept, and when the user wants to stop.
pub fn fill(
    request: &MatrixRequest,
    place: Place<'_>,
    emit: &mut dyn FnMut(Progress),
) -> Result<Filled, Error> {
    let mut survey = Survey::new(request, place, emit)?;
    let mut here = Here { place, hold: Hold::new(place.sessions)?, incomplete: 0 };
    survey.run(&mut here, emit)?;
    Ok(Filled { failed: survey.failed, incomplete: here.incomplete, grids: survey.grids()? })
}

/// The same of several matrices, with all missing sessions as one array of jobs of Slurm's.
///
/// # Errors
///
/// As for [`fill`], and when Slurm refuses or is gone; where the user wants to stop, the jobs go on.
pub fn fill_on_slurm(
    requests: &[MatrixRequest],
    place: Place<'_>,
    emit: &mut dyn FnMut(Progress),
) -> Result<Filled, Error> {
    let mut later = Later { durations: Durations::load(place.sessions), wanted: Vec::new() };
    let mut surveys = Vec::new();
    for request in requests {
        let mut survey = Survey::new(request, place, emit)?;
        survey.run(&mut later, emit)?;
        surveys.push(survey);
    }
    let Carried { failed, incomplete } = slurm::carry_out(later.wanted, place, emit)?;
    let mut filled = Filled { grids: Vec::new(), failed, incomplete };
    for survey in surveys {
        filled.failed += survey.failed;
        filled.grids.extend(survey.grids()?);
    }
    Ok(filled)
}

/// Runs each session at once.
struct Here<'a> {
    place: Place<'a>,
    hold: Hold,
    incomplete: usize,
}

impl Runner for Here<'_> {
    fn take(
        &mut self,
        missing: Missing<'_>,
        ledger: &mut Ledger,
        emit: &mut dyn FnMut(Progress),
    ) -> Result<(), Error> {
        let Missing { prepared, session, key, about } = missing;
        let kept = run_session::<Error>(&prepared, self.place, &self.hold, emit)?;
        if self.place.interrupt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        ledger.refresh()?;
        self.incomplete += usize::from(!ledger.has(key, &session.cases)?);
        let bad = kept.runs.iter().filter(|run| !run.outcome.is_well()).count();
        emit(Progress::Known(format!("{about}: {} of {} well", kept.runs.len() - bad, kept.runs.len())));
        Ok(())
    }
}

/// Remembers what a cluster is asked.
struct Later {
    durations: Durations,
    wanted: Vec<Wanted>,
}

impl Runner for Later {
    fn take(
        &mut self,
        missing: Missing<'_>,
        _: &mut Ledger,
        _: &mut dyn FnMut(Progress),
    ) -> Result<(), Error> {
        let Missing { prepared, session, key, about } = missing;
        let resources = Resources::of(&prepared, &self.durations);
        let mut request = prepared.request;
        // A node may have more CPUs than the job has asked for.
        request.policy.jobs.get_or_insert(1);
        self.wanted.push(Wanted { about: about.to_owned(), request, session, key: key.clone(), resources });
        Ok(())
    }
}
