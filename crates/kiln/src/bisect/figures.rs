//! A test that is a `kiln measure`.

use std::time::Instant;

use bisect::{Answer, Error, Evidence, Progress, Question, Tested};
use clap::Parser;
use kernel::Store;
use machine::Watch;
use measure::{Candidate, Counting, Failure, Function, Measurement, Metric, count, time};

use super::laboratory::{Laboratory, Ready, tested};
use super::words;
use crate::candidates::{self, Side};
use crate::cli::{Cli, Measure, Verb};

/// Functions of the kernel that are kept: those with most instructions.
const FUNCTIONS: usize = 300;

/// Measures the operation in so many boots, one after the other.
pub(crate) fn measure(
    laboratory: &Laboratory<'_>,
    ready: &Ready<'_>,
    boots: u32,
    heard: &mut dyn FnMut(Progress),
) -> Result<Tested, Error> {
    let start = Instant::now();
    let measured = said(laboratory, ready, boots).and_then(|said| measurement(laboratory, &said, heard));
    let command = laboratory.command(&ready.test.subject);
    let release = ready.kernel.release.clone();
    let evidence = Evidence { release, command, ..Evidence::default() };
    let measured = match measured {
        Ok(measured) => measured,
        Err(error) => {
            let why = untestable(&error).ok_or_else(|| super::error_of(error))?;
            return Ok(tested(Answer::CannotTest(why), evidence));
        }
    };
    let each = start.elapsed() / boots.max(1);
    let Question::Metric { name, .. } = laboratory.question else { return Err(no_metric()) };
    let Some(metric) = measured.metrics.iter().find(|metric| metric.name == *name) else {
        return Ok(tested(Answer::CannotTest(format!("it has no {name}")), evidence));
    };
    if let Some(not) = &metric.not_measured {
        let why = format!("{name}: {}: {}", not.outcome.name(), not.reason);
        return Ok(tested(Answer::CannotTest(why), evidence));
    }
    let values = metric.values.iter().map(|value| value.median).collect();
    let evidence = Evidence { functions: functions(metric), ..evidence };
    Ok(Tested { preparation: ready.took, each, ..tested(Answer::Values(values), evidence) })
}

fn no_metric() -> Error {
    Error::Broken("there is no metric to be measured".to_string())
}

fn said(laboratory: &Laboratory<'_>, ready: &Ready<'_>, boots: u32) -> anyhow::Result<Measure> {
    let (said, question, test) = (laboratory.said, laboratory.question, ready.test);
    let exact = ready.kernel.exact_locator().parse()?;
    let words = words::of_test(said, question, &test.subject, (Some(&exact), boots));
    let name = std::iter::once("kiln").chain(words.iter().map(String::as_str));
    match Cli::try_parse_from(name)?.verb {
        Verb::Measure(said) => Ok(said),
        _ => anyhow::bail!("a test is no measurement"),
    }
}

fn measurement(
    laboratory: &Laboratory<'_>,
    said: &Measure,
    heard: &mut dyn FnMut(Progress),
) -> anyhow::Result<Measurement> {
    let boots = said.figures.boots.unwrap_or(1);
    let side = Side {
        label: said.kernel.to_string(),
        locator: said.kernel.clone(),
        parameters: None,
        program: None,
    };
    let found = candidates::kernels(vec![side], &said.build, laboratory.interrupt)?;
    let candidates = candidates::all(&found, &said.figures, &said.machine)?;
    let mut tell = |progress: measure::Progress| {
        if let measure::Progress::Boot { number, .. } = progress {
            heard(Progress::Working(format!("boot {number}")));
        }
    };
    let measured = match said.figures.timed {
        true => timed(laboratory, &candidates, boots, &mut tell)?,
        false => {
            let how = Counting { boots, watch: Watch::Functions };
            let store = Store::new(Store::default_dir());
            count(&candidates, &store, how, laboratory.interrupt, &mut tell)?
        }
    };
    measured.into_iter().next().ok_or_else(|| anyhow::anyhow!("nothing was measured"))
}

fn timed(
    laboratory: &Laboratory<'_>,
    candidates: &[Candidate<'_>],
    boots: u32,
    tell: &mut dyn FnMut(measure::Progress),
) -> Result<Vec<Measurement>, Failure> {
    let boots = boots as usize;
    let mut next = |measured: &[Measurement]| (measured[0].boots.len() < boots).then_some(0);
    time(candidates, laboratory.interrupt, tell, &mut next)
}

/// Why this kernel cannot be measured, if that is why there are no figures.
fn untestable(error: &anyhow::Error) -> Option<String> {
    match error.downcast_ref::<Failure>()? {
        Failure::Boot { .. } | Failure::Silent { .. } => Some(error.to_string()),
        Failure::Machine(machine) if machine.is_usage() => Some(error.to_string()),
        Failure::Machine(_) | Failure::Interrupted => None,
    }
}

/// The functions in which most of the instructions are.
fn functions(metric: &Metric) -> Vec<Function> {
    let functions = metric.detail.iter().flat_map(|detail| &detail.functions);
    functions.take(FUNCTIONS).cloned().collect()
}
