//! A test that measures.

use std::time::Instant;

use lab::prepare::measure::{Side, candidates, find};
use lab::request::{KernelRequest, MeasureRequest};
use measure::{Counting, Function, Measurement, Metric, Profiling};

use super::context::{Context, Ready};
use super::failure::Failure;
use super::shares::Part;
use super::{Tested, parameters, requests};
use crate::answer::Answer;
use crate::bisection::Evidence;
use crate::error::Error;
use crate::event::Progress;
use crate::question::Question;

/// Functions of the kernel that are kept: those with most instructions.
const FUNCTIONS: usize = 300;

/// Measures the operation in the boots of a part of the test, one after the other.
pub(super) fn measure(
    context: &Context<'_>,
    ready: &Ready<'_>,
    part: Part,
    emit: &mut dyn FnMut(Progress),
) -> Result<Tested, Error> {
    let start = Instant::now();
    let command = context.command(&ready.test.subject);
    let release = ready.kernel.release.clone();
    let evidence = Evidence { release, command, ..Evidence::default() };
    let (measured, unknown) = match measurement(context, ready, part, emit) {
        Ok((measured, unknown)) => (measured, unknown),
        Err(Failure::OfKernel(why)) => return Ok(Tested::at_once(Answer::CannotTest(why), evidence)),
        Err(Failure::Of(error)) => return Err(error),
    };
    parameters::refuse(context.request, &ready.test.subject, &unknown)?;
    let each = start.elapsed() / part.times.max(1);
    let Question::Metric { name, .. } = &context.request.question else {
        return Err(Error::Broken("there is no metric to be measured".to_string()));
    };
    let Some(metric) = measured.metrics.iter().find(|metric| metric.name == *name) else {
        return Ok(Tested::at_once(Answer::CannotTest(format!("it has no {name}")), evidence));
    };
    if let Some(not) = &metric.not_measured {
        let why = format!("{name}: {}: {}", not.outcome.name(), not.reason);
        return Ok(Tested::at_once(Answer::CannotTest(why), evidence));
    }
    let values = metric.values.iter().map(|value| value.median).collect();
    let evidence = Evidence { functions: functions(metric), ..evidence };
    Ok(Tested { preparation: ready.took, each, unknown, ..Tested::at_once(Answer::Values(values), evidence) })
}

/// What was measured, and parameters that the kernel does not know.
fn measurement(
    context: &Context<'_>,
    ready: &Ready<'_>,
    part: Part,
    emit: &mut dyn FnMut(Progress),
) -> Result<(Measurement, Vec<String>), Failure> {
    let exact = ready.kernel.exact_locator().parse().map_err(Error::from)?;
    let kernel = KernelRequest::named(exact);
    let mut request =
        MeasureRequest { kernel, ..requests::measure(context.request, &ready.test.subject, part.times) };
    let before = u64::from(ready.test.boot) + u64::from(part.before);
    request.figures.first_seed = request.figures.first_seed.saturating_add(before);
    let sides = vec![Side::of(&request)];
    let found =
        context.preparing(emit, |context| find(sides, &request.machine, context)).map_err(Error::from)?;
    let candidates = candidates(&found, &request.figures, &request.machine).map_err(Error::from)?;
    let mut unknown = Vec::new();
    let mut progress = |progress: measure::Progress| match progress {
        measure::Progress::Boot { number, .. } => emit(Progress::Working(format!("boot {number}"))),
        measure::Progress::Booted { unknown: names, .. } => unknown.extend(names),
        measure::Progress::Measuring { .. } | measure::Progress::Look { .. } | measure::Progress::Note(_) => {
        }
    };
    let (backend, interrupt) = (context.environment.backend, context.environment.interrupt);
    let measured = if request.figures.timed.is_some() {
        let boots = part.times as usize;
        let mut next = |measured: &[Measurement]| (measured[0].boots.len() < boots).then_some(0);
        backend.time(&candidates, interrupt, &mut progress, &mut next)?
    } else {
        let how = Counting { boots: part.times, profiling: Profiling::Functions };
        backend.count(&candidates, how, interrupt, &mut progress)?
    };
    let nothing = || Error::Broken("nothing was measured".to_string());
    Ok((measured.into_iter().next().ok_or_else(nothing)?, unknown))
}

/// The functions in which most of the instructions are.
fn functions(metric: &Metric) -> Vec<Function> {
    let functions = metric.detail.iter().flat_map(|detail| &detail.functions);
    functions.take(FUNCTIONS).cloned().collect()
}
