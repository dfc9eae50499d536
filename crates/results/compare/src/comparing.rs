//! Kernels beside each other.

use lab::prepare::measure::candidates;
use lab::request::TimedRequest;
use ledger::{COMPARISON, Figures, side};
use measure::{Candidate, Kind, Measurement, Profiling};
use verdict::{Against, Comparison, compare_exact, explain};

use crate::calibrating::noise;
use crate::conclusion::Conclusion;
use crate::earlier::Earlier;
use crate::environment::{Environment, Kept, Listener, Progress};
use crate::error::Error;
use crate::experiments;
use crate::in_boots::{InBoots, same_kernel};
use crate::request::CompareRequest;
use crate::turns::{design, note, time};

/// What came of a comparison.
#[derive(Debug)]
pub struct Compared {
    /// The verdicts.
    pub comparison: Comparison,
    /// What they come to.
    pub conclusion: Conclusion,
    /// Where they are kept, with the request and all figures.
    pub kept: Figures,
}

/// Measures what is to be measured, compares it with the base, and keeps that.
///
/// # Errors
///
/// When what was asked cannot be, or a Kernel cannot be measured.
pub fn compare(
    request: &CompareRequest,
    environment: &Environment<'_>,
    on_event: &mut dyn FnMut(Progress),
) -> Result<Compared, Error> {
    request.check()?;
    let listener = Listener::new(on_event);
    let (mut comparison, measured, kept) = match &request.experiment {
        Some(choice) => experiments::compare(request, choice, environment, &listener)?,
        None => compare_figures(request, environment, &listener)?,
    };
    for one in &measured {
        let named = |note: &String| format!("{}: {note}", one.subject.label);
        comparison.notes.extend(one.notes.iter().map(named));
    }
    keep(&comparison, measured, &kept)?;
    let boot_counts = request.figures.operations.is_empty();
    let conclusion = Conclusion::of(&comparison, request.allowed, boot_counts);
    Ok(Compared { comparison, conclusion, kept })
}

/// Compares what operations or programs cost.
fn compare_figures(
    request: &CompareRequest,
    environment: &Environment<'_>,
    listener: &Listener<'_>,
) -> Result<Kept, Error> {
    let mut earlier = Earlier::read(request, &environment.measurements)?;
    let found = environment.find(request.sides.to_measure(), &request.machine, listener)?;
    let mut candidates = candidates(&found, &request.figures, &request.machine)?;
    earlier.name_programs(&mut candidates);
    earlier.check(&candidates, environment.backend)?;
    earlier.leave_seeds(&mut candidates);
    environment.check_place(listener)?;
    let sides = Sides { request, environment, candidates: &candidates };
    let compared = match &request.figures.timed {
        Some(timed) => sides.in_turns(timed, listener),
        None => sides.counted(&earlier, listener),
    };
    // What was interrupted is not kept.
    let (comparison, measured) = environment.unless_interrupted(compared)?;
    Ok((comparison, measured, environment.keep(request)?))
}

/// What is measured to be compared.
struct Sides<'a> {
    request: &'a CompareRequest,
    environment: &'a Environment<'a>,
    candidates: &'a [Candidate<'a>],
}

impl Sides<'_> {
    /// Times all of them, one boot after the other.
    fn in_turns(
        &self,
        timed: &TimedRequest,
        listener: &Listener<'_>,
    ) -> Result<(Comparison, Vec<Measurement>), Error> {
        let design = design(&self.request.figures, timed);
        let (measured, others) =
            time(self.candidates, (&design, timed.budget()), self.environment, listener)?;
        let noise = noise(&self.environment.measurements);
        let notes = vec![note(&design)];
        let base = measured.first().ok_or(Error::Nothing)?.subject.clone();
        Ok((Comparison { kind: Kind::Timed, base, others, noise, notes }, measured))
    }

    /// Counts the instructions of those whose figures are not there yet.
    fn counted(
        &self,
        earlier: &Earlier,
        listener: &Listener<'_>,
    ) -> Result<(Comparison, Vec<Measurement>), Error> {
        let Self { request, environment, candidates } = *self;
        let profiling = if request.why { Profiling::Stacks } else { Profiling::Functions };
        let counted = InBoots { request, environment, candidates, profiling };
        let measured = counted.measure(earlier, listener)?;
        let notes = same_kernel(request, &measured);
        let (base, others) = measured.split_first().ok_or(Error::Nothing)?;
        let others = others.iter().map(|new| self.exactly(base, new)).collect();
        let (kind, base) = (Kind::Exact, base.subject.clone());
        Ok((Comparison { kind, base, others, noise: None, notes }, measured))
    }

    fn exactly(&self, base: &Measurement, new: &Measurement) -> Against {
        let mut against = compare_exact(base, new);
        if self.request.why {
            explain(&mut against, base, new);
        }
        against
    }
}

/// Keeps the verdicts and all figures beside the request.
fn keep(comparison: &Comparison, measured: Vec<Measurement>, kept: &Figures) -> Result<(), Error> {
    kept.keep(COMPARISON, comparison)?;
    for (number, one) in measured.into_iter().enumerate() {
        // The comparison has those of what differs; all of them are ten times as long as the rest.
        kept.keep(&side(number), &one.without_stacks())?;
    }
    Ok(())
}
