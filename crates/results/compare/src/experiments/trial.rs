//! Runs of an experiment on the Kernels that are compared: found once, and run with a seed each.

use std::path::Path;

use host::Conditions;
use judge::{Outcome, Run};
use lab::experiment::{ExperimentChoice, PreparedExperiment, Watching};
use lab::prepare::measure::Side;
use lab::prepare::{self, Context};
use lab::request::{ExperimentRequest, KernelRequest, MachineRequest, Version};
use ledger::{ExperimentResult, KeptRun, carry_out};
use measure::{NotMeasured, Progress, Ran, Subject};
use script::Metadata;

use super::sample::Sample;
use crate::environment::{Environment, Listener};
use crate::error::Error;
use crate::request::CompareRequest;

/// Runs on end that say nothing about a Kernel after which it gets no more of them.
const LOST_MAX: u32 = 3;

/// What all runs of the experiment have in common.
pub(super) struct Trial<'a, 'l> {
    pub(super) request: &'a CompareRequest,
    pub(super) choice: &'a ExperimentChoice,
    /// What the experiment says about itself.
    pub(super) about: &'a Metadata,
    pub(super) environment: &'a Environment<'a>,
    pub(super) listener: &'a Listener<'l>,
}

/// A Kernel on which the experiment runs.
pub(super) struct Tried {
    pub(super) subject: Subject,
    /// By the name by which the very same is found for each run.
    kernel: KernelRequest,
    machine: MachineRequest,
    runs: u32,
    /// The last so many runs said nothing, and why.
    lost: u32,
    pub(super) why: Option<NotMeasured>,
}

impl Trial<'_, '_> {
    /// Finds or builds all Kernels.
    pub(super) fn find_all(&self) -> Result<Vec<Tried>, Error> {
        self.request.sides.to_measure().into_iter().map(|side| self.find(side)).collect()
    }

    fn find(&self, Side { label, kernel, parameters, .. }: Side) -> Result<Tried, Error> {
        let found = self.environment.preparing(self.listener, |Context { backend, waiting }| {
            backend.kernel(&kernel, waiting).map_err(prepare::Error::from)
        })?;
        let mut machine = self.request.machine.clone();
        machine.append.extend(parameters);
        let parameters = machine.append.join(" ");
        let exact = found.exact_locator();
        let subject = Subject {
            label,
            locator: kernel.locator.to_string(),
            kernel: exact.clone(),
            provenance: found.provenance.clone(),
            release: found.release.clone().unwrap_or_default(),
            identity: found.identity(&parameters),
            parameters,
            machine: format!("those of the experiment {}", self.choice.name),
            size: found.size(),
            warnings: found.warnings,
        };
        let kernel = KernelRequest::named(exact.parse().map_err(prepare::Error::from)?);
        Ok(Tried { subject, kernel, machine, runs: 0, lost: 0, why: None })
    }

    /// Makes a run with this seed on the Kernel with this number, and keeps it below `root`.
    pub(super) fn run(
        &self,
        (side, tried): (usize, &Tried),
        seed: u64,
        root: &Path,
    ) -> Result<Sample, Error> {
        let (kernel, number) = (tried.subject.label.clone(), tried.runs + 1);
        self.listener.measuring(Progress::Boot { kernel, number, of: None });
        let watching = Conditions::watch();
        let request = ExperimentRequest {
            version: Version,
            folder: self.choice.folder.clone(),
            kernels: vec![tried.kernel.clone()],
            seed,
            mode: self.choice.mode,
            machine: tried.machine.clone(),
            // Clones would share a boot, and what is decided there.
            no_clones: true,
        };
        let kept = self.environment.preparing(self.listener, |context| {
            let prepared = PreparedExperiment::all(&request, context)?.into_iter().next();
            let watching = Watching { on_record: &mut |_| (), on_call: &|_| () };
            carry_out::<Error>(&prepared.ok_or(Error::Nothing)?, root, context, watching)
        })?;
        let KeptRun { result, .. } = kept.ok_or(Error::Interrupted)?;
        self.tell(&result, (&tried.subject.label, number));
        Ok(Sample::of(side, &result, self.about, watching.finish()))
    }

    fn tell(&self, result: &ExperimentResult, (label, number): (&str, u32)) {
        let Run { outcome, reason, seed, duration: took, .. } = &result.run;
        self.listener.measuring(match outcome {
            Outcome::Pass => {
                Progress::Booted { kernel: label.to_string(), took: *took, kept: false, unknown: Vec::new() }
            }
            outcome => {
                let (outcome, said) = (outcome.name(), reason.lines().next().unwrap_or_default());
                Progress::Note(format!("{label}: run {number} with seed {seed}: {outcome}: {said}"))
            }
        });
    }
}

impl Tried {
    /// Takes note of the next run; gives whether more of them would say nothing about the Kernel either.
    pub(super) fn is_over(&mut self, sample: &Sample) -> bool {
        self.runs += 1;
        if sample.is_answer() {
            self.lost = 0;
            return false;
        }
        self.lost += 1;
        let Ran { outcome, reason } = sample.ran.clone();
        self.why = Some(NotMeasured { outcome, reason });
        // What a Kernel lacks, it lacks each time.
        self.lost >= LOST_MAX || (outcome == Outcome::Skip && self.runs == 1)
    }
}
