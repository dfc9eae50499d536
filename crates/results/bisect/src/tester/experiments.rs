//! A test that runs an experiment: each run boots its machines, has a seed of its own, and is kept beside the answers.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Instant;

use judge::Run;
use lab::experiment::{PreparedExperiment, Watching};
use lab::request::{ExperimentRequest, KernelRequest};
use ledger::{ExperimentFolder, ExperimentResult, kept_runs};

use super::context::{Context, Ready};
use super::failure::Failure;
use super::requests::FIRST_SEED;
use super::runs::Runs;
use super::shares::{Part, Tell};
use super::tally::small;
use super::{Tested, requests};
use crate::answer::Answer;
use crate::bisection::Evidence;
use crate::error::Error;
use crate::event::Progress;
use crate::experiment::ExperimentChoice;

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
    run: Run,
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

impl Trial<'_> {
    /// Makes a part of the runs of the test, one after the other.
    pub(super) fn runs(self, part: Part, tell: &Tell<'_>) -> Result<Tested, Error> {
        let mut tally = self.which.tally(&self.context.request.question);
        let (start, first) = (Instant::now(), self.ready.test.boot.saturating_add(part.before));
        let mut runs = Vec::new();
        for number in first..first.saturating_add(part.times) {
            match self.run(number, tell) {
                Ok(Made { run, folder, is_earlier }) => {
                    tally.take(small(&run));
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
            return Ok(Made { run: result.run, folder: Some(folder), is_earlier: true });
        }
        let failed = |error: std::io::Error| Error::Broken(format!("{}: {error}", root.display()));
        let kept = ExperimentFolder::open(&root, &name, &identity).map_err(failed)?;
        let on_call = |text: &str| tell(Progress::Working(text.to_string()));
        let watching = Watching { on_record: &mut |_| (), on_call: &on_call };
        let carried = context.preparing(&mut |progress| tell(progress), |context| {
            prepared.run(context, (&kept.journal(), kept.path()), watching)
        })?;
        if context.is_interrupted() {
            return Err(Error::Interrupted.into());
        }
        let is_final = carried.verdict.is_final();
        let result = ExperimentResult::new(&prepared, carried);
        let path = kept.keep(&result, is_final).map_err(failed)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Made { run: result.run, folder: is_final.then_some(name), is_earlier: false })
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
