//! An experiment on Kernels in turns: each run boots its machines, has a seed of its own, and is one sample.
//!
//! * `trial`: a run on a Kernel; `sample`: what it says
//! * `unfinished`: all samples, from which the same command goes on after it was stopped

mod sample;
mod trial;
mod unfinished;

use std::time::Duration;

use lab::experiment::ExperimentChoice;
use lab::request::TimedRequest;
use measure::{Kind, Measurement, Progress};
use script::{Metadata, Mode};
use verdict::{Comparison, Design, compare_recorded};

use crate::environment::{Environment, Kept, Listener};
use crate::error::Error;
use crate::request::{CompareRequest, WHOEVER};
use crate::turns::{Turns, design, note};
use sample::{explain, nothing};
use trial::{Trial, Tried};
use unfinished::Unfinished;

/// Runs on each Kernel for which there is time if the user does not say how much: they find a single change among many
/// metrics.
const USUAL_RUNS: u32 = 8;

/// Runs the experiment on all Kernels in turns, and compares what it records and how it ends.
pub(crate) fn compare(
    request: &CompareRequest,
    choice: &ExperimentChoice,
    environment: &Environment<'_>,
    listener: &Listener<'_>,
) -> Result<Kept, Error> {
    let about = choice.check(WHOEVER)?;
    environment.check_place(listener)?;
    let trial = Trial { request, choice, about: &about, environment, listener };
    let tried = environment.unless_interrupted(trial.find_all())?;
    let mut unfinished = Unfinished::open(request, choice, &tried, environment)?;
    match environment.unless_interrupted(take_turns(&trial, tried, &mut unfinished)) {
        Ok((comparison, measured)) => Ok((comparison, measured, unfinished.finish(environment)?)),
        Err(Error::Interrupted) => Err(Error::Stopped),
        Err(error) => Err(error),
    }
}

/// Makes runs until all is decided or the time is over.
fn take_turns(
    trial: &Trial<'_, '_>,
    mut tried: Vec<Tried>,
    unfinished: &mut Unfinished,
) -> Result<(Comparison, Vec<Measurement>), Error> {
    let Trial { request, about, listener, .. } = *trial;
    let mut measured: Vec<Measurement> = tried.iter().map(|one| nothing(&one.subject, about)).collect();
    let timed = request.figures.timed.clone().unwrap_or_default();
    let budget = timed.budget.unwrap_or_else(|| usual_budget(about, tried.len()));
    let timed = TimedRequest { seed: Some(unfinished.seed), ..timed };
    let design = design(&request.figures, &timed);
    if unfinished.count() > 0 {
        let text = format!("{} runs of an earlier call of this command count", unfinished.count());
        listener.measuring(Progress::Note(text));
    }
    let mut turns = Turns::new(tried.len(), (&design, budget), compare_recorded);
    let mut seed = request.figures.first_seed;
    while let Some(next) = turns.next(&measured, listener) {
        let runs = unfinished.runs();
        let sample = unfinished.next((next, seed), || trial.run((next, &tried[next]), seed, &runs))?;
        if tried[next].is_over(&sample) {
            turns.close(next);
        }
        sample.add_to(&mut measured[next]);
        seed = seed.saturating_add(1);
    }
    measured.iter_mut().zip(&tried).for_each(|(measured, tried)| explain(measured, tried.why.clone()));
    let others = turns.others(&measured);
    let base = measured.first().ok_or(Error::Nothing)?.subject.clone();
    let notes = notes(trial, &design, &measured);
    Ok((Comparison { kind: Kind::Recorded, base, others, noise: None, notes }, measured))
}

/// The time limit if the user does not say it.
fn usual_budget(about: &Metadata, kernels: usize) -> Duration {
    let runs = USUAL_RUNS.saturating_mul(u32::try_from(kernels).unwrap_or(u32::MAX));
    about.time.saturating_mul(runs).max(TimedRequest::USUAL_BUDGET)
}

fn notes(trial: &Trial<'_, '_>, design: &Design, measured: &[Measurement]) -> Vec<String> {
    let Trial { choice, about, .. } = *trial;
    let mode = if choice.mode == Mode::Short { ", in its short form" } else { "" };
    let about = format!("the experiment {}{mode}: {}", choice.name, about.question);
    [about, note(design)].into_iter().chain(same_kernel(measured)).collect()
}

/// What is to be said where a Kernel is compared with itself.
fn same_kernel(measured: &[Measurement]) -> Vec<String> {
    let Some((base, others)) = measured.split_first() else { return Vec::new() };
    let same = others.iter().filter(|new| new.subject.identity == base.subject.identity);
    same.map(|new| format!("{} is the same kernel as the base: differences are chance", new.subject.label))
        .collect()
}
