//! Runs what the ledger has not: on this host, or on the nodes of a cluster.

use std::sync::atomic::Ordering;

use ledger::{Durations, Hold, Ledger, Place, Progress, run_session};
use slurm::{Carried, Counts, Resources, Wanted};

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

/// Runs the sessions of matrices that the ledger has not: with the same kernel, parameters, machine and content. A session that cannot be
/// run is a note, so that the others are.
///
/// # Errors
///
/// When no session of a matrix can be run, when nothing can be kept, and when the user wants to stop.
pub fn fill(
    requests: &[MatrixRequest],
    place: Place<'_>,
    emit: &mut dyn FnMut(Progress),
) -> Result<Filled, Error> {
    let mut here = Here { place, hold: Hold::new(place.sessions)?, incomplete: 0 };
    let surveys = surveyed(requests, place, &mut here, emit)?;
    filled(surveys, Carried { failed: 0, incomplete: here.incomplete })
}

/// The same with all missing sessions as one array of jobs of Slurm's.
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
    let surveys = surveyed(requests, place, &mut later, emit)?;
    filled(surveys, slurm::carry_out(later.wanted, place, emit)?)
}

/// Hands what is missing of each matrix to a runner.
fn surveyed<'a>(
    requests: &'a [MatrixRequest],
    place: Place<'a>,
    runner: &mut dyn Runner,
    emit: &mut dyn FnMut(Progress),
) -> Result<Vec<Survey<'a>>, Error> {
    let mut surveys = Vec::new();
    for request in requests {
        let mut survey = Survey::new(request, place, emit)?;
        survey.run(runner, emit)?;
        surveys.push(survey);
    }
    Ok(surveys)
}

fn filled(surveys: Vec<Survey<'_>>, Carried { failed, incomplete }: Carried) -> Result<Filled, Error> {
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
        emit(Progress::ended(about, &kept.runs));
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
        let resources = Resources::of(&prepared, &prepared.request.policy, &self.durations);
        let request = prepared.request;
        let (about, key) = (about.to_owned(), key.clone());
        self.wanted.push(Wanted { about, request, session, key, counts: Counts::Cases, resources });
        Ok(())
    }
}
