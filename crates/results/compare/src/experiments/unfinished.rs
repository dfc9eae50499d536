//! The folder of a comparison that is not finished: the same command goes on in it after it was stopped.

use std::collections::VecDeque;
use std::path::PathBuf;

use kernel::PartsHash;
use lab::event::stamp;
use lab::experiment::ExperimentChoice;
use lab::request::TimedRequest;
use ledger::{Figures, Journal, REQUEST};

use super::sample::Sample;
use super::trial::Tried;
use crate::environment::Environment;
use crate::error::Error;
use crate::request::CompareRequest;

/// How the name of its folder begins.
const UNFINISHED: &str = ".unfinished-";

/// Digits of the rest of its name.
const NAME: usize = 16;

/// Where the runs are in it.
const RUNS: &str = "runs";

/// Samples that were made, and those that an earlier call has made.
pub(super) struct Unfinished {
    journal: Journal,
    earlier: VecDeque<Sample>,
    /// What the order of the runs is drawn from.
    pub(super) seed: u64,
}

impl Unfinished {
    /// Opens the folder of what is asked about these Kernels.
    pub(super) fn open(
        request: &CompareRequest,
        choice: &ExperimentChoice,
        tried: &[Tried],
        environment: &Environment<'_>,
    ) -> Result<Self, Error> {
        let folder = format!("{UNFINISHED}{}", name(request, choice, tried)?);
        let folder = environment.measurements.join(folder);
        let (journal, earlier) = Journal::open::<Sample>(&folder)?;
        let kept: Option<CompareRequest> = Figures::at(folder).read(REQUEST).ok();
        let seed_of = |request: &CompareRequest| request.figures.timed.as_ref().and_then(|timed| timed.seed);
        let seed = kept.as_ref().and_then(seed_of).or_else(|| seed_of(request));
        let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
        journal.keep(REQUEST, &with_seed(request.clone(), seed))?;
        Ok(Self { journal, earlier: earlier.into(), seed })
    }

    /// How many samples are there.
    pub(super) fn count(&self) -> usize {
        self.earlier.len()
    }

    /// Where runs are kept.
    pub(super) fn runs(&self) -> PathBuf {
        self.journal.directory().join(RUNS)
    }

    /// The sample of this turn, of a Kernel and with a seed: an earlier one, or else one that is made now.
    pub(super) fn next(
        &mut self,
        turn: (usize, u64),
        make: impl FnOnce() -> Result<Sample, Error>,
    ) -> Result<Sample, Error> {
        if let Some(sample) = self.earlier.pop_front().filter(|sample| (sample.side, sample.seed) == turn) {
            return Ok(sample);
        }
        let sample = make()?;
        self.journal.append(&sample)?;
        Ok(sample)
    }

    /// From now on it is a comparison like others, which nobody goes on with.
    pub(super) fn finish(self, environment: &Environment<'_>) -> Result<Figures, Error> {
        Ok(Figures::of(&self.journal, &environment.measurements, &stamp(jiff::Timestamp::now()))?)
    }
}

/// The same with a seed for the order of the runs.
fn with_seed(mut request: CompareRequest, seed: u64) -> CompareRequest {
    let timed = request.figures.timed.take().unwrap_or_default();
    request.figures.timed = Some(TimedRequest { seed: Some(seed), ..timed });
    request
}

/// What is equal here is the same comparison.
fn name(request: &CompareRequest, choice: &ExperimentChoice, tried: &[Tried]) -> Result<String, Error> {
    let mut hash = PartsHash::default();
    hash.part(env!("CARGO_PKG_VERSION"));
    hash.part(choice.identity()?);
    hash.part(format!("{request:?}"));
    for one in tried {
        hash.part(&one.subject.identity);
    }
    Ok(hash.finish()[..NAME].to_string())
}
