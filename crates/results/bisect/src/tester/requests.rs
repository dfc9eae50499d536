//! The requests that make tests: whoever has doubts can type them.

use lab::Isolation;
use lab::experiment::ExperimentChoice;
use lab::request::{
    ExperimentRequest, FiguresRequest, KernelRequest, MachineRequest, MeasureRequest, RunPolicy, RunRequest,
    Selection, TimedRequest, Version,
};
use lab::suites::select::DEFAULT;

use crate::axis::Subject;
use crate::question::Question;
use crate::request::BisectRequest;

/// What runs where only the boot is of interest.
const TRIVIAL: &str = "process/exit-status";

/// The seed of the first run of an experiment.
pub(super) const FIRST_SEED: u64 = 1;

/// A run of a subject, `times` times.
pub(super) fn run(request: &BisectRequest, subject: &Subject, times: u32) -> RunRequest {
    let policy = match request.question {
        Question::Case(_) | Question::Program(_) | Question::Metric { .. } => {
            RunPolicy { repeat: Some(times), ..RunPolicy::default() }
        }
        // A clone does not boot.
        Question::Boot
        | Question::Log(_)
        | Question::Build
        | Question::Experiment(_)
        | Question::Recorded(_) => {
            RunPolicy { isolation: Isolation::Suite, no_retry: true, ..RunPolicy::default() }
        }
    };
    let trivial = || Selection::Suite { suite: DEFAULT.to_string(), patterns: vec![TRIVIAL.to_string()] };
    RunRequest {
        version: Version,
        kernel: build(subject),
        cases: request.cases.clone().unwrap_or_else(trivial),
        needs: Vec::new(),
        case_limit: request.case_limit,
        policy,
        machine: machine(request, subject),
        dump: false,
        trace: None,
        flight: false,
    }
}

/// A measurement of a subject, in so many boots.
pub(super) fn measure(request: &BisectRequest, subject: &Subject, boots: u32) -> MeasureRequest {
    let mut figures = FiguresRequest { boots: Some(boots), ..FiguresRequest::default() };
    if let Question::Metric { name, timed, .. } = &request.question {
        figures.operations.push(name.clone());
        figures.timed = timed.then(TimedRequest::default);
    }
    MeasureRequest {
        version: Version,
        kernel: build(subject),
        program: None,
        figures,
        machine: machine(request, subject),
    }
}

/// A run of an experiment on a subject, whose chance is drawn from this seed.
pub(super) fn experiment(
    request: &BisectRequest,
    choice: &ExperimentChoice,
    subject: &Subject,
    seed: u64,
) -> ExperimentRequest {
    ExperimentRequest {
        version: Version,
        folder: choice.folder.clone(),
        kernels: vec![build(subject)],
        seed,
        mode: choice.mode,
        machine: machine(request, subject),
        // Clones would share a boot, and what is decided there.
        no_clones: true,
    }
}

/// A build of a subject.
pub(super) fn build(subject: &Subject) -> KernelRequest {
    KernelRequest::of(subject.locator.clone(), &subject.recipe.clone().into())
}

/// The machine, with the parameters of the subject.
fn machine(request: &BisectRequest, subject: &Subject) -> MachineRequest {
    let mut machine = request.machine.clone();
    machine.append.extend((!subject.parameters.is_empty()).then(|| subject.parameters.clone()));
    machine
}
