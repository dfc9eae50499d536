//! A Kernel beside itself: how precise timed figures of this host are.

use std::path::Path;
use std::time::Instant;

use lab::prepare::measure::candidates;
use ledger::Figures;
use measure::Candidate;
use verdict::{Against, Design, Noise};

use crate::environment::{Environment, Listener, Progress};
use crate::error::Error;
use crate::request::CalibrateRequest;
use crate::turns::{design, time};

/// The document of what comparisons of a kernel with itself gave on this host.
const NOISE: &str = "noise";

/// Comparisons of a kernel with itself, at least and at most.
const COMPARISONS_MIN: u32 = 2;
const COMPARISONS_MAX: u32 = 20;

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibrated {
    /// The Kernel, as the user named it.
    pub kernel: String,
    /// How often it was compared with itself.
    pub comparisons: usize,
    /// What that says about this host.
    pub noise: Noise,
}

/// Compares the Kernel with itself until the time is over, and keeps what that says about this host.
///
/// # Errors
///
/// When what was asked cannot be, or the Kernel cannot be measured.
pub fn calibrate(
    request: &CalibrateRequest,
    environment: &Environment<'_>,
    on_event: &mut dyn FnMut(Progress),
) -> Result<Calibrated, Error> {
    let figures = request.figures();
    figures.check()?;
    let listener = Listener::new(on_event);
    let found = environment.find(request.sides(), &request.machine, &listener)?;
    let candidates = candidates(&found, &figures, &request.machine)?;
    environment.check_place(&listener)?;
    let design = design(&figures, &request.timed);
    let all = comparisons(request, design, &candidates, (environment, &listener));
    let all = environment.unless_interrupted(all)?;
    let noise = Noise::of(&all, jiff::Timestamp::now()).ok_or(Error::Nothing)?;
    Figures::at(environment.measurements.clone()).keep(NOISE, &noise)?;
    Ok(Calibrated { kernel: request.kernel.locator.to_string(), comparisons: all.len(), noise })
}

/// What comparisons of a kernel with itself gave on this host, if that was tried.
pub(crate) fn noise(measurements: &Path) -> Option<Noise> {
    Figures::at(measurements.to_owned()).read(NOISE).ok()
}

fn comparisons(
    request: &CalibrateRequest,
    mut design: Design,
    candidates: &[Candidate<'_>],
    (environment, listener): (&Environment<'_>, &Listener<'_>),
) -> Result<Vec<Against>, Error> {
    let start = Instant::now();
    let budget = request.timed.budget();
    let mut all = Vec::new();
    for number in 1..=COMPARISONS_MAX {
        let (_, others) = time(candidates, (&design, budget), environment, listener)?;
        all.extend(others);
        let of_one_more = start.elapsed() / number * (number + 1);
        if number >= COMPARISONS_MIN && of_one_more > budget {
            break;
        }
        design = Design { seed: design.seed.wrapping_add(1), ..design };
    }
    Ok(all)
}
