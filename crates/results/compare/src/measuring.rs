//! What a Kernel costs.

use std::time::Instant;

use lab::prepare::measure::{Side, candidates};
use lab::request::{MeasureRequest, TimedRequest};
use ledger::{Figures, MEASUREMENT};
use measure::{Candidate, Job, Measurement, Profiling};

use crate::environment::{Environment, Listener, Progress};
use crate::error::Error;

/// Boots of a Kernel whose figures are timed, unless somebody wants more.
const TIMED_BOOTS: u32 = 5;

/// What came of a measurement.
#[derive(Debug)]
pub struct Measured {
    /// The figures.
    pub measurement: Measurement,
    /// There is a figure of an operation, or of the program.
    pub is_measured: bool,
    /// Where they are kept, with the request.
    pub kept: Figures,
}

/// Measures a Kernel and keeps its figures.
///
/// # Errors
///
/// When what was asked cannot be, or the Kernel cannot be measured.
pub fn measure(
    request: &MeasureRequest,
    environment: &Environment<'_>,
    on_event: &mut dyn FnMut(Progress),
) -> Result<Measured, Error> {
    request.figures.check()?;
    let listener = Listener::new(on_event);
    let found = environment.find(vec![Side::of(request)], &request.machine, &listener)?;
    let candidates = candidates(&found, &request.figures, &request.machine)?;
    environment.check_place(&listener)?;
    let measured = match &request.figures.timed {
        Some(timed) => time(request, timed, &candidates, (environment, &listener)),
        None => {
            let boots = request.figures.counted_boots();
            let counted = environment.count(&candidates, boots, Profiling::Functions, &listener);
            counted.map_err(Error::from)
        }
    };
    let measured = environment.unless_interrupted(measured)?;
    let measurement = measured.into_iter().next().ok_or(Error::Nothing)?;
    let kept = environment.keep(request)?;
    kept.keep(MEASUREMENT, &measurement)?;
    let is_measured = candidates.iter().flat_map(|one| &one.jobs).any(|job| has_values(&measurement, job));
    Ok(Measured { measurement, is_measured, kept })
}

fn has_values(measurement: &Measurement, job: &Job) -> bool {
    measurement.metrics.iter().any(|metric| metric.name == job.name && !metric.values.is_empty())
}

fn time(
    request: &MeasureRequest,
    timed: &TimedRequest,
    candidates: &[Candidate<'_>],
    (environment, listener): (&Environment<'_>, &Listener<'_>),
) -> Result<Vec<Measurement>, Error> {
    let start = Instant::now();
    let boots = request.figures.boots.unwrap_or(TIMED_BOOTS) as usize;
    let made = |measured: &[Measurement]| measured.first().map_or(0, |one| one.boots.len());
    let mut next = |measured: &[Measurement]| {
        let is_enough = made(measured) >= boots || start.elapsed() >= timed.budget();
        (!is_enough).then_some(0)
    };
    Ok(environment.time(candidates, listener, &mut next)?)
}
