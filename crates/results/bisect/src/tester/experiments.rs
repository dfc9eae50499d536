//! A test that runs an experiment: each run boots its machines, has a seed of its own, and is kept beside the answers.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Instant;

use judge::{Outcome, Run};
use lab::experiment::{ExperimentChoice, PreparedExperiment, Watching};
use lab::request::{ExperimentRequest, KernelRequest};
use ledger::{ExperimentResult, KeptRun, carry_out, kept_runs};
use measure::quantile::median;

use super::context::{Context, Ready};
use super::failure::Failure;
use super::requests::FIRST_SEED;
use super::runs::Runs;
use super::shares::{Part, Tell};
use super::tally::{small, trouble};
use super::{Tested, requests};
use crate::answer::Answer;
use crate::bisection::Evidence;
use crate::error::Error;
use crate::event::Progress;

/// Where the runs are in the folder of a bisection.
const RUNS: &str = "runs";

/// An experiment on the Kernel of a test.
#[derive(Clone, Copy)]
pub(super) struct Trial<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) ready: &'a Ready<'a>,
    pub(super) choice: &'a ExperimentChoice,
    /// Which runs count.
    pub(super) which: &'a Runs,
}

/// A run that was made.
struct Made {
    result: ExperimentResult,
    /// The name of the folder where it is kept; the next run goes on with one that broke.
    folder: Option<String>,
    /// By the search before it was stopped.
    is_earlier: bool,
}

/// Forgets all runs of a bisection.
///
/// # Errors
///
/// When the host refuses.
pub(crate) fn forget(directory: &Path) -> Result<(), Error> {
    let path = directory.join(RUNS);
    match std::fs::remove_dir_all(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Error::Broken(format!("{}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

/// Why a run says nothing about a metric.
fn no_figure(metric: &str, run: &Run) -> String {
    match run.outcome {
        Outcome::Pass => format!("it recorded no {metric}"),
        Outcome::Skip => format!("it is skipped: {}", run.reason),
        outcome => format!("it recorded no {metric}: {}: {}", outcome.name(), run.reason),
    }
}

impl Trial<'_> {
    /// Makes a part of the runs of the test, one after the other.
    pub(super) fn runs(self, part: Part, tell: &Tell<'_>) -> Result<Tested, Error> {
        let mut tally = self.which.tally(&self.context.request.question);
        let (start, first) = (Instant::now(), self.ready.test.boot.saturating_add(part.before));
        let mut runs = Vec::new();
        for number in first..first.saturating_add(part.times) {
            match self.run(number, tell) {
                Ok(Made { result, folder, is_earlier }) => {
                    tally.take(small(&result.run));
                    tally.reused += u32::from(is_earlier);
                    runs.extend(folder);
                }
                Err(Failure::OfKernel(why)) => {
                    let evidence = self.evidence(Evidence { runs, ..Evidence::default() });
                    return Ok(Tested::at_once(Answer::CannotTest(why), evidence));
                }
                Err(Failure::Of(error)) => return Err(error),
            }
            if tally.is_over() {
                break;
            }
        }
        tally.broken()?;
        let reused = tally.reused;
        let each = start.elapsed() / tally.runs().saturating_sub(reused).max(1);
        let (answer, others, seen) = tally.answer();
        let evidence = self.evidence(Evidence { runs, ..seen });
        let preparation = self.ready.took;
        Ok(Tested { others, reused, preparation, each, ..Tested::at_once(answer, evidence) })
    }

    /// Makes a part of the runs of the test and takes the median of what each of them records of a metric.
    pub(super) fn figures(self, metric: &str, part: Part, tell: &Tell<'_>) -> Result<Tested, Error> {
        let (start, first) = (Instant::now(), self.ready.test.boot.saturating_add(part.before));
        let (mut runs, mut values, mut reused) = (Vec::new(), Vec::new(), 0);
        let mut untestable = None;
        for number in first..first.saturating_add(part.times) {
            let made = match self.run(number, tell) {
                Ok(made) => made,
                Err(Failure::OfKernel(why)) => {
                    untestable = Some(why);
                    break;
                }
                Err(Failure::Of(error)) => return Err(error),
            };
            if let Some(why) = trouble(&made.result.run) {
                return Err(Error::Broken(why));
            }
            runs.extend(made.folder);
            reused += u32::from(made.is_earlier);
            match median(&made.result.values(metric)) {
                Some(value) => values.push(value),
                None => {
                    untestable = Some(no_figure(metric, &made.result.run));
                    break;
                }
            }
        }
        let each = start.elapsed() / part.times.saturating_sub(reused).max(1);
        let answer = untestable.map_or(Answer::Values(values), Answer::CannotTest);
        let evidence = self.evidence(Evidence { runs, ..Evidence::default() });
        let preparation = self.ready.took;
        Ok(Tested { reused, preparation, each, ..Tested::at_once(answer, evidence) })
    }

    /// What was seen, with the command that makes the Run once more that stands for all.
    fn evidence(self, seen: Evidence) -> Evidence {
        let seed = seen.run.as_ref().map_or(FIRST_SEED, |run| run.seed);
        let command = self.context.command_with(&self.ready.test.subject, seed);
        Evidence { release: self.ready.kernel.release.clone(), command, ..seen }
    }

    /// The run of this number: one that an interrupted search has made, or from where it left it.
    fn run(self, number: u32, tell: &Tell<'_>) -> Result<Made, Failure> {
        let Self { context, which, .. } = self;
        let prepared = self.prepared(number, tell)?;
        let (root, name, identity) = (context.directory.join(RUNS), prepared.name(), prepared.identity());
        let mut earlier = kept_runs(&root, &name, &identity);
        if let Some((folder, result)) = earlier.find(|(folder, _)| !which.is_counted(folder)) {
            return Ok(Made { result, folder: Some(folder), is_earlier: true });
        }
        let on_call = |text: &str| tell(Progress::Working(text.to_string()));
        let watching = Watching { on_record: &mut |_| (), on_call: &on_call };
        let kept = context.preparing(&mut |progress| tell(progress), |context| {
            carry_out::<Failure>(&prepared, &root, context, watching)
        })?;
        let Some(KeptRun { result, folder }) = kept else { return Err(Error::Interrupted.into()) };
        Ok(Made { result, folder, is_earlier: false })
    }

    fn prepared(self, number: u32, tell: &Tell<'_>) -> Result<PreparedExperiment, Failure> {
        let Self { context, ready, choice, .. } = self;
        let seed = FIRST_SEED.saturating_add(number.into());
        let exact = ready.kernel.exact_locator().parse().map_err(Error::from)?;
        let request = ExperimentRequest {
            kernels: vec![KernelRequest::named(exact)],
            ..requests::experiment(context.request, choice, &ready.test.subject, seed)
        };
        let runs = context.preparing(&mut |progress| tell(progress), |context| {
            PreparedExperiment::all(&request, context)
        })?;
        runs.into_iter().next().ok_or_else(|| Error::Broken("an experiment has no run".to_string()).into())
    }
}
